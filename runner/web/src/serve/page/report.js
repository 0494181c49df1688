// The report of runs in a frame of its own. When the run has new data, a new frame is loaded beside the old one and replaces it
// once it is complete, so that nothing flickers and the page does not jump.
import { at, pause, visible } from "./common.js";

export class Report {
  // `address` is that of the report, but for its version.
  constructor(address) {
    this.address = address;
    this.frame = null;
    this.shown = null;
    this.wanted = null;
    this.isLoading = false;
    this.observer = new ResizeObserver(() => this.fit());
    addEventListener("dc0-theme", () => this.theme());
  }

  show(version) {
    this.wanted = version;
    if (!this.isLoading && version !== this.shown) this.load();
  }

  load() {
    const version = this.wanted;
    this.isLoading = true;
    const frame = document.createElement("iframe");
    frame.className = "report coming";
    frame.title = "Charts";
    frame.src = this.address + encodeURIComponent(version);
    frame.addEventListener("load", () => this.take(frame, version));
    at("report").append(frame);
  }

  take(frame, version) {
    this.isLoading = false;
    if (!frame.contentDocument?.body || frame.contentDocument.contentType !== "text/html") {
      // The server is busy or gone, or the run is gone; the old report stays until there is a new one.
      frame.remove();
      this.retry();
      return;
    }
    this.frame?.remove();
    this.frame = frame;
    this.shown = version;
    frame.classList.remove("coming");
    // The page around it has a heading and a colour switch already.
    const header = frame.contentDocument.querySelector("header");
    if (header) header.style.display = "none";
    this.theme();
    this.observer.disconnect();
    this.observer.observe(frame.contentDocument.body);
    this.fit();
    if (this.wanted !== version) this.load();
  }

  async retry() {
    await pause(3000);
    await visible();
    if (!this.isLoading && this.wanted !== this.shown) this.load();
  }

  fit() {
    const body = this.frame?.contentDocument?.body;
    if (body) this.frame.style.height = `${body.scrollHeight + 20}px`;
  }

  theme() {
    const root = this.frame?.contentDocument?.documentElement;
    const chosen = document.documentElement.dataset.theme;
    if (root && chosen) root.dataset.theme = chosen;
  }
}
