// A session's picture on its card: a periodic snapshot. It stops while the card is out of sight, or if snapshots would
// keep the session awake.

import { element, setText } from "./dom.js";
import { relay } from "./site.js";

/** The time between two snapshots, ms. */
const INTERVAL = 2000;

export class Thumbnail {
  constructor(session, label) {
    this.session = relay.session(session);
    this.image = element("img", { alt: "", hidden: true });
    this.words = element("span", { text: "Waiting for a picture" });
    this.root = element("a", { class: "thumbnail", href: `#/session/${session}`, "aria-label": `Watch ${label}` }, this.image, this.words);
    /** Whether the session may be asked for snapshots. */
    this.mayAsk = false;
    this.update = this.update.bind(this);
    this.observer = new IntersectionObserver(([entry]) => {
      this.isInSight = entry.isIntersecting;
      this.update();
    });
    this.observer.observe(this.root);
    document.addEventListener("visibilitychange", this.update);
  }

  update() {
    const wanted = Boolean(this.isInSight) && !document.hidden && !this.hasEnded;
    if (wanted && !this.isShowing) this.show();
  }

  /** Fetches snapshots one after the other while the card can be seen. */
  async show() {
    this.isShowing = true;
    while (this.isInSight && !document.hidden && !this.hasEnded) {
      if (this.mayAsk) await this.fetch();
      else this.rest();
      await new Promise((done) => setTimeout(done, INTERVAL));
    }
    this.isShowing = false;
  }

  async fetch() {
    try {
      const url = URL.createObjectURL(await this.session.snapshot({ format: "jpg", fresh: false, use: false }));
      // The last picture stays until the next one can be drawn.
      this.image.onload = this.image.onerror = () => URL.revokeObjectURL(url);
      this.image.src = url;
      this.image.hidden = false;
      setText(this.words, "");
    } catch {
      if (this.image.hidden) setText(this.words, "No picture yet");
    }
  }

  rest() {
    this.image.hidden = true;
    setText(this.words, "Asleep until watched");
  }

  end() {
    this.hasEnded = true;
    this.observer.disconnect();
    document.removeEventListener("visibilitychange", this.update);
  }
}
