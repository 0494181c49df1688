// Opens a report in a browser, uses its controls, and prints what it observed as one line of JSON.
//     node report.mjs CHROMIUM FILE.html [PREFIX for screenshots]
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [executablePath, file, prefix] = process.argv.slice(2);
const puppeteer = createRequire(process.env.DC0_BROWSER + "/package.json")("puppeteer-core");

const args = ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"];
const browser = await puppeteer.launch({ executablePath, headless: "shell", args });
const problems = [];
const requests = [];

async function open(width, height, scheme, hasScripts = true) {
  const page = await browser.newPage();
  await page.setJavaScriptEnabled(hasScripts);
  page.on("console", (message) => problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => requests.push(request.url().slice(0, 200)));
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.setViewport({ width, height });
  await page.goto(pathToFileURL(file).href);
  return page;
}

const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const text = (page, id) => page.$eval(id, (element) => element.textContent);
const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
const visible = (page, what) =>
  page.$$eval(what, (all) => all.filter((one) => one.getBoundingClientRect().width > 0).length);
const screenshot = async (page, name) => { if (prefix) await page.screenshot({ path: `${prefix}-${name}.png` }); };

// Zeros are left out of logarithmic axes. The module is read as text, since Node.js may take a file .js for another kind of module.
const ranges = readFileSync(new URL("../../../analysis/src/web/chart/ranges.js", import.meta.url), "utf8");
const { drawn } = await import(`data:text/javascript,${encodeURIComponent(ranges)}`);
const left = (x, y) => drawn([0, null, 3, 4], [1, 2, 0, 4], { x, y }).join();
const points = [left(false, false), left(false, true), left(true, false), left(true, true)];
if (points.join(" ") !== "0,,3,4 ,,3,4 0,,,4 ,,,4") problems.push(`points on logarithmic axes: ${points.join(" ")}`);

const seen = {};
const desktop = await open(1280, 900, "light");
seen.title = await desktop.title();
seen.sections = await desktop.$$eval("main section", (all) => all.map((section) => section.id));
const plain = await open(1280, 900, "light", false);
seen.charts = await visible(plain, "figure.chart .wide svg");
seen.tables = await desktop.$$eval("figure.chart", (all) => all.filter((one) => one.querySelector("details table")).length);
seen.figures = (await desktop.$$("figure.chart")).length;
// The letters of all pictures have one size, whatever their widths; those of marks beyond the axes may be smaller.
seen.letters = await plain.$$eval("figure.chart .wide svg", (all) => [...new Set(all.flatMap((svg) => {
  const scale = svg.getBoundingClientRect().width / (svg.viewBox.baseVal.width || svg.getBoundingClientRect().width);
  return [...svg.querySelectorAll("text")].map((text) => Math.round(10 * scale * Number.parseFloat(getComputedStyle(text).fontSize)) / 10);
}))]);
seen.links = await desktop.$eval("nav ul", (list) => list.scrollWidth - list.clientWidth);
await screenshot(desktop, "light");

// Bars end below the top of their chart.
await desktop.$eval("#time-0", (figure) => figure.scrollIntoView({ block: "center" }));
await desktop.waitForSelector("#time-0 .u-over");
seen.bars = await desktop.$eval("#time-0", (figure) => {
  const [canvas, over] = [figure.querySelector(".live canvas"), figure.querySelector(".u-over")].map((one) => ({ one, box: one.getBoundingClientRect() }));
  const scale = canvas.one.width / canvas.box.width;
  const [left, top] = [over.box.left - canvas.box.left, over.box.top - canvas.box.top].map((length) => Math.round(scale * length));
  const [width, height] = [over.box.width, over.box.height].map((length) => Math.round(scale * length));
  // A copy is read, since reading a chart's own canvas would make the page slower and the browser warn.
  const copy = Object.assign(document.createElement("canvas"), { width: canvas.one.width, height: canvas.one.height });
  const pixels = copy.getContext("2d", { willReadFrequently: true });
  pixels.drawImage(canvas.one, 0, 0);
  // Fills, not lines of the grid: as wide as half a bar.
  const widest = (row) => {
    const { data } = pixels.getImageData(left, row, width, 1);
    let [run, longest] = [0, 0];
    for (let x = 0; x < width; x += 1) {
      run = data[4 * x + 3] > 0 && Math.abs(data[4 * x + 2] - data[4 * x]) > 60 ? run + 1 : 0;
      longest = Math.max(longest, run);
    }
    return longest > 20 * scale;
  };
  return [widest(top + 2), widest(top + height - 4)];
});

