// The line below a recording: its gaps, the clip, and where it plays. The pointer over it shows what there is to see.

import { element, setText } from "./dom.js";
import { duration, gapText } from "./words.js";

/** How far keys go, s. The page itself has the left and the right arrow key. */
const STEPS = { ArrowDown: -5, ArrowUp: 5, PageDown: -60, PageUp: 60, Home: -Infinity, End: Infinity };

export class Timeline {
  /**
   * @param {(time: number) => void} seek Called with the time that a person chooses, in s.
   * @param {import("./preview.js").Preview} preview
   */
  constructor(seek, preview) {
    this.preview = preview;
    this.gaps = element("div");
    this.clip = element("div", { class: "clip" });
    this.head = element("div", { class: "head" });
    this.words = element("span");
    this.bubble = element("div", { class: "bubble", hidden: true, "aria-hidden": "true" }, preview.root, this.words);
    this.root = element(
      "div",
      { class: "timeline", role: "slider", tabIndex: 0, "aria-label": "Time", "aria-valuemin": "0" },
      this.clip,
      this.gaps,
      this.head,
      this.bubble,
    );
    const choose = (event) => {
      if (this.seconds) seek(this.timeAt(event));
    };
    this.root.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.root.setPointerCapture(event.pointerId);
      choose(event);
    });
    this.root.addEventListener("pointermove", (event) => {
      if (this.root.hasPointerCapture(event.pointerId)) choose(event);
      this.isPointed = true;
      if (this.seconds) this.look(this.timeAt(event));
    });
    this.root.addEventListener("pointerleave", () => {
      this.isPointed = false;
      this.follow();
    });
    this.root.addEventListener("focus", () => this.follow());
    this.root.addEventListener("blur", () => this.follow());
    this.root.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (!step || !this.seconds || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      seek(Math.min(Math.max(this.time + step, 0), this.seconds));
    });
  }

  timeAt({ clientX }) {
    const { left, width } = this.root.getBoundingClientRect();
    return Math.min(Math.max((clientX - left) / width, 0), 1) * this.seconds;
  }

  /**
   * @param {object} state
   * @param {number} state.seconds The length of the whole.
   * @param {import("./library.js").Gap[]} state.gaps
   * @param {number} [state.start] Where the clip begins.
   * @param {number} [state.end] Where it ends.
   * @param {number} state.time Where it plays.
   */
  update({ seconds, gaps, start, end, time }) {
    Object.assign(this, { seconds, time });
    const share = (value) => `${Math.min(value / seconds, 1) * 100}%`;
    this.head.hidden = !seconds;
    this.clip.hidden = !seconds || (start === undefined && end === undefined);
    if (!seconds) return;
    this.head.style.left = share(time);
    this.clip.style.left = share(start ?? 0);
    this.clip.style.width = share((end ?? seconds) - (start ?? 0));
    this.root.setAttribute("aria-valuemax", seconds.toFixed(2));
    this.root.setAttribute("aria-valuenow", time.toFixed(2));
    this.root.setAttribute("aria-valuetext", `${duration(time)} of ${duration(seconds)}`);
    if (!this.isPointed) this.follow();
    const state = JSON.stringify([seconds, gaps]);
    if (state === this.shown) return;
    this.shown = state;
    const marks = gaps.map((gap) => {
      const mark = element("div", { class: "gap", title: gapText(gap) });
      mark.style.left = share(gap.start);
      mark.style.width = share(gap.seconds);
      return mark;
    });
    this.gaps.replaceChildren(...marks);
    this.root.setAttribute("aria-description", gaps.length ? `Gaps. ${gaps.map(gapText).join(". ")}` : "No gaps");
  }

  // What there is to see at a time

  /** Shows the picture at which it plays while a keyboard moves it, and nothing otherwise. */
  follow() {
    if (this.seconds && this.root.matches(":focus-visible")) this.look(this.time);
    else this.close();
  }

  look(time) {
    setText(this.words, duration(time));
    this.bubble.hidden = false;
    this.asked = time;
    this.place();
    // Its width changes when the picture is there.
    this.preview.show(time).then(() => this.place());
  }

  /** Puts the bubble above its time, but not beyond the line's ends. */
  place() {
    if (this.bubble.hidden) return;
    const [whole, own] = [this.root.clientWidth, this.bubble.offsetWidth];
    const left = (this.asked / this.seconds) * whole - own / 2;
    this.bubble.style.left = `${Math.max(Math.min(left, whole - own), 0)}px`;
  }

  close() {
    this.bubble.hidden = true;
    this.preview.hide();
  }
}
