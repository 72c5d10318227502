// A session as one JPEG after the other, which the browser shows by itself: for a browser that can decode no video.

import { pauseAfter } from "./pauses.js";

/** Pictures a second at most: each is compressed by itself. */
const highestRate = 10;

/**
 * Shows a session's JPEG pictures in a canvas's place.
 *
 * Events: `presented` when a picture is there; `trouble` {text, isUnsupported, hasEnded}.
 */
export class MotionJPEGPlayer extends EventTarget {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {import("./screen.js").Screen} screen
   * @param {number} [fps] The session's. If absent, the relay chooses the rate.
   */
  constructor(canvas, screen, fps) {
    super();
    const query = fps === undefined ? "" : `?fps=${Math.min(fps, highestRate)}`;
    Object.assign(this, { canvas, screen, name: `stream.mjpeg${query}`, failures: 0 });
    this.image = document.createElement("img");
    this.image.alt = canvas.getAttribute("aria-label") ?? "The session's picture";
    this.image.className = canvas.className;
    this.image.style.maxWidth = canvas.style.maxWidth;
    // An image with a picture has a size. Not every browser has an event for each picture.
    this.image.addEventListener("load", () => this.shown());
    this.image.addEventListener("error", () => this.failed());
    canvas.hidden = true;
    canvas.after(this.image);
    this.timer = setInterval(() => this.hasPicture && this.shown(), 250);
    this.retry();
  }

  /** Starts again, at once. */
  retry() {
    clearTimeout(this.pause);
    this.image.src = this.screen.address(this.name);
  }

  shown() {
    this.failures = 0;
    this.dispatchEvent(new CustomEvent("presented"));
  }

  async failed() {
    if (this.ended) return;
    const why = await this.screen.refusal(this.name);
    if (this.ended) return;
    this.failures += 1;
    const hasEnded = why?.code === "unknown_session" && !this.screen.isLasting;
    const isUnsupported = why?.status === 404 && why.code !== "unknown_session";
    const pause = pauseAfter(this.failures);
    const text = hasEnded ? "This session has ended." : `${why?.message ?? "The pictures broke off."} Trying again in ${pause / 1000} s.`;
    this.dispatchEvent(new CustomEvent("trouble", { detail: { text, isUnsupported, hasEnded } }));
    if (!hasEnded) this.pause = setTimeout(() => this.retry(), pause);
  }

  get hasPicture() {
    return this.image.naturalWidth > 0;
  }

  close() {
    this.ended = true;
    clearInterval(this.timer);
    clearTimeout(this.pause);
    // Ends the response.
    this.image.removeAttribute("src");
    this.image.remove();
    this.canvas.hidden = false;
  }
}
