// The stage: a session's picture, what is said over it, and the bar of keys below it.

import { Absence } from "./absence.js";
import { ControlBar } from "./control-bar.js";
import { element, setText } from "./dom.js";
import { figureRows } from "./figures.js";
import { FullScreen } from "./full-screen.js";
import { Player } from "./heliograph.js";
import { PictureInPicture } from "./picture-in-picture.js";
import { SoundBar } from "./sound-bar.js";
import { feedBadge, recordingText } from "./words.js";

/**
 * Shows one session at a time. It pauses while the page is hidden, so that no encoder runs for a page that was left.
 *
 * Its event `player` comes with each new player, as its `detail`; `change` when it pauses or plays, and with full
 * screen and picture-in-picture.
 */
export class Stage extends EventTarget {
  /** @param {string} [advice] What to say after that this browser cannot play the session. */
  constructor(advice = "") {
    super();
    this.advice = advice;
    this.canvas = element("canvas", { class: "picture", width: 1280, height: 720, role: "img", "aria-label": "The session's picture" });
    this.message = element("p", { class: "message", role: "status", text: "Connecting" });
    this.badge = element("span", { class: "badge", hidden: true });
    this.recording = element("span", { class: "badge corner", hidden: true });
    this.overlay = element("dl", { class: "overlay", hidden: true });
    this.root = element("div", { class: "stage" }, this.canvas, this.badge, this.recording, this.overlay, this.message);
    this.control = new ControlBar(this.root);
    this.sound = new SoundBar();
    /** What full screen shows. */
    this.theatre = element("div", { class: "theatre" }, this.root, this.control.bar);
    this.fullScreen = new FullScreen(this.theatre);
    this.leave = element("button", { type: "button", class: "leave", text: "Leave full screen", hidden: true, on: { click: () => this.fullScreen.toggle() } });
    this.root.append(this.leave);
    this.small = new PictureInPicture(this.canvas, { pause: () => this.pause(), resume: () => this.resume() });
    /** Whether it is in use although the page is hidden. A view may say more. */
    this.isUsed = () => false;
    this.absence = new Absence({
      left: () => this.left(),
      back: () => this.back(),
      isUsed: () => this.small.isOn || this.isUsed(),
    });
    this.root.addEventListener("click", ({ target }) => !target.closest("button") && this.resume());
    this.fullScreen.addEventListener("change", () => {
      this.leave.hidden = !this.fullScreen.fillsWindow;
      this.changed();
    });
    this.small.addEventListener("change", () => {
      if (document.hidden) this.player?.sound.seen(false);
      this.absence.look();
      this.changed();
    });
  }

  // The stream

  /**
   * Plays a session in place of the one before. `?player=` in the page's address selects the only player to try.
   *
   * @param {import("./screen.js").Screen} screen
   * @param {{ codec?: "h264" | "h265", fps?: number }} [known] What is known of the session.
   * @returns {Player}
   */
  play(screen, { codec, fps } = {}) {
    this.player?.close();
    const wanted = new URLSearchParams(location.search).get("player") ?? undefined;
    const player = new Player(this.canvas, screen, { player: wanted, codec, fps, control: { label: false } });
    this.player = player;
    const on = (type, listener) => player.addEventListener(type, ({ detail }) => player === this.player && listener(detail));
    on("state", ({ state, text }) => this.isNow(state, text));
    on("event", (event) => this.told(event));
    on("player", () => this.changed());
    on("statistics", () => this.drawOverlay());
    // For tests, which read the pictures from the canvas.
    on("presented", (detail) => this.canvas.dispatchEvent(new CustomEvent("presented", { detail })));
    this.control.attach(player.control);
    this.sound.attach(player.sound);
    if (this.absence.isLeft) player.pause();
    this.dispatchEvent(new CustomEvent("player", { detail: player }));
    return player;
  }

  get isPaused() {
    return this.player?.isPaused === true;
  }

  pause() {
    this.player?.pause();
  }

  resume() {
    this.player?.resume();
  }

  togglePause() {
    if (this.isPaused) this.resume();
    else this.pause();
  }

  /** The page is not seen any more. */
  left() {
    this.wasPlaying = !this.isPaused;
    this.pause();
  }

  back() {
    if (this.wasPlaying) this.resume();
  }

  end() {
    this.absence.end();
    this.small.end();
    this.fullScreen.end();
    this.player?.close();
  }

  // What it says

  isNow(state, text) {
    this.say(state === "unsupported" ? `${text} ${this.advice}`.trim() : text);
    this.root.classList.toggle("paused", state === "paused");
    this.showBadge();
    this.changed();
  }

  told({ type, feed }) {
    if (!this.session) return;
    // A viewer wakes the session.
    if (type === "hello") this.session.asleep = false;
    if (type === "feed") this.session.feed = feed;
    if (type === "hello" || type === "feed") this.showBadge();
  }

  /** Shows a session's report. @param {object} session @param {string} [kind] The kind of the device's source. */
  show(session, kind) {
    Object.assign(this, { session, kind });
    this.showBadge();
    const [text, look] = recordingText(session);
    this.recording.hidden = !text;
    setText(this.recording, text);
    this.recording.className = `badge corner ${look}`;
    this.recording.title = session.recording?.problem ?? "";
  }

  /** Why the pictures are not what they should be; empty if they are. */
  why = "";

  showBadge() {
    const isCut = !this.isPaused && (this.isUnreachable || this.player?.isCut);
    const notice = isCut ? ["Not connected", true, ""] : (this.session && feedBadge(this.session, this.kind)) ?? ["", false, ""];
    const [text, isBad, why] = this.isPaused ? ["", false, ""] : notice;
    this.badge.hidden = !text;
    this.badge.className = isBad ? "badge bad" : "badge";
    if (text) setText(this.badge, text);
    this.why = why;
    this.changed();
  }

  say(text) {
    setText(this.message, text);
    this.message.hidden = text === "";
  }

  toggleOverlay() {
    this.overlay.hidden = !this.overlay.hidden;
    this.drawOverlay();
  }

  drawOverlay() {
    if (this.overlay.hidden) return;
    const rows = figureRows(this.player, this.session);
    this.overlay.replaceChildren(...rows.flatMap(([name, text]) => [element("dt", { text: name }), element("dd", { text })]));
  }

  changed() {
    this.dispatchEvent(new Event("change"));
  }
}
