// Opens the pages of `dc0-run serve` in a browser while a run is running, killed and resumed, and plays a move against the net.
// Arguments: the program, a script, the browser, the folder of its driver's packages, a working folder, and optionally a folder for
// screenshots.
//
// Fails on any error in the browser's console, on any request to another server, and if the page does not follow the run.
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const [program, script, executablePath, packages, folder, screenshots] = process.argv.slice(2);
const puppeteer = createRequire(resolve(packages, "package.json"))("puppeteer-core");
const runs = join(folder, "runs");
mkdirSync(runs, { recursive: true });
const PATIENCE = 120_000;

function check(holds, what) {
  if (!holds) throw new Error(`expected: ${what}`);
}

async function serve() {
  const server = spawn(program, ["serve", runs, "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: server.stdout })) {
    if (line.startsWith("open ")) return { server, address: line.slice(5) };
  }
  throw new Error("the server ended before it printed its address");
}

function start() {
  const args = [script, "--out", runs, "--device", "cpu", "--set", "games=48", "--set", "simulations=16"];
  const run = spawn(program, args, { stdio: "ignore" });
  return { run, ended: new Promise((resolve) => { run.on("exit", resolve); }) };
}

// Runs a sweep of four tiny trials to its end.
async function sweep() {
  const text = `sweep(#{ name: "tiny", space: #{ updates: choice([2, 4, 6, 8]), batch: choice([8, 16]) }, sampler: "random", pruner: #{ kind: "none" }, trials: 4 }, |trial| {
    let run = trial.run;
    let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
    run.self_play(net, #{ games: 4, search: #{ simulations: 2 }, max_plies: 20 });
    -run.train(net, run.window(), #{ updates: trial.updates, batch: trial.batch }).loss
  });`;
  const file = join(folder, "tiny.rhai");
  writeFileSync(file, text);
  const run = spawn(program, [file, "--out", runs, "--device", "cpu"], { stdio: ["ignore", "ignore", "inherit"] });
  const code = await new Promise((resolve) => { run.on("exit", resolve); });
  check(code === 0, `the sweep comes to its end, not to ${code}`);
}

// Opens a page that records every error and every outside request as a fault.
async function openPage(browser, origin, faults, { width = 1200, height = 1000, scheme = "light" } = {}) {
  const opened = await browser.newPage();
  await opened.setViewport({ width, height });
  await opened.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  opened.on("console", (message) => { if (["error", "warn"].includes(message.type())) faults.push(`console: ${message.text()}`); });
  opened.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  opened.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith("data:")) faults.push(`request outside: ${url}`);
  });
  opened.setDefaultTimeout(PATIENCE);
  return opened;
}

async function screenshot(page, name) {
  if (screenshots) await page.screenshot({ path: join(screenshots, `${name}.png`) });
}

const text = (page, selector) => page.$eval(selector, (element) => element.textContent);
const until = (page, condition, ...args) => page.waitForFunction(condition, { timeout: PATIENCE }, ...args);

async function watch(page, address, origin) {
  await page.goto(address);
  check(!page.url().includes("token"), "no token in the address once it is a cookie");
  await until(page, () => document.querySelector("#none")?.hidden === false);
  // A run whose name no address can hold is named below the list.
  const hidden = join(runs, ".hidden");
  mkdirSync(hidden);
  writeFileSync(join(hidden, "run.json"), "{}");
  await until(page, () => document.querySelector("#unshown").textContent.endsWith(": .hidden"));
  check(await page.$eval("#unshown", (element) => !element.hidden), "what is not shown is named");
  rmSync(hidden, { recursive: true });
  await until(page, () => document.querySelector("#unshown").hidden);
  let { run, ended } = start();
  await until(page, () => document.querySelector('[data-run="smoke"] [data-state="running"]'));
  await page.goto(`${origin}/run/smoke`);
  await until(page, () => document.querySelector("#bar")?.hidden === false);
  await until(page, () => document.querySelector("#board use"));
  const before = await text(page, "#log");
  await until(page, (known) => document.querySelector("#log").textContent.length > known, before.length);
  await screenshot(page, "running");
  await keepsFocus(page, origin);
  await page.goto(`${origin}/run/smoke`);
  await until(page, () => document.querySelector("#board use"));
  run.kill("SIGKILL");
  await ended;
  await until(page, () => document.querySelector("#state [data-state]").dataset.state !== "running");
  const cut = await page.$eval("#state [data-state]", (element) => element.dataset.state);
  check(["cut", "rests"].includes(cut), `a killed run is cut, not ${cut}`);
  ({ run, ended } = start());
  await until(page, () => document.querySelector("#state [data-state]").dataset.state === "running");
  check(await ended === 0, "the run goes on to its end");
  await until(page, () => document.querySelector("#state [data-state]").dataset.state === "rests");
  check((await text(page, "#log")).includes("match 0002"), "the log has the last match");
  const opened = (await text(page, "#log")).split("\n").filter((line) => line.includes(": run ")).length;
  check(opened === 2, `the log shows both starts once each, not ${opened}`);
}

