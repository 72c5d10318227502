// A session's picture on its card: a snapshot now and then, none while the card is out of sight or the snapshot would keep the session awake.

import { address } from "./api.js";
import { element, setText } from "./dom.js";

/** Between one snapshot and the next, ms. */
const INTERVAL = 2000;

export class Thumbnail {
  constructor(session, label) {
    this.address = `${address("http", session, "snapshot.jpg")}?use=false`;
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

  /** Fetches snapshots one after the other for as long as somebody may look. */
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
      const response = await fetch(this.address);
      if (!response.ok) throw new Error("no snapshot");
      const url = URL.createObjectURL(await response.blob());
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
    setText(this.words, "Asleep until somebody watches");
  }

  end() {
    this.hasEnded = true;
    this.observer.disconnect();
    document.removeEventListener("visibilitychange", this.update);
  }
}
