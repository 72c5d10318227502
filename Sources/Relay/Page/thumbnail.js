// A session's picture on its card. Only keyframes are decoded, and nothing is fetched while the card is out of sight.

import { element, setText } from "./dom.js";
import { Decoder, obstacle } from "./decoder.js";
import { Stream } from "./stream.js";

export class Thumbnail {
  constructor(session, label) {
    this.session = session;
    this.canvas = element("canvas", { width: 16, height: 9, hidden: true });
    this.words = element("span", { text: "Waiting for a picture" });
    this.root = element("a", { class: "thumbnail", href: `#/session/${session}`, "aria-label": `Watch ${label}` }, this.canvas, this.words);
    this.update = this.update.bind(this);
    this.observer = new IntersectionObserver(([entry]) => {
      this.isInSight = entry.isIntersecting;
      this.update();
    });
    this.observer.observe(this.root);
    document.addEventListener("visibilitychange", this.update);
  }

  /** Whether it counts among the session's viewers now. */
  get isWatching() {
    return this.stream !== undefined;
  }

  update() {
    const wanted = this.isInSight && !document.hidden;
    if (wanted && !this.stream) this.start();
    if (!wanted && this.stream) this.stop();
  }

  start() {
    const hindrance = obstacle();
    if (hindrance) return setText(this.words, "No preview in this browser");
    this.decoder = new Decoder(this.canvas, { keyframesOnly: true });
    this.decoder.addEventListener("presented", () => {
      this.canvas.hidden = false;
      setText(this.words, "");
    });
    this.decoder.addEventListener("trouble", () => setText(this.words, "No preview in this browser"));
    this.stream = new Stream(this.session);
    this.stream.addEventListener("configuration", ({ detail }) => this.decoder.configure(detail));
    this.stream.addEventListener("picture", ({ detail }) => this.decoder.decode(detail));
  }

  stop() {
    this.stream.end();
    this.decoder.close();
    this.stream = undefined;
  }

  end() {
    this.observer.disconnect();
    document.removeEventListener("visibilitychange", this.update);
    if (this.stream) this.stop();
  }
}