async function charts(page) {
  await until(page, () => document.querySelector("iframe.report:not(.coming)")?.contentDocument?.querySelectorAll("figure svg").length > 3);
  await narrow(page);
}

async function narrow(page) {
  const [width, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  check(width <= window, `${page.url()} is not wider than the window, but ${width} of ${window}`);
}

// What scrolls can be reached by keyboard, landmarks have names of their own, and buttons are large enough to be hit (WCAG 2.2).
async function accessible(page) {
  const problems = await page.evaluate(() => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    const name = (part) => part.ariaLabel ?? document.getElementById(part.getAttribute("aria-labelledby")).textContent;
    const names = all("section[aria-label], section[aria-labelledby], [role=region]").map(name);
    const isSmall = ({ height }) => height > 0 && height < 24;
    return [
      ...all(".scroll, .list, .log").filter((part) => part.tabIndex < 0).map((part) => `no focus: ${part.className}`),
      ...names.filter((known, index) => names.indexOf(known) !== index).map((known) => `twice: ${known}`),
      ...all("button").filter((button) => isSmall(button.getBoundingClientRect())).map((button) => `small: ${button.textContent}`),
    ];
  });
  check(problems.length === 0, `${page.url()} is accessible, but ${problems.join("; ")}`);
}

// Every page on a small screen, with the dark colour scheme.
async function phone(browser, origin, faults) {
  const page = await openPage(browser, origin, faults, { width: 360, height: 740, scheme: "dark" });
  await page.goto(origin);
  await until(page, () => document.querySelectorAll("#list [data-run]").length === 2);
  await narrow(page);
  await accessible(page);
  await screenshot(page, "home-phone");
  await page.goto(`${origin}/run/smoke`);
  await charts(page);
  await accessible(page);
  await screenshot(page, "run-phone");
  await page.goto(`${origin}/sweep/tiny`);
  await until(page, () => document.querySelectorAll("#rows tr").length === 4);
  await narrow(page);
  await accessible(page);
  await screenshot(page, "sweep-phone");
  await page.goto(`${origin}/play`);
  await until(page, () => document.querySelectorAll("#net option").length > 2);
  await page.click("#begin");
  await until(page, () => document.querySelectorAll("#grid button").length === 64);
  await narrow(page);
  await accessible(page);
  await page.evaluate(() => document.querySelector("#desk").scrollIntoView());
  await screenshot(page, "play-phone");
  await page.click("#end");
  await until(page, () => document.querySelector("#desk").hidden);
  await page.close();
}

// Chooses a promotion, which mates and ends the game.
async function end(page) {
  await page.select("#side", "both");
  await page.$eval("#fen", (input) => { input.value = "7k/P5pp/8/8/8/8/8/K7 w - - 0 1"; });
  await page.click("#begin");
  await until(page, () => document.querySelector("#now").textContent.startsWith("7k/P5pp"));
  const promote = async () => {
    await page.click('#grid [data-name="a7"]');
    await page.click('#grid [data-name="a8"]');
    await until(page, () => document.querySelector("#promotion").hidden === false);
  };
  await promote();
  await page.keyboard.press("Escape");
  const [isClosed, focused] = await page.evaluate(() => [document.querySelector("#promotion").hidden, document.activeElement.dataset.name]);
  check(isClosed && focused === "a8", `Escape leads back to the board, not to ${focused}`);
  await promote();
  await screenshot(page, "promotion");
  await page.keyboard.press("Enter");
  await until(page, () => document.querySelector("#where").textContent === "1-0: White won by checkmate");
  await until(page, () => document.querySelector("#hint").disabled);
}

