// One device on the wall: its picture, its state, and what the caller may do.

import { element, setText } from "./dom.js";
import { labelTexts } from "./filters.js";
import { askForBroadcast, askForSession, stopWith } from "./forms.js";
import { Player } from "./heliograph.js";
import { sessionPlace } from "./places.js";
import { relay } from "./site.js";
import { mainSession, startWatching } from "./watch.js";
import { broadcastState, feedBadge, recordingText, sessionName, viewersText } from "./words.js";

/** How long a pointer or the focus rests on a tile before its screen is shown live, ms. */
const REST = 1000;

export class Tile {
  constructor({ broadcast: { device } }) {
    this.device = device;
    this.build();
  }

  build() {
    const { device } = this;
    const button = (text, click, properties) => element("button", { type: "button", text, on: { click }, ...properties });
    this.image = element("img", { alt: "", hidden: true });
    this.words = element("span");
    this.thumbnail = element("div", { class: "thumbnail" }, this.image, this.words);
    this.link = element("a", { text: device });
    this.state = element("p", { class: "state" });
    this.badge = element("span", { class: "badge" });
    this.recording = element("span", { class: "badge" });
    this.badges = element("p", { class: "badges" }, this.badge, this.recording);
    this.labels = element("p", { class: "labels" });
    this.facts = element("p", { class: "quiet" });
    this.others = element("p", { class: "others quiet" });
    this.detail = element("p", { class: "wrong" });
    this.wrong = element("p", { class: "wrong", role: "alert" });
    this.watch = button("Watch", () => this.goAndWatch(), { class: "main changes", "aria-label": `Watch ${device}` });
    this.start = button("Start…", () => askForBroadcast(device));
    this.session = button("New session…", () => askForSession([device]));
    this.stop = button("Stop", () => this.run(this.stop, () => this.stopDevice()));
    const more = element("summary", { text: "More", "aria-label": `More for ${device}` });
    this.more = element("details", { class: "more changes" }, more, element("div", { class: "actions" }, this.start, this.session, this.stop));
    this.root = element(
      "article",
      { class: "card tile", "aria-label": `Device ${device}` },
      this.thumbnail,
      element(
        "div",
        { class: "text" },
        element("div", { class: "line" }, element("h2", {}, this.link), this.state),
        this.badges,
        this.labels,
        this.facts,
        this.others,
        this.detail,
        this.wrong,
        element("div", { class: "actions" }, this.watch, this.more),
      ),
    );
    for (const type of ["pointerenter", "focusin"]) this.root.addEventListener(type, (event) => this.rests(event));
    for (const type of ["pointerleave", "focusout"]) this.root.addEventListener(type, () => this.leaves());
  }

  // What it shows

  /** @param {{ broadcast: object, sessions: object[] }} device What is known of it, and of its sessions. */
  update({ broadcast, sessions }) {
    if (broadcast === this.broadcast && sessions.length === this.sessions.length && sessions.every((session, place) => session === this.sessions[place])) return;
    Object.assign(this, { broadcast, sessions });
    const [words, mood] = broadcastState(broadcast);
    setText(this.state, words);
    this.state.className = `state ${mood}`;
    this.mood = mood;
    this.showLabels(labelTexts(broadcast));
    this.showMain(mainSession(sessions));
    const viewers = sessions.reduce((sum, session) => sum + session.viewers, 0);
    setText(this.facts, viewers > 0 ? viewersText(viewers) : "");
    const { source, state } = broadcast;
    setText(this.detail, source.state === "streaming" ? "" : source.detail ?? "");
    if (state === "idle") this.darken();
    this.start.hidden = state !== "idle";
    this.stop.hidden = state === "idle";
  }

  showLabels(texts) {
    if (texts.join("\n") === this.labelTexts) return;
    this.labelTexts = texts.join("\n");
    this.labels.replaceChildren(...texts.map((text) => element("span", { class: "label", text })));
  }

  /** Shows the session by which the device is watched, and links to the others. */
  showMain(session) {
    if (session?.id !== this.main?.id) this.darken();
    this.main = session;
    if (session) this.link.href = sessionPlace(session);
    else this.link.removeAttribute("href");
    const badge = session ? feedBadge(session, this.broadcast.source.kind) : null;
    // Without a broadcast there are no pictures, which the state says.
    const isTold = badge !== null && this.broadcast.state !== "idle";
    this.badge.hidden = !isTold;
    if (isTold) {
      setText(this.badge, badge[0]);
      this.badge.className = badge[1] ? "badge bad" : "badge";
      this.badge.title = badge[2];
    }
    const [recording, kind] = session ? recordingText(session, true) : ["", ""];
    this.recording.hidden = !recording;
    setText(this.recording, recording);
    this.recording.className = `badge ${kind}`;
    this.recording.title = session?.recording?.problem ?? "";
    this.badges.hidden = this.badge.hidden && this.recording.hidden;
    if (this.image.hidden) setText(this.words, this.emptyText());
    const others = this.sessions.filter((other) => other !== session);
    const links = others.map((other) => element("a", { href: sessionPlace(other), text: sessionName(other) }));
    this.others.replaceChildren(...(links.length ? ["Also: ", ...links.flatMap((link) => [link, " "])] : []));
  }

  emptyText() {
    if (this.broadcast.state === "idle") return "Off";
    return this.main ? "No picture yet" : "No session";
  }

  /** Shows a picture of its main session. @param {Blob} picture */
  show(picture) {
    const url = URL.createObjectURL(picture);
    // The last picture stays until this one can be drawn.
    this.image.onload = this.image.onerror = () => URL.revokeObjectURL(url);
    this.image.src = url;
    this.image.hidden = false;
    setText(this.words, "");
  }

  /** Shows that there is no picture. */
  darken() {
    this.image.hidden = true;
    this.image.removeAttribute("src");
    if (this.broadcast) setText(this.words, this.emptyText());
  }

  // Live

  /** Shows the screen live after a while. Fingers do not rest: they scroll. */
  rests({ pointerType }) {
    if (pointerType === "touch" || this.timer !== undefined) return;
    this.timer = setTimeout(() => this.goLive(), REST);
  }

  leaves() {
    if (this.root.matches(":hover") || this.root.contains(document.activeElement)) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.player?.close();
    this.player = undefined;
  }

  goLive() {
    if (!this.main || this.mood !== "good" || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const { id, codec, fps } = this.main;
    this.player = new Player(this.thumbnail, relay.session(id), { codec, fps });
  }

  // The user's actions

  /** Runs a button's action. The button is disabled meanwhile, and errors are shown. */
  async run(button, action) {
    button.disabled = true;
    setText(this.wrong, "");
    try {
      await action();
    } catch (error) {
      setText(this.wrong, error.message);
    }
    button.disabled = false;
  }

  goAndWatch() {
    return this.run(this.watch, async () => {
      setText(this.watch, "Starting…");
      try {
        const session = await startWatching(this.broadcast, this.sessions);
        if (!this.hasEnded) location.hash = sessionPlace(session);
      } finally {
        setText(this.watch, "Watch");
      }
    });
  }

  async stopDevice() {
    const sessions = await relay.sessions({ device: this.device });
    const own = this.player ? 1 : 0;
    const others = sessions.reduce((sum, { viewers }) => sum + viewers, 0) - own;
    await stopWith(`the device ${this.device}`, Math.max(others, 0), () => relay.device(this.device).stop());
  }

  end() {
    this.hasEnded = true;
    clearTimeout(this.timer);
    this.player?.close();
  }
}
