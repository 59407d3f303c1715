// The start of a report: what this file holds, shown.
import {ReportData, readPage} from "./report_data.js";
import {showFailure, openReport} from "./main.js";

(async () => {
  const { manifest, read } = readPage();
  if (!("DecompressionStream" in window)) throw new Error("this browser is too old to unpack it");
  // Until the kernel has counted, the summary is there to be read.
  const data = new ReportData(manifest, read);
  await data.load();
  openReport(data);
})().catch(showFailure);
