// Opens the pages of `dc0-run serve` in a browser while a run goes on, is killed and goes on again, and plays a move against the
// net. Arguments: the program, a script, the browser, the folder of what drives it, a folder to work in, and a folder for pictures
// or nothing.
//
// Fails on any error in the browser's console, on any request that leaves the server, and where the page does not follow.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const [program, script, executablePath, packages, folder, pictures] = process.argv.slice(2);
const puppeteer = createRequire(resolve(packages, "package.json"))("puppeteer-core");
const runs = join(folder, "runs");
mkdirSync(runs, { recursive: true });
const PATIENCE = 120_000;

function check(isSo, what) {
  if (!isSo) throw new Error(`expected: ${what}`);
}

async function serve() {
  const server = spawn(program, ["serve", runs, "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: server.stdout })) {
    if (line.startsWith("open ")) return { server, address: line.slice(5) };
  }
  throw new Error("the server ended before it told its address");
}

function start() {
  const args = [script, "--out", runs, "--device", "cpu", "--set", "games=48", "--set", "simulations=16"];
  const run = spawn(program, args, { stdio: "ignore" });
  return { run, ended: new Promise((resolve) => { run.on("exit", resolve); }) };
}

// A sweep of four tiny trials, to its end.
async function sweep() {
  const text = `sweep(#{ name: "tiny", space: #{ updates: choice([2, 4, 6, 8]) }, sampler: "random", pruner: #{ kind: "none" }, trials: 4 }, |trial| {
    let run = trial.run;
    let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
    run.self_play(net, #{ games: 4, search: #{ simulations: 2 }, max_plies: 20 });
    -run.train(net, run.window(), #{ updates: trial.updates, batch: 16 }).loss
  });`;
  const file = join(folder, "tiny.rhai");
  writeFileSync(file, text);
  const run = spawn(program, [file, "--out", runs, "--device", "cpu"], { stdio: ["ignore", "ignore", "inherit"] });
  const code = await new Promise((resolve) => { run.on("exit", resolve); });
  check(code === 0, `the sweep comes to its end, not to ${code}`);
}

// A page on which nothing may go wrong.
async function page(browser, origin, faults, { width = 1200, height = 1000, scheme = "light" } = {}) {
  const made = await browser.newPage();
  await made.setViewport({ width, height });
  await made.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  made.on("console", (message) => { if (["error", "warn"].includes(message.type())) faults.push(`console: ${message.text()}`); });
  made.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  made.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith("data:")) faults.push(`request outside: ${url}`);
  });
  made.setDefaultTimeout(PATIENCE);
  return made;
}

async function picture(of, name) {
  if (pictures) await of.screenshot({ path: join(pictures, `${name}.png`) });
}

const text = (of, selector) => of.$eval(selector, (element) => element.textContent);
const until = (of, condition, ...args) => of.waitForFunction(condition, { timeout: PATIENCE }, ...args);

async function watch(of, address, origin) {
  await of.goto(address);
  check(!of.url().includes("token"), "no token in the address once it is a cookie");
  await until(of, () => document.querySelector("#none")?.hidden === false);
  let { run, ended } = start();
  await until(of, () => document.querySelector('[data-run="smoke"] [data-state="running"]'));
  await of.goto(`${origin}/run/smoke`);
  await until(of, () => document.querySelector("#bar")?.hidden === false);
  await until(of, () => document.querySelector("#board use"));
  const before = await text(of, "#log");
  await until(of, (known) => document.querySelector("#log").textContent.length > known, before.length);
  await picture(of, "running");
  await stays(of, origin);
  await of.goto(`${origin}/run/smoke`);
  await until(of, () => document.querySelector("#board use"));
  run.kill("SIGKILL");
  await ended;
  await until(of, () => document.querySelector("#state [data-state]").dataset.state !== "running");
  const cut = await of.$eval("#state [data-state]", (element) => element.dataset.state);
  check(["cut", "rests"].includes(cut), `a killed run is cut, not ${cut}`);
  ({ run, ended } = start());
  await until(of, () => document.querySelector("#state [data-state]").dataset.state === "running");
  check(await ended === 0, "the run goes on to its end");
  await until(of, () => document.querySelector("#state [data-state]").dataset.state === "rests");
  check((await text(of, "#log")).includes("match 0002"), "the log has the last match");
  const opened = (await text(of, "#log")).split("\n").filter((line) => line.includes(": run ")).length;
  check(opened === 2, `the log tells of both starts once each, not ${opened}`);
}

async function charts(of) {
  await until(of, () => document.querySelector("iframe.report:not(.coming)")?.contentDocument?.querySelectorAll("figure svg").length > 3);
  await narrow(of);
}

async function narrow(of) {
  const [width, window] = await of.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  check(width <= window, `${of.url()} is not wider than the window, but ${width} of ${window}`);
}

