// The line below a recording: its gaps, the clip, and where it plays.

import { element } from "./dom.js";
import { gapText } from "./words.js";

export class Timeline {
  /** `seek` is called with the time that a person chooses, in s. */
  constructor(seek) {
    this.gaps = element("div");
    this.clip = element("div", { class: "clip" });
    this.head = element("div", { class: "head" });
    this.root = element("div", { class: "timeline", role: "img" }, this.clip, this.gaps, this.head);
    const choose = (event) => {
      const { left, width } = this.root.getBoundingClientRect();
      if (this.seconds) seek(Math.min(Math.max((event.clientX - left) / width, 0), 1) * this.seconds);
    };
    this.root.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.root.setPointerCapture(event.pointerId);
      choose(event);
    });
    this.root.addEventListener("pointermove", (event) => {
      if (this.root.hasPointerCapture(event.pointerId)) choose(event);
    });
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
    this.seconds = seconds;
    const share = (value) => `${Math.min(value / seconds, 1) * 100}%`;
    this.head.hidden = !seconds;
    this.clip.hidden = !seconds || (start === undefined && end === undefined);
    if (!seconds) return;
    this.head.style.left = share(time);
    this.clip.style.left = share(start ?? 0);
    this.clip.style.width = share((end ?? seconds) - (start ?? 0));
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
    this.root.setAttribute("aria-label", gaps.length ? `Gaps. ${gaps.map(gapText).join(". ")}` : "No gaps");
  }
}
