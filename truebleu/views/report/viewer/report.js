// The start of a report: what this file holds, shown.
import {Data} from "./data.js";
import {failed, opened} from "./main.js";

(async () => {
  const data = Data.ofPage();
  if (!data.manifest) throw new Error("the page has no data");
  if (!("DecompressionStream" in window)) throw new Error("this browser is too old to unpack it");
  // Until the kernel has counted, the summary is there to be read.
  await data.load();
  opened(data);
})().catch(failed);
