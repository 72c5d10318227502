// A recording's picture in the list. The pointer that moves over it, and the arrow keys, show other times.

import { element, setText } from "./dom.js";
import { Preview } from "./preview.js";
import { relay } from "./site.js";
import { duration } from "./words.js";

/** The share of a recording that an arrow key goes on. */
const STEP = 1 / 20;

export class Glance {
  /** @param {number} id The item's. */
  constructor(id) {
    this.recorded = relay.library.item(id);
    this.preview = new Preview(this.recorded);
    this.image = element("img", { alt: "", loading: "lazy", decoding: "async", hidden: true, on: { error: () => this.show(false) } });
    this.time = element("span", { class: "time", hidden: true });
    this.mark = element("span", { class: "mark", hidden: true });
    // The row's name is the link for keyboards and screen readers.
    this.root = element(
      "a",
      { class: "glance", href: `#/library/${id}`, tabIndex: -1, draggable: false, "aria-hidden": "true" },
      this.image,
      this.preview.root,
      this.mark,
      this.time,
    );
    this.root.addEventListener("pointermove", (event) => {
      const { left, width } = this.root.getBoundingClientRect();
      this.goTo((event.clientX - left) / width);
    });
    this.root.addEventListener("pointerleave", () => this.leave());
  }

  /** Shows other times by the arrow keys while `link` has the focus. */
  listen(link) {
    link.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
      if (!step || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      event.preventDefault();
      this.goTo(this.share === undefined ? 0 : this.share + step);
    });
    link.addEventListener("blur", () => this.leave());
  }

  update(item) {
    this.seconds = item.seconds;
    this.preview.update(item);
    if (item.thumbnail !== this.hasThumbnail) this.show(item.thumbnail);
    this.hasThumbnail = item.thumbnail;
  }

  show(hasThumbnail) {
    this.image.hidden = !hasThumbnail;
    this.root.classList.toggle("blank", !hasThumbnail);
    if (hasThumbnail) this.image.src = this.recorded.thumbnailAddress;
    else this.image.removeAttribute("src");
  }

  async goTo(share) {
    this.share = Math.min(Math.max(share, 0), 1);
    await this.preview.show(this.share * this.seconds);
    const isShown = this.share !== undefined && !this.preview.root.hidden;
    this.mark.hidden = this.time.hidden = !isShown;
    if (!isShown) return;
    this.mark.style.width = `${this.share * 100}%`;
    setText(this.time, duration(this.share * this.seconds));
  }

  leave() {
    this.share = undefined;
    this.preview.hide();
    this.mark.hidden = this.time.hidden = true;
  }
}
