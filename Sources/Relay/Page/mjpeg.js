// A session as one JPEG after the other, which the browser shows by itself: where it can decode no video.

import { address, api } from "./api.js";
import { element } from "./dom.js";
import { paint } from "./paint.js";

/** Pictures a second: each is compressed by itself. */
const highestRate = 10;
const pauses = [500, 1000, 2000, 4000, 8000];

/** Events: `presented` when a picture is there, `trouble` {text}. */
export class MotionJPEGPlayer extends EventTarget {
  /** Shows its pictures in the canvas's place. */
  constructor(canvas, { id, fps }) {
    super();
    Object.assign(this, { canvas, session: id, name: `stream.mjpeg?fps=${Math.min(fps, highestRate)}`, failures: 0 });
    this.image = element("img", { class: "picture", alt: "The session's picture" });
    // Where there is a picture the image has a size; not every browser tells of each.
    this.image.addEventListener("load", () => this.shown());
    this.image.addEventListener("error", () => this.failed());
    canvas.hidden = true;
    canvas.after(this.image);
    this.timer = setInterval(() => this.image.naturalWidth > 0 && this.shown(), 250);
    this.start();
  }

  start() {
    clearTimeout(this.retry);
    this.image.src = address("http", this.session, this.name);
  }

  shown() {
    this.failures = 0;
    this.dispatchEvent(new CustomEvent("presented"));
  }

  async failed() {
    if (this.ended) return;
    const why = await api.streamRefusal(this.session, this.name);
    if (this.ended) return;
    this.failures += 1;
    const pause = pauses[Math.min(this.failures, pauses.length) - 1];
    const text = why?.code === "unknown_session" ? "This session has ended." : `${why?.message ?? "The pictures broke off."} Trying again in ${pause / 1000} s.`;
    this.dispatchEvent(new CustomEvent("trouble", { detail: { text, isUnsupported: why?.status === 404 && why.code !== "unknown_session" } }));
    if (why?.code !== "unknown_session") this.retry = setTimeout(() => this.start(), pause);
  }

  /** Puts the picture on the canvas, to be saved. */
  paint() {
    const { naturalWidth, naturalHeight } = this.image;
    if (naturalWidth > 0) paint(this.canvas, this.image, naturalWidth, naturalHeight, 0);
  }

  close() {
    this.ended = true;
    clearInterval(this.timer);
    clearTimeout(this.retry);
    // Ends the response.
    this.image.removeAttribute("src");
    this.image.remove();
    this.canvas.hidden = false;
  }
}