// An element that has the focus is not replaced when the page is updated.
async function keepsFocus(page, origin) {
  await page.goto(origin);
  const link = '[data-run="smoke"] a';
  await until(page, () => document.querySelector('[data-run="smoke"] [data-state="running"]'));
  await page.$eval(link, (element) => element.focus());
  const content = () => page.$eval('[data-run="smoke"]', (card) => card.textContent);
  const before = await content();
  await until(page, (known) => document.querySelector('[data-run="smoke"]').textContent !== known, before);
  check(await page.$eval(link, (element) => element === document.activeElement), "the link keeps the focus");
}

// Searches and sorts the list of runs, and compares two of them in charts with values at the pointer and zoom.
async function compare(page, origin) {
  cpSync(join(runs, "smoke"), join(runs, "other"), { recursive: true });
  await page.goto(origin);
  const names = () => page.$$eval("#list [data-run]", (rows) => rows.map((row) => row.dataset.run));
  const cell = (run, label) => page.$eval(`[data-run="${run}"] [data-label="${label}"]`, (found) => found.textContent);
  await until(page, () => document.querySelectorAll("#list [data-run]").length === 3);
  await until(page, () => /\d/.test(document.querySelector('[data-run="other"] [data-label="Elo"]').textContent));
  check(/^\d+\.\d+$/.test(await cell("other", "loss")), "the list has the loss");
  check((await text(page, '[data-run="tiny"]')).includes("sweep of 4 trials: 4 complete"), "the list counts trials");
  await page.type("#search", "sweep tin");
  check((await names()).join() === "tiny", "the search leaves one row");
  await page.$eval("#search", (input) => { input.value = ""; input.dispatchEvent(new Event("input")); });
  await page.click("[data-sort=name]");
  check((await names()).join() === "other,smoke,tiny", "the runs are sorted by name");
  await page.click("[data-sort=name]");
  check((await names()).join() === "tiny,smoke,other", "the runs are sorted the other direction");
  check(page.url().includes("by=name&order=falling"), "the order is part of the address");
  await page.click('[data-tick="smoke"]');
  check(await page.$eval("#compare", (button) => button.disabled), "one run alone is not compared");
  await page.click('[data-tick="other"]');
  await screenshot(page, "home");
  await Promise.all([page.waitForNavigation(), page.click("#compare")]);
  await until(page, () => document.querySelector("iframe.report:not(.coming)"));
  const frame = await (await page.$("iframe.report:not(.coming)")).contentFrame();
  await frame.waitForSelector("#loss");
  await frame.$eval("#loss", (figure) => figure.scrollIntoView({ block: "center" }));
  await frame.waitForSelector("#loss .u-over");
  const legend = await frame.$$eval("#loss .legend li", (entries) => entries.map((entry) => entry.textContent));
  check(legend.some((name) => name.startsWith("smoke")) && legend.some((name) => name.startsWith("other")), `both runs are in the chart, not ${legend}`);
  const isZoomed = () => frame.$eval("#loss [data-tool=reset]", (button) => !button.disabled);
  // The frame grows while other charts are drawn, so positions are read again for every try.
  const pointed = async (x, y) => {
    const box = await (await frame.$("#loss .u-over")).boundingBox();
    await page.mouse.move(box.x + x * box.width, box.y + y * box.height, { steps: 4 });
  };
  await eventually("values at the pointer", async () => {
    await pointed(0.4, 0.5);
    return frame.$eval("#loss .tooltip", (tooltip) => !tooltip.hidden && /\d/.test(tooltip.textContent));
  });
  await eventually("dragging zooms", async () => {
    await pointed(0.3, 0.5);
    await page.mouse.down();
    await pointed(0.7, 0.52);
    await page.mouse.up();
    return isZoomed();
  });
  await screenshot(page, "compare");
  await frame.$eval("#loss [data-tool=reset]", (button) => button.click());
  check(!await isZoomed(), "a button shows the whole range");
  // Trials of a sweep are compared by their runs.
  await page.goto(`${origin}/sweep/tiny`);
  await parallel(page);
  await until(page, () => document.querySelectorAll("#rows [data-tick]").length === 4);
  for (const row of [1, 2]) await page.click(`#rows tr:nth-child(${row}) [data-tick]`);
  await Promise.all([page.waitForNavigation(), page.click("#compare")]);
  await until(page, () => document.querySelector("iframe.report:not(.coming)")?.contentDocument?.querySelectorAll("#loss .legend li").length >= 2);
}

