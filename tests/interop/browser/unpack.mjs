// Unpacks the browser that the package brings along into the folder of temporary files, and says where it is.
import chromium from "@sparticuz/chromium";

console.log(await chromium.executablePath());