const shown = () => desktop.$eval(".choice", (choice) => [...choice.querySelectorAll("figure")].filter((one) => !one.hidden).map((one) => one.id));
seen.choices = [await shown()];
await desktop.click(".choice button:nth-of-type(2)");
seen.choices.push(await shown());

// Values at the pointer, zoom by dragging, and a logarithmic axis.
const live = async (selector) => (await desktop.$(`#loss .live ${selector}`)).boundingBox();
await desktop.$eval("#loss", (figure) => figure.scrollIntoView({ block: "center" }));
await desktop.waitForSelector("#loss .u-over");
const box = await live(".u-over");
const point = (x, y) => [box.x + x * box.width, box.y + y * box.height];
await desktop.mouse.move(...point(0.5, 0.4));
await desktop.waitForSelector("#loss .tooltip:not([hidden])");
seen.tooltip = await text(desktop, "#loss .tooltip");
const isWhole = () => desktop.$eval("#loss [data-tool=reset]", (button) => button.disabled);
seen.zoom = [await isWhole()];
await desktop.mouse.down();
await desktop.mouse.move(...point(0.9, 0.42), { steps: 8 });
await desktop.mouse.up();
await desktop.waitForFunction(() => !document.querySelector("#loss [data-tool=reset]").disabled);
seen.zoom.push(await isWhole());
await screenshot(desktop, "zoom");
await desktop.focus("#loss .canvas");
await desktop.keyboard.press("Escape");
await desktop.waitForFunction(() => document.querySelector("#loss [data-tool=reset]").disabled);
await desktop.click("#loss [data-tool=log-x]");
seen.logarithmic = await desktop.$eval("#loss [data-tool=log-x]", (button) => button.getAttribute("aria-pressed"));
await desktop.click("#loss .legend button");
seen.hidden = await desktop.$$eval("#loss .legend button", (all) => all.map((one) => one.getAttribute("aria-pressed")));

seen.game = [];
await desktop.click("#board");
seen.focus = await desktop.evaluate(() => document.activeElement.id);
for (const step of ["Home", "ArrowRight", "next", "ArrowRight", "ArrowLeft", "last"]) {
  if (/^[A-Z]/.test(step)) await desktop.keyboard.press(step);
  else await desktop.click("#" + step);
  seen.game.push([await desktop.$eval("#ply", (slider) => Number(slider.value)), await text(desktop, "#where")]);
}
seen.follows = await desktop.$eval("#list .now", (now) => {
  const [own, list] = [now, now.closest("#list")].map((element) => element.getBoundingClientRect());
  return own.top >= list.top && own.bottom <= list.bottom;
});
seen.plies = await desktop.$eval("#ply", (slider) => Number(slider.max));
seen.pieces = (await desktop.$$("#board use")).length;
await desktop.$eval("#ply", (slider) => { slider.value = 5; slider.dispatchEvent(new Event("input")); });
seen.slid = await text(desktop, "#where");
seen.moves = (await desktop.$$("#moves tbody tr")).length;

seen.backgrounds = [await background(desktop)];
await desktop.click("#theme");
seen.backgrounds.push(await background(desktop));
await desktop.evaluate(() => { try { localStorage.clear(); } catch { /* Pages opened from a file may have no storage. */ } });

const dark = await open(1280, 900, "dark");
seen.backgrounds.push(await background(dark));
await screenshot(dark, "dark");

const phone = await open(360, 780, "light");
const plainPhone = await open(360, 780, "light", false);
seen.overflow = [await overflow(desktop), await overflow(phone)];
seen.narrow = await visible(plainPhone, "figure.chart .narrow svg");
await screenshot(phone, "phone");

await browser.close();
console.log(JSON.stringify({ ...seen, problems, requests }));
