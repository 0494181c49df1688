// Opens a report in a browser, looks at it as people do, and says what it saw as one line of JSON.
//     node report.mjs CHROMIUM FILE.html [PREFIX of screenshots]
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
const keep = async (page, name) => { if (prefix) await page.screenshot({ path: `${prefix}-${name}.png` }); };

const seen = {};
const desk = await open(1280, 900, "light");
seen.title = await desk.title();
seen.sections = await desk.$$eval("main section", (all) => all.map((section) => section.id));
seen.charts = await visible(desk, "figure.chart .wide svg");
seen.tables = await desk.$$eval("figure.chart", (all) => all.filter((one) => one.querySelector("details table")).length);
seen.figures = (await desk.$$("figure.chart")).length;
await keep(desk, "light");

const shown = () => desk.$$eval(".choice figure", (all) => all.filter((one) => !one.hidden).map((one) => one.id));
seen.choices = [await shown()];
await desk.click(".choice button:nth-of-type(2)");
seen.choices.push(await shown());

seen.game = [];
for (const step of ["first", "next", "next", "ArrowRight", "ArrowLeft", "last"]) {
  if (step.startsWith("Arrow")) await desk.keyboard.press(step);
  else await desk.click("#" + step);
  seen.game.push([await desk.$eval("#ply", (slider) => Number(slider.value)), await text(desk, "#where")]);
}
seen.plies = await desk.$eval("#ply", (slider) => Number(slider.max));
seen.men = (await desk.$$("#board use")).length;
await desk.$eval("#ply", (slider) => { slider.value = 5; slider.dispatchEvent(new Event("input")); });
seen.slid = await text(desk, "#where");
seen.moves = (await desk.$$("#moves tbody tr")).length;

seen.backgrounds = [await background(desk)];
await desk.click("#theme");
seen.backgrounds.push(await background(desk));
await desk.evaluate(() => { try { localStorage.clear(); } catch { /* A file may have none. */ } });

const dark = await open(1280, 900, "dark");
seen.backgrounds.push(await background(dark));
await keep(dark, "dark");

const phone = await open(360, 780, "light");
seen.overflow = [await overflow(desk), await overflow(phone)];
seen.narrow = await visible(phone, "figure.chart .narrow svg");
await keep(phone, "phone");

await browser.close();
console.log(JSON.stringify({ ...seen, problems, requests }));