// Every page on a phone, in dark colours.
async function phone(browser, origin, faults) {
  const of = await page(browser, origin, faults, { width: 360, height: 740, scheme: "dark" });
  await of.goto(origin);
  await until(of, () => document.querySelectorAll("#list [data-run]").length === 2);
  await narrow(of);
  await picture(of, "home-phone");
  await of.goto(`${origin}/run/smoke`);
  await charts(of);
  await picture(of, "run-phone");
  await of.goto(`${origin}/sweep/tiny`);
  await until(of, () => document.querySelectorAll("#rows tr").length === 4);
  await narrow(of);
  await picture(of, "sweep-phone");
  await of.goto(`${origin}/play`);
  await until(of, () => document.querySelectorAll("#net option").length > 2);
  await of.click("#begin");
  await until(of, () => document.querySelectorAll("#grid button").length === 64);
  await narrow(of);
  await of.evaluate(() => document.querySelector("#desk").scrollIntoView());
  await picture(of, "play-phone");
  await of.click("#end");
  await until(of, () => document.querySelector("#desk").hidden);
  await of.close();
}

// A promotion is chosen, and a mate ends the game.
async function end(of) {
  await of.select("#side", "both");
  await of.$eval("#fen", (input) => { input.value = "7k/P5pp/8/8/8/8/8/K7 w - - 0 1"; });
  await of.click("#begin");
  await until(of, () => document.querySelector("#now").textContent.startsWith("7k/P5pp"));
  await of.click('#grid [data-name="a7"]');
  await of.click('#grid [data-name="a8"]');
  await until(of, () => document.querySelector("#promotion").hidden === false);
  await picture(of, "promotion");
  await of.keyboard.press("Enter");
  await until(of, () => document.querySelector("#where").textContent === "1-0: White won by checkmate");
  await until(of, () => document.querySelector("#hint").disabled);
}

// What stays in the page as it follows: an element that was clicked or has the focus is not replaced.
async function stays(of, origin) {
  await of.goto(origin);
  const link = '[data-run="smoke"] a';
  await until(of, () => document.querySelector('[data-run="smoke"] [data-state="running"]'));
  await of.$eval(link, (element) => element.focus());
  const told = () => of.$eval('[data-run="smoke"]', (card) => card.textContent);
  const before = await told();
  await until(of, (known) => document.querySelector('[data-run="smoke"]').textContent !== known, before);
  check(await of.$eval(link, (element) => element === document.activeElement), "the link keeps the focus");
}

async function step(of) {
  await of.click("#next");
  const first = await text(of, "#where");
  await of.click("#next");
  check(first !== await text(of, "#where"), "the board steps on");
}

// With the mouse, with the keyboard, and typed.
async function play(of, origin) {
  await of.goto(`${origin}/play?run=smoke`);
  await until(of, () => document.querySelectorAll("#net option").length > 2);
  await of.$eval("#simulations", (input) => { input.value = "32"; });
  await of.click("#begin");
  await until(of, () => document.querySelectorAll("#grid button").length === 64);
  const moves = () => of.$$eval("#list li", (items) => items.map((item) => item.textContent));
  const plies = (count) => until(of, (wanted) => [...document.querySelectorAll("#list li")]
    .flatMap((item) => item.textContent.split(" ").slice(1)).length === wanted, count);
  await of.click('#grid [data-name="e2"]');
  check(await of.$$eval("#board .target", (dots) => dots.length) === 2, "two squares for the pawn");
  await of.click('#grid [data-name="e4"]');
  await plies(2);
  check((await moves())[0].startsWith("1. e4 "), "the move was played");
  check(await of.$$eval("#moves tbody tr", (rows) => rows.length) > 1, "the tree's moves are shown");
  await of.focus('#grid [data-name="d2"]').catch(() => null);
  await of.$eval('#grid [data-name="d2"]', (cell) => cell.focus());
  await of.keyboard.press("Enter");
  await of.$eval('#grid [data-name="d3"]', (cell) => cell.focus());
  await of.keyboard.press("Enter");
  await plies(4);
  await of.type("#move", "Ke9");
  await of.keyboard.press("Enter");
  await until(of, () => document.querySelector("#problem").hidden === false);
  await picture(of, "play");
  await of.click("#undo");
  await plies(2);
  await of.click("#flip");
  await of.reload();
  await plies(2);
}

async function main() {
  const { server, address } = await serve();
  const origin = new URL(address).origin;
  const browser = await puppeteer.launch({ executablePath, headless: "shell", args: ["--no-sandbox", "--disable-gpu"] });
  const faults = [];
  try {
    const desktop = await page(browser, origin, faults);
    await watch(desktop, address, origin);
    await charts(desktop);
    await step(desktop);
    await picture(desktop, "run");
    await sweep();
    await phone(browser, origin, faults);
    await play(desktop, origin);
    await end(desktop);
    check(faults.length === 0, `nothing goes wrong in the browser, but:\n${faults.join("\n")}`);
  } finally {
    await browser.close();
    server.kill("SIGINT");
  }
  const code = await new Promise((resolve) => { server.on("exit", resolve); });
  check(code === 0, `the server ends well, not with ${code}`);
}

await main();
console.log("live pages are right");
