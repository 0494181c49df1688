// Opens a report in a browser, uses its controls, and prints what it observed as one line of JSON.
//     node report.mjs CHROMIUM FILE.html [PREFIX for screenshots]
import { pathToFileURL } from "node:url";
import { createRequire } from "node:module";

const [executablePath, file, prefix] = process.argv.slice(2);
const puppeteer = createRequire(process.env.DC0_BROWSER + "/package.json")("puppeteer-core");

const args = ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"];
const browser = await puppeteer.launch({ executablePath, headless: "shell", args });
const problems = [];
const requests = [];

async function open(width, height, scheme) {
  const page = await browser.newPage();
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

const seen = {};
const desktop = await open(1280, 900, "light");
seen.title = await desktop.title();
seen.sections = await desktop.$$eval("main section", (all) => all.map((section) => section.id));
seen.charts = await visible(desktop, "figure.chart .wide svg");
seen.tables = await desktop.$$eval("figure.chart", (all) => all.filter((one) => one.querySelector("details table")).length);
seen.figures = (await desktop.$$("figure.chart")).length;
await screenshot(desktop, "light");

const shown = () => desktop.$$eval(".choice figure", (all) => all.filter((one) => !one.hidden).map((one) => one.id));
seen.choices = [await shown()];
await desktop.click(".choice button:nth-of-type(2)");
seen.choices.push(await shown());

seen.game = [];
for (const step of ["first", "next", "next", "ArrowRight", "ArrowLeft", "last"]) {
  if (step.startsWith("Arrow")) await desktop.keyboard.press(step);
  else await desktop.click("#" + step);
  seen.game.push([await desktop.$eval("#ply", (slider) => Number(slider.value)), await text(desktop, "#where")]);
}
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
seen.overflow = [await overflow(desktop), await overflow(phone)];
seen.narrow = await visible(phone, "figure.chart .narrow svg");
await screenshot(phone, "phone");

await browser.close();
console.log(JSON.stringify({ ...seen, problems, requests }));
