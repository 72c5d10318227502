// A small picture of a recording at any time, from its storyboard.

import { element } from "./dom.js";
import { cueAt } from "./heliograph.js";

/** How long a pointer rests before the storyboard is fetched, ms: it may only pass by. */
const PAUSE = 100;
/** How long the storyboard's last picture counts after its end, s. Later, what the screen shows is unknown. */
const SLACK = 1;

/** A box that shows the picture of a time. It is hidden while there is none. */
export class Preview {
  /** @param {import("./library.js").Recorded} recorded */
  constructor(recorded) {
    this.recorded = recorded;
    /** The sheets that could not be loaded. */
    this.broken = new Set();
    this.image = element("img", { alt: "" });
    // Shows the picture's part of the sheet.
    this.frame = element("span", { class: "frame" }, this.image);
    this.root = element("span", { class: "preview", hidden: true }, this.frame);
  }

  /** Says what the library knows about the recording. @param {import("./library.js").LibraryItem} item */
  update({ state, thumbnail }) {
    if (state !== this.state) this.cues = undefined;
    this.state = state;
    // A recording without a thumbnail has no other pictures.
    this.isPossible = thumbnail;
  }

  /** Shows the picture of a time, when it is there. @param {number} time In s. */
  async show(time) {
    this.time = time;
    if (!this.isPossible) return;
    if (!this.cues) await this.load();
    if (this.cues) await this.draw();
  }

  hide() {
    this.time = undefined;
    this.root.hidden = true;
    // The next time there may be more pictures.
    if (this.state === "recording" || this.hasFailed) this.cues = undefined;
  }

  async load() {
    if (this.isLoading) return;
    this.isLoading = true;
    await new Promise((done) => setTimeout(done, PAUSE));
    if (this.time !== undefined) await this.fetch();
    this.isLoading = false;
  }

  /** Asks for the storyboard. Errors are not shown, because the page says what matters more. */
  async fetch() {
    this.broken.clear();
    this.hasFailed = false;
    this.cues = await this.recorded.storyboard().catch((error) => {
      this.hasFailed = error.code !== "unknown_item";
      return [];
    });
  }

  async draw() {
    const cue = this.cue();
    if (cue && cue.sheet !== this.sheet) {
      this.sheet = cue.sheet;
      const image = element("img", { alt: "", src: cue.sheet });
      await image.decode().catch(() => this.broken.add(cue.sheet));
      // The pointer may be elsewhere by now.
      if (this.sheet !== cue.sheet) return;
      if (this.broken.has(cue.sheet)) {
        this.sheet = undefined;
      } else {
        this.image.replaceWith(image);
        this.image = image;
      }
    }
    this.place();
  }

  /** Shows the part of the loaded sheet that is the picture of the time. */
  place() {
    const cue = this.cue();
    this.root.hidden = cue === undefined || cue.sheet !== this.image.src;
    if (this.root.hidden) return;
    const scale = Math.min(this.root.clientWidth / cue.width, this.root.clientHeight / cue.height);
    this.frame.style.width = `${cue.width * scale}px`;
    this.frame.style.height = `${cue.height * scale}px`;
    this.image.style.transform = `scale(${scale}) translate(${-cue.x}px, ${-cue.y}px)`;
  }

  cue() {
    if (this.time === undefined || !this.cues) return undefined;
    const cue = cueAt(this.cues, this.time);
    return cue && this.time <= cue.end + SLACK && !this.broken.has(cue.sheet) ? cue : undefined;
  }
}
