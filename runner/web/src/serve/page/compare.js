// Several runs in the same charts.
import { at, encoded, listen, make, patch } from "./common.js";
import { comparedPaths } from "./compared.js";
import { Report } from "./report.js";

const paths = comparedPaths();
const query = new URLSearchParams(paths.map((path) => ["run", path]));
const report = new Report(`/api/compare?${query}&of=`);
const link = (path) => make("a", { text: path, href: `/run/${encoded(path)}` });

document.title = `${paths.join(", ")} · dc0`;
patch(at("runs"), paths.flatMap((path, index) => [index ? ", " : "", link(path)]).filter(Boolean));

listen(`/api/events?${query}`, { charts: (version) => report.show(version) });
