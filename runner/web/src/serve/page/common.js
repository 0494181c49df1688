// Shared by all pages: requests, server-sent events, elements, number formats, light and dark colours.

export const at = (id) => document.getElementById(id);

// An element with its text, attributes and children.
export function make(tag, { text, children, ...attributes } = {}) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  if (text !== undefined && text !== null) element.textContent = text;
  if (children) element.append(...children.filter(Boolean));
  return element;
}

// Sets a text, if it differs: unchanged text stays selected and is not read out again.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Makes the children of an element equal to the wanted ones and changes only what differs, so that clicks, selections and the
// keyboard focus survive. Children with a `data-key` are reused wherever they are.
export function patch(parent, wanted) {
  const focused = document.activeElement;
  patchChildren(parent, wanted.map((child) => (child instanceof Node ? child : document.createTextNode(child))));
  if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
}

function patchChildren(parent, wanted) {
  const known = new Map([...parent.children].filter((child) => child.dataset.key).map((child) => [child.dataset.key, child]));
  wanted.forEach((node, index) => {
    const here = parent.childNodes[index] ?? null;
    const key = node.dataset?.key;
    const own = key ? known.get(key) : here?.dataset?.key ? null : here;
    if (own && own !== here) parent.insertBefore(own, here);
    if (own) patchNode(own, node);
    else parent.insertBefore(node, here);
  });
  while (parent.childNodes.length > wanted.length) parent.lastChild.remove();
}

function patchNode(old, node) {
  if (old.nodeName !== node.nodeName) {
    old.replaceWith(node);
  } else if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== node.data) old.data = node.data;
  } else {
    for (const { name } of [...old.attributes]) if (!node.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of node.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    patchChildren(old, [...node.childNodes]);
  }
}

export const encoded = (path) => path.split("/").map(encodeURIComponent).join("/");

// The path of the run or sweep in the page's address.
export const pagePath = () => location.pathname.split("/").slice(2).map(decodeURIComponent).join("/");

export class Rejected extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// Sends a request; a rejected one throws an error with the server's message, and one without an answer another error.
export async function request(path, { method = "GET", body } = {}) {
  const options = { method };
  if (method === "POST") {
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body ?? {});
  }
  const answer = await fetch(path, options).catch(() => { throw new Error("No connection to the server."); });
  const isJson = (answer.headers.get("Content-Type") ?? "").startsWith("application/json");
  const value = isJson ? await answer.json() : null;
  if (!answer.ok) throw new Rejected(answer.status, value?.error ?? failure(answer.status));
  return value;
}

const failure = (status) => (status === 401 || status === 403 ? "The server was restarted: open the address that it prints." : `The server answered with status ${status}.`);

// Listens to events while the page is visible: browsers allow few connections to a server, and hidden pages need none.
// A lost connection is restored automatically, and the server continues after the last event.
export function listen(path, handlers) {
  let source = null;
  let again = 0;
  const close = () => {
    clearTimeout(again);
    source?.close();
    source = null;
  };
  const open = () => {
    if (source || document.hidden) return;
    const own = new EventSource(path);
    source = own;
    own.onopen = () => { showLink("live", "live"); };
    own.onerror = async () => {
      if (source !== own) return;
      showLink("lost", "no connection; trying again");
      if (own.readyState !== EventSource.CLOSED) return;
      close();
      again = setTimeout(open, 3000);
      // Shows why the server rejects requests; without an answer there is nothing to add.
      await request("/api/limits").catch((error) => { if (error instanceof Rejected) showLink("lost", error.message); });
    };
    for (const [name, handler] of Object.entries(handlers)) {
      own.addEventListener(name, (event) => handler(JSON.parse(event.data)));
    }
  };
  open();
  document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else open(); });
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => { if (event.persisted) open(); });
}

// Resolves once the page is visible.
export async function visible() {
  while (document.hidden) await new Promise((resolve) => { document.addEventListener("visibilitychange", resolve, { once: true }); });
}

export const pause = (time) => new Promise((resolve) => { setTimeout(resolve, time); });

function showLink(state, text) {
  at("link").dataset.state = state;
  setText(at("link"), text);
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  const whole = Math.round(seconds);
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

export function amount(count) {
  const sizes = [["", 1], ["k", 1e3], ["M", 1e6], ["G", 1e9], ["T", 1e12]];
  const [prefix, size] = sizes.find(([, factor]) => count < factor * 999.5) ?? sizes[4];
  const scaled = count / size;
  if (!prefix && Number.isInteger(scaled)) return String(scaled);
  return scaled.toFixed(scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0) + prefix;
}

// A number with four decimals.
export const precise = (value) => value.toFixed(4).replace("-", "−");

export const percent = (share) => (100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0) + " %";
export function signed(value) {
  const shown = Math.abs(value).toFixed(2);
  return (value < 0 && shown !== "0.00" ? "−" : "+") + shown;
}
export const signedWhole = (value) => (Math.round(value) < 0 ? "−" : Math.round(value) > 0 ? "+" : "") + Math.abs(Math.round(value));
export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
export const when = (time) => (time ? new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) : "–");

const STATES = {
  running: ["▶", "running"],
  stopped: ["■", "stopped; the same command resumes it"],
  cut: ["✕", "interrupted in a step; the same command resumes it"],
  rests: ["✓", "no step is running"],
  damaged: ["⚠", "damaged"],
};

// A state as a sign and a text, never as a colour alone.
export function badge(state) {
  const [sign, text] = STATES[state] ?? ["?", state];
  const mark = make("span", { text: sign, "aria-hidden": "true", class: "sign" });
  return make("span", { class: "badge", "data-state": state, children: [mark, make("span", { text })] });
}

// The badges of a run or sweep; one that is damaged says so, whether it runs or not.
export function badges({ state, damage }) {
  if (!damage) return [badge(state)];
  return state === "running" ? [badge(state), " ", badge("damaged")] : [badge("damaged")];
}

// Characters of a log that a page keeps.
const MAX_LOG = 200_000;

// Appends lines to the log; a reader at its end stays at its end.
export function showLog({ reset, text }) {
  const log = at("log");
  at("log-card").hidden = false;
  const isAtEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 20;
  if (reset) log.replaceChildren();
  log.append(text);
  let length = log.textContent.length;
  while (length > MAX_LOG && log.childNodes.length > 1) {
    length -= log.firstChild.length;
    log.firstChild.remove();
  }
  if (isAtEnd) log.scrollTop = log.scrollHeight;
}

(() => {
  const root = document.documentElement;
  const button = at("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("dc0-theme", root.dataset.theme); } catch { /* Then the choice is not stored. */ }
    name();
    dispatchEvent(new Event("dc0-theme"));
  });
  system.addEventListener("change", name);
  name();
})();