// The line of parallel coordinates at the pointer is drawn above the others, with its values.
async function parallel(page) {
  await until(page, () => document.querySelector("iframe.report:not(.coming)")?.contentDocument?.querySelector("figure script.lines"));
  const frame = await (await page.$("iframe.report:not(.coming)")).contentFrame();
  await frame.$eval("figure:has(script.lines)", (figure) => figure.scrollIntoView({ block: "center" }));
  const shown = () => frame.$eval("figure:has(script.lines)", (figure) => [figure.querySelector(".tooltip").textContent, figure.querySelectorAll(".chosen-line").length]);
  await eventually("the values of a line at the pointer", async () => {
    const data = JSON.parse(await frame.$eval("figure script.lines", (script) => script.textContent));
    const box = await (await frame.$("figure:has(script.lines) .picture .wide svg")).boundingBox();
    const { width, height, across, top, bottom } = data.pictures[0];
    const [x, y] = [across[2], bottom + (top - bottom) * data.lines[0].heights[2]];
    await page.mouse.move(box.x + x * box.width / width, box.y + y * box.height / height, { steps: 3 });
    const [values, lines] = await shown();
    return lines === 1 && values.startsWith(`trial ${data.lines[0].name}batch`) && values.includes(data.lines[0].values[2]);
  });
  await screenshot(page, "parallel");
  await frame.focus("figure:has(script.lines) .picture");
  for (const key of ["Escape", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
  const second = await frame.$eval("figure script.lines", (script) => JSON.parse(script.textContent).lines[1].name);
  check((await shown())[0].startsWith(`trial ${second}`), "arrow keys go from line to line");
  await page.keyboard.press("Escape");
  check((await shown())[1] === 0, "Escape leaves the line");
}

// Tries again until something holds.
async function eventually(what, holds) {
  const end = Date.now() + PATIENCE;
  while (!await holds()) {
    check(Date.now() < end, what);
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
}

// All games of a step, page by page, and as PGN files.
async function games(page, origin) {
  await page.goto(`${origin}/run/smoke`);
  await until(page, () => document.querySelectorAll("#source-step option").length === 6);
  const step = await page.$$eval("#source-step option", (options) => options.find((option) => option.textContent.startsWith("iteration 0001: 48 games")).value);
  await page.select("#source-step", step);
  await until(page, () => document.querySelector("#range").textContent === "1 to 24 of 48");
  await page.click("#later");
  await until(page, () => document.querySelector("#range").textContent === "25 to 48 of 48");
  await until(page, () => document.querySelectorAll("#game option")[23]?.textContent.startsWith("game 47: "));
  await page.select("#game", "5");
  const fetched = (id) => page.$eval(id, async (link) => (await fetch(link.href)).text());
  const [all, one] = [await fetched("#pgn-all"), await fetched("#pgn-one")];
  check(all.split("[Event ").length === 49, "the file has all games");
  check(one.includes('[Round "29"]') && one.split("[Event ").length === 2, "the file has the game on the board");
  // The board takes the focus, and the arrow keys.
  await page.click("#board");
  check(await page.evaluate(() => document.activeElement.id === "board"), "a click gives the board the focus");
  const before = await text(page, "#where");
  await page.keyboard.press("ArrowRight");
  check(before !== await text(page, "#where"), "an arrow key shows the next ply");
}

// Without JavaScript there are the list of runs and the reports.
async function plain(browser, origin) {
  const page = await browser.newPage();
  await page.setJavaScriptEnabled(false);
  await page.goto(origin);
  const names = await page.$$eval("noscript a", (links) => links.map((link) => link.textContent));
  check(["other", "smoke", "tiny"].every((name) => names.includes(name)), `all runs are listed, not ${names}`);
  await page.goto(`${origin}/api/report/smoke`);
  const charts = await page.$$eval("figure .wide svg", (all) => all.filter((one) => one.getBoundingClientRect().width > 0).length);
  check(charts > 10, `the report has its charts, not ${charts}`);
  await page.close();
}

// From the start of a game, since the board plays by itself until a button is used, and may be at the end of one.
async function step(page) {
  await page.select("#game", "0");
  await page.click("#next");
  const first = await text(page, "#where");
  await page.click("#next");
  check(first !== await text(page, "#where"), "the board shows the next ply");
}

// The texts of cells that take more than one line.
function broken(cells) {
  const lines = (cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return new Set([...range.getClientRects()].map((part) => Math.round(part.top))).size;
  };
  return cells.filter((cell) => lines(cell) > 1).map((cell) => cell.textContent);
}

// Moves with the mouse, with the keyboard, and as text.
async function play(page, origin) {
  await page.goto(`${origin}/play?run=smoke`);
  await until(page, () => document.querySelectorAll("#net option").length > 2);
  await page.$eval("#simulations", (input) => { input.value = "32"; });
  await page.click("#begin");
  await until(page, () => document.querySelectorAll("#grid button").length === 64);
  const moves = () => page.$$eval("#list li", (items) => items.map((item) => item.textContent));
  const plies = (count) => until(page, (wanted) => [...document.querySelectorAll("#list li")]
    .flatMap((item) => item.textContent.split(" ").slice(1)).length === wanted, count);
  await page.click('#grid [data-name="e2"]');
  check(await page.$$eval("#board .target", (dots) => dots.length) === 2, "two squares for the pawn");
  await page.click('#grid [data-name="e4"]');
  await plies(2);
  check((await moves())[0].startsWith("1. e4 "), "the move was played");
  check(await page.$$eval("#moves tbody tr", (rows) => rows.length) > 1, "the tree's moves are shown");
  const wide = page.viewport();
  for (const width of [wide.width, 390]) {
    await page.setViewport({ ...wide, width });
    check(await page.$$eval("#moves th, #moves td.n", broken).then((cells) => cells.length) === 0, `no heading or number of a move breaks at ${width}`);
  }
  await page.setViewport(wide);
  await page.focus('#grid [data-name="d2"]').catch(() => null);
  await page.$eval('#grid [data-name="d2"]', (cell) => cell.focus());
  await page.keyboard.press("Enter");
  await page.$eval('#grid [data-name="d3"]', (cell) => cell.focus());
  await page.keyboard.press("Enter");
  await plies(4);
  await page.type("#move", "Ke9");
  await page.keyboard.press("Enter");
  await until(page, () => document.querySelector("#problem").hidden === false);
  await screenshot(page, "play");
  const pgn = await page.$eval("#pgn", async (link) => (await fetch(link.href)).text());
  check(pgn.includes('[White "Human"]') && /1\. e4 \S+ \{\[%eval \S+\]\} 2\. d3 /.test(pgn.replace(/\s+/g, " ")), `the game as PGN, not ${pgn}`);
  await page.click("#undo");
  await plies(2);
  await page.click("#flip");
  await page.reload();
  await plies(2);
}

async function main() {
  const { server, address } = await serve();
  const origin = new URL(address).origin;
  const browser = await puppeteer.launch({ executablePath, headless: "shell", args: ["--no-sandbox", "--disable-gpu"] });
  const faults = [];
  try {
    const desktop = await openPage(browser, origin, faults);
    await watch(desktop, address, origin);
    await charts(desktop);
    await step(desktop);
    await screenshot(desktop, "run");
    await sweep();
    await phone(browser, origin, faults);
    await compare(desktop, origin);
    await games(desktop, origin);
    await plain(browser, origin);
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
