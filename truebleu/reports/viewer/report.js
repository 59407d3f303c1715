// Entry point of a report: loads its data and shows it.
import {ReportData, readPage} from "./report_data.js";
import {showFailure, openReport} from "./main.js";

(async () => {
  const { manifest, read } = readPage();
  if (!("DecompressionStream" in window)) throw new Error("this browser is too old: it does not support DecompressionStream");
  // The static summary is visible until the data is loaded.
  const data = new ReportData(manifest, read);
  await data.load();
  openReport(data);
})().catch(showFailure);
