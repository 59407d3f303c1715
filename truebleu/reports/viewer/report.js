// The start of a report: what this file holds, shown.
import {Data, ofPage} from "./report_data.js";
import {failed, opened} from "./main.js";

(async () => {
  const { manifest, read } = ofPage();
  if (!("DecompressionStream" in window)) throw new Error("this browser is too old to unpack it");
  // Until the kernel has counted, the summary is there to be read.
  const data = new Data(manifest, read);
  await data.load();
  opened(data);
})().catch(failed);
