// Makes the PNGs of reports, of `dc0-run serve` and of `dc0-run explain` again, in the browser of the tests.
//
//     DC0_BROWSER=target/browser DC0_CHROMIUM=target/browser/unpacked/chromium \
//         node docs/pictures/browser.mjs target/release/dc0-run datasets/az_small docs/pictures
//
// Arguments: the program, a finished run of az_small.rhai, and the folder for the pictures. The run is only read. It takes a minute.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [program, run, pictures] = process.argv.slice(2).map((path) => resolve(path));
const puppeteer = createRequire(resolve(process.env.DC0_BROWSER, "package.json"))("puppeteer-core");
const folder = mkdtempSync(join(tmpdir(), "pictures-"));
const runs = join(folder, "runs");
mkdirSync(runs);

// Its first games take longer than the picture of a game in progress needs.
const SLOW = `let run = open_run("slow");
let net = run.network(#{ tower: #{ blocks: 6, filters: 64 } });
run.self_play(net, #{ games: 64, search: #{ simulations: 400 } });`;
// Its first shards are stored while others are played.
const STORED = `let run = open_run("first");
let net = run.network(#{ tower: #{ blocks: 2, filters: 32 } });
run.self_play(net, #{ games: 4000, shard_games: 8, search: #{ simulations: 32 }, max_plies: 100 });`;
const SWEEP = `sweep(#{ name: "tiny", space: #{ updates: choice([2, 4, 6, 8]), batch: choice([8, 16]) }, sampler: "random", trials: 4 }, |trial| {
    let run = trial.run;
    let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
    run.self_play(net, #{ games: 4, search: #{ simulations: 2 }, max_plies: 20 });
    -run.train(net, run.window(), #{ updates: trial.updates, batch: trial.batch }).loss
});`;

function dc0(...args) {
  const { status } = spawnSync(program, args, { stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) throw new Error(`dc0-run ${args.join(" ")} ended with ${status}`);
}

function script(name, text) {
  const file = join(folder, `${name}.rhai`);
  writeFileSync(file, text);
  return [file, "--out", runs, "--device", "cpu"];
}

const browser = await puppeteer.launch({ executablePath: resolve(process.env.DC0_CHROMIUM), headless: "shell", args: ["--no-sandbox", "--disable-gpu"] });

async function open(url, width, height, scheme = "light") {
  const page = await browser.newPage();
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  page.setDefaultTimeout(120_000);
  await page.goto(url);
  return page;
}

async function shot(page, name, options = {}) {
  await page.screenshot({ path: join(pictures, `${name}.png`), ...options });
  await page.close();
}

const scrollTo = (page, selector) => page.$eval(selector, (element) => element.scrollIntoView());

async function reports() {
  const file = join(folder, "report.html");
  dc0("report", run, "--out", file);
  const url = pathToFileURL(file).href;
  await shot(await open(url, 1180, 900), "report-strength");
  const game = await open(url, 1180, 780, "dark");
  // The first is the shortest mate.
  await game.select("#game", "1");
  for (let ply = 0; ply < 20; ply += 1) await game.$eval("#next", (button) => button.click());
  // The charts above take their places when they are seen.
  await game.evaluate(() => new Promise((done) => { setTimeout(done, 500); }));
  await scrollTo(game, "#sample-games h2");
  await shot(game, "report-game");
  const phone = await open(url, 360, 780);
  await scrollTo(phone, "#calibration");
  await phone.waitForSelector("#calibration .u-over");
  await shot(phone, "report-phone");
}

async function explanation() {
  const file = join(folder, "explained.html");
  const position = "startpos moves e2e4 e7e5 g1f3 b8c6 f1c4 g8f6";
  dc0("explain", position, "--sims", "400", "--top", "5", "--format", "html", "--out", file);
  await shot(await open(pathToFileURL(file).href, 1100, 900, "dark"), "explain-page", { fullPage: true });
}

// A page of a run while its script goes on.
async function live(origin, name, text, isReady, size, picture) {
  const going = spawn(program, script(name, text), { stdio: "ignore" });
  const ended = new Promise((done) => { going.on("exit", done); });
  try {
    const home = await open(origin, 1000, 900);
    await home.waitForSelector(`[data-run="${name}"] [data-state="running"]`);
    await home.close();
    const page = await open(`${origin}/run/${name}`, ...size);
    await page.waitForFunction(isReady);
    await shot(page, picture);
  } finally {
    going.kill("SIGKILL");
    await ended;
  }
}

// A pawn's move against the net, its answer, and the squares of a knight.
async function play(origin, name) {
  const page = await open(`${origin}/play?run=${name}`, 1000, 860);
  await page.waitForFunction(() => document.querySelectorAll("#net option").length > 2);
  await page.click("#begin");
  await page.waitForFunction(() => document.querySelectorAll("#grid button").length === 64);
  await page.click('#grid [data-name="e2"]');
  await page.click('#grid [data-name="e4"]');
  await page.waitForFunction(() => document.querySelector("#list li")?.textContent.split(" ").length === 3);
  await page.click('#grid [data-name="g1"]');
  await shot(page, "serve-play");
}

// A run, a sweep and a game beside each other.
async function phones(origin, name) {
  const pages = [
    ["run", await open(`${origin}/run/${name}`, 360, 740, "dark"), () => document.querySelector("#board use")],
    ["sweep", await open(`${origin}/sweep/tiny`, 360, 740, "dark"), () => document.querySelectorAll("#rows tr").length === 4],
    ["game", await open(`${origin}/play`, 360, 740, "dark"), () => document.querySelectorAll("#net option").length > 2],
  ];
  const images = [];
  for (const [which, page, isReady] of pages) {
    await page.bringToFront();
    await page.waitForFunction(isReady);
    if (which === "game") {
      await page.click("#begin");
      await page.waitForFunction(() => document.querySelectorAll("#grid button").length === 64);
      await scrollTo(page, "#desk");
    }
    images.push(await page.screenshot({ encoding: "base64" }));
    await page.close();
  }
  const sheet = await open("about:blank", 1104, 740);
  const body = images.map((image) => `<img src="data:image/png;base64,${image}">`).join("");
  await sheet.setContent(`<style>body { margin: 0; display: flex; gap: 12px; background: #6b7280; }</style>${body}`, { waitUntil: "load" });
  await shot(sheet, "serve-phone");
}

async function served() {
  const name = basename(run);
  cpSync(run, join(runs, name), { recursive: true });
  dc0(...script("tiny", SWEEP));
  const server = spawn(program, ["serve", runs, "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((done) => { server.on("exit", done); });
  let address = "";
  for await (const line of createInterface({ input: server.stdout })) {
    if (line.startsWith("open ")) { address = line.slice(5); break; }
  }
  try {
    // The token becomes a cookie.
    await (await open(address, 1000, 900)).close();
    const { origin } = new URL(address);
    await phones(origin, name);
    await play(origin, name);
    await live(origin, "slow", SLOW, () => Number(/ply (\d+)/.exec(document.querySelector("#where").textContent)?.[1]) > 1, [1000, 900, "dark"], "serve-now");
    await live(origin, "first", STORED, () => document.querySelector("#pages")?.hidden === false && /^Ply [6-9]/.test(document.querySelector("#where").textContent), [1200, 1000], "serve-run");
  } finally {
    server.kill("SIGINT");
    await ended;
  }
}

try {
  await reports();
  await explanation();
  await served();
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
