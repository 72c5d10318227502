// The view of one recording: the video, its gaps, a clip of it.

import { element, setText } from "./dom.js";
import { askForLabels } from "./forms.js";
import { labelLines } from "./labels.js";
import { Preview } from "./preview.js";
import { Repeat } from "./repeat.js";
import { isForButton, isShortcut } from "./shortcuts.js";
import { relay } from "./site.js";
import { Timeline } from "./timeline.js";
import { offerUndo } from "./undo.js";
import { duration, exactTime, gapText, itemName, itemState, itemText, mayNotLook, ownerText, partText } from "./words.js";

/** The time between two looks at the recording, ms: it may go on, and others may delete it. */
const INTERVAL = 2000;
/** How far the arrow keys go, s. */
const STEP = 5;

export class ItemView {
  constructor(id) {
    this.recorded = relay.library.item(id);
    this.build();
    this.keys = (event) => this.pressed(event);
    document.addEventListener("keydown", this.keys);
  }

  build() {
    const button = (text, key, click, properties = {}) =>
      element("button", { type: "button", "aria-keyshortcuts": key, on: { click }, ...properties }, text, element("kbd", { text: key }));
    this.title = element("h1", { text: "Recording" });
    this.facts = element("p", { class: "quiet" });
    this.badge = element("span", { class: "badge", hidden: true });
    this.owner = element("span", { class: "quiet" });
    this.labels = element("span", { class: "labels" });
    const changed = () => this.drawClip();
    this.video = element("video", {
      class: "picture",
      controls: true,
      preload: "auto",
      playsInline: true,
      hidden: true,
      on: {
        timeupdate: changed,
        seeking: changed,
        loadedmetadata: changed,
        durationchange: changed,
        error: () => this.cannotPlay(),
      },
    });
    this.message = element("p", { class: "message", role: "status", text: "Loading" });
    this.stage = element("div", { class: "stage" }, this.video, this.message);
    this.preview = new Preview(this.recorded);
    this.timeline = new Timeline((time) => (this.video.currentTime = time), this.preview);
    this.growth = element("span");
    this.again = element("button", { type: "button", text: "Load the newest", on: { click: () => this.load() } });
    this.watch = element("a", { class: "button", text: "Watch live" });
    this.grows = element("div", { class: "actions growth", hidden: true }, this.growth, this.again, this.watch);
    this.clip = element("span", { class: "quiet", role: "status" });
    this.buttons = {
      start: button("Set start", "I", () => this.mark("start")),
      end: button("Set end", "O", () => this.mark("end")),
      clear: button("Clear", "X", () => this.setClip()),
      clip: element("a", { class: "button main", download: "", "aria-keyshortcuts": "D" }, "Download clip", element("kbd", { text: "D" })),
      pin: button("Pin", "P", () => this.change({ pinned: !this.item.pinned }), {
        class: "deletes",
        title: "A pinned recording is never deleted to make room.",
      }),
      labels: button("Labels…", "L", () => askForLabels(this.item.labels, (labels) => this.label(labels)), { class: "deletes" }),
      delete: button("Delete", "Del", () => this.delete(), { class: "deletes", "aria-keyshortcuts": "Delete" }),
    };
    const { start, end, clear, clip, pin, labels } = this.buttons;
    this.file = element("a", { class: "button", download: "", text: "Download file" });
    this.wrong = element("p", { class: "wrong", role: "alert" });
    this.gapList = element("ul", { class: "gaps" });
    this.gaps = element("section", { hidden: true }, element("h2", { text: "Gaps" }), this.gapList);
    this.partList = element("ul", { class: "gaps" });
    this.parts = element("section", { hidden: true }, element("h2", { text: "Files of this recording" }), this.partList);
    this.cutting = element("div", { class: "actions" }, start, end, clear, clip, this.clip);
    this.using = element("div", { class: "actions" }, this.file, pin, labels);
    this.main = element(
      "div",
      { class: "player" },
      this.stage,
      this.timeline.root,
      this.grows,
      this.cutting,
      this.using,
      this.wrong,
      this.gaps,
      this.parts,
    );
    this.root = element(
      "div",
      { class: "player" },
      element(
        "div",
        { class: "heading" },
        element(
          "div",
          {},
          element("a", { href: "#/library", text: "← All recordings" }),
          this.title,
          this.facts,
          element("p", { class: "labels" }, this.badge, this.owner, this.labels),
        ),
        this.buttons.delete,
      ),
      this.main,
    );
    this.setClip();
  }

  // The recording's state

  update(known) {
    this.known = known;
    if (!known.mayLook) return this.forbid();
    this.looks ??= new Repeat(INTERVAL, () => this.look());
    this.looks.look();
  }

  async look() {
    if (this.isLooking || this.isGone || !this.known.mayLook) return;
    this.isLooking = true;
    const changes = this.changes;
    try {
      const item = await this.recorded.get();
      // An answer from before a change is out of date.
      if (changes === this.changes) this.show(item);
      if (this.hasFailed) setText(this.wrong, "");
      this.hasFailed = false;
    } catch (error) {
      this.fail(error);
    }
    this.isLooking = false;
  }

  fail(error) {
    // The page says these itself.
    if (error.code === "unreachable" || error.status === 401) return;
    if (error.code === "forbidden_library") return this.forbid();
    if (error.code === "unknown_item" || error.code === "library_unavailable") {
      this.isGone = true;
      this.hideVideo(error.code === "unknown_item" ? "There is no such recording. It may have been deleted." : error.message);
      this.using.hidden = this.buttons.delete.hidden = this.gaps.hidden = true;
    } else {
      this.hasFailed = true;
      setText(this.wrong, error.message);
    }
  }

  /** Says that the key may not look, and hides what was shown to another key. */
  forbid() {
    // The answer to an earlier call is out of date.
    this.changes = (this.changes ?? 0) + 1;
    this.item = undefined;
    setText(this.title, "Recording");
    setText(this.facts, "");
    setText(this.wrong, "");
    this.hideVideo(mayNotLook);
    this.labels.parentElement.hidden = this.using.hidden = this.buttons.delete.hidden = this.gaps.hidden = this.parts.hidden = true;
  }

  show(item) {
    if (this.hasEnded) return;
    const isFirst = !this.item;
    this.item = item;
    const hasPictures = item.width > 0;
    if (isFirst) this.timeline.root.hidden = this.using.hidden = this.buttons.delete.hidden = false;
    // Files of other programs have no session.
    if (isFirst) this.cutting.hidden = item.session === 0;
    if (!hasPictures && item.thumbnail) this.video.poster = this.recorded.thumbnailAddress;
    this.preview.update(item);
    setText(this.title, itemName(item));
    setText(this.facts, itemText(item));
    const [words, kind, why] = itemState(item);
    this.badge.hidden = item.state === "complete";
    this.badge.className = `badge ${kind}`;
    setText(this.badge, words);
    this.badge.title = why;
    const lines = labelLines(item.labels);
    if (item.pinned) lines.unshift("Pinned");
    setText(this.owner, ownerText(item));
    this.owner.hidden = !item.owner;
    this.labels.parentElement.hidden = this.badge.hidden && this.owner.hidden && lines.length === 0;
    if (lines.join("\n") !== this.lines) this.labels.replaceChildren(...lines.map((text) => element("span", { class: "label", text })));
    this.lines = lines.join("\n");
    setText(this.buttons.pin.firstChild, item.pinned ? "Unpin" : "Pin");
    this.buttons.pin.setAttribute("aria-pressed", String(item.pinned));
    this.buttons.delete.disabled = item.state === "recording";
    this.buttons.delete.title = item.state === "recording" ? "It is being recorded: stop its recording first." : "";
    this.file.href = this.recorded.fileAddress;
    this.file.hidden = item.state === "missing";
    this.showGaps(item.gaps);
    if (item.state === "missing") this.hideVideo("The file of this recording is gone.");
    else if (isFirst) this.load();
    if (isFirst) this.showParts(item);
    this.showGrowth(item);
    this.drawClip();
  }

  /** Says how much of a recording that goes on is shown. */
  showGrowth({ state, seconds, session }) {
    const shown = this.video.duration;
    const isOld = session > 0 && Number.isFinite(shown) && seconds - shown > 2;
    this.grows.hidden = state === "missing" || (state !== "recording" && !isOld);
    if (this.grows.hidden) return;
    const isLive = state === "recording";
    const shows = Number.isFinite(shown) ? ` The video shows the first ${duration(shown)} of ${duration(seconds)}.` : "";
    setText(this.growth, `${isLive ? "The recording goes on." : "The recording has ended."}${shows}`);
    this.again.hidden = !isOld;
    this.watch.href = `#/session/${session}`;
    this.watch.hidden = !isLive || !this.known?.sessions.some(({ id }) => id === session);
  }

  showGaps(gaps) {
    this.gaps.hidden = gaps.length === 0;
    const texts = gaps.map(gapText).join("\n");
    if (texts === this.gapTexts) return;
    this.gapTexts = texts;
    const seek = ({ start }) => () => (this.video.currentTime = Math.max(start - 1, 0));
    const entries = gaps.map((gap) => element("button", { type: "button", class: "plain", text: gapText(gap), on: { click: seek(gap) } }));
    this.gapList.replaceChildren(...entries.map((entry) => element("li", {}, entry)));
  }

  /** Shows the other files of the recording, if there are any. */
  async showParts({ id, recording }) {
    try {
      const { items } = await relay.library.list({ recording, order: "oldest" });
      this.parts.hidden = items.length < 2;
      const entry = (item) =>
        item.id === id
          ? element("strong", { text: `${partText(item)} (this one)` })
          : element("a", { href: `#/library/${item.id}`, text: partText(item) });
      this.partList.replaceChildren(...items.map((item) => element("li", {}, entry(item))));
    } catch (error) {
      this.fail(error);
    }
  }

  // The video

  /** Loads what is written by now, and stays at the same time. */
  load() {
    const { currentTime, paused } = this.video;
    const { width, height } = this.item;
    this.video.hidden = false;
    if (width && height) this.video.style.aspectRatio = `${width} / ${height}`;
    // Another fragment, because browsers keep what they have loaded from the same address.
    this.loads = (this.loads ?? 0) + 1;
    this.video.src = `${this.recorded.fileAddress}#load=${this.loads}`;
    this.video.currentTime = currentTime;
    if (!paused) this.video.play().catch(() => {});
    this.say("");
  }

  /** Shows words in the place of the video and of what works with it. */
  hideVideo(text) {
    this.say(text);
    this.video.hidden = this.timeline.root.hidden = this.cutting.hidden = this.grows.hidden = true;
    this.video.removeAttribute("src");
  }

  cannotPlay() {
    if (this.isGone || !this.video.hasAttribute("src")) return;
    const isNetwork = this.video.error?.code === MediaError.MEDIA_ERR_NETWORK;
    this.say(isNetwork ? "The connection was lost while the video was loading. Load this page again." : "This browser cannot play the file. Download it, and open it with a player.");
  }

  say(text) {
    setText(this.message, text);
    this.message.hidden = text === "";
  }

  get seconds() {
    return Number.isFinite(this.video.duration) ? this.video.duration : this.item?.seconds ?? 0;
  }

  // The clip

  mark(point) {
    // Rounded up, so that a clip does not begin with the last moment of the picture before the shown one.
    const time = Math.ceil(this.video.currentTime * 1000) / 1000;
    const clip = { start: this.start, end: this.finish, [point]: time };
    // The point that was set last counts.
    if (clip.start >= clip.end) delete clip[point === "start" ? "end" : "start"];
    this.setClip(clip);
  }

  setClip({ start, end } = {}) {
    this.start = start;
    this.finish = end;
    this.drawClip();
  }

  drawClip() {
    const { seconds, start, finish: end } = this;
    const isSet = start !== undefined || end !== undefined;
    const { clip, clear } = this.buttons;
    clear.disabled = !isSet;
    if (isSet) clip.href = this.recorded.clipAddress(start, end);
    else clip.removeAttribute("href");
    clip.setAttribute("aria-disabled", String(!isSet));
    const [from, to] = [start ?? 0, end ?? seconds];
    setText(this.clip, isSet ? `${exactTime(from)} to ${exactTime(to)}: ${(to - from).toFixed(2)} s` : "Go to a time, and set the start or the end of a clip.");
    this.timeline.update({ seconds, gaps: this.item?.gaps ?? [], start, end, time: this.video.currentTime });
  }

  // The user's actions

  async change(change) {
    this.changes = (this.changes ?? 0) + 1;
    try {
      const item = await this.recorded.change(change);
      this.changes += 1;
      this.show(item);
      setText(this.wrong, "");
    } catch (error) {
      setText(this.wrong, error.message);
    }
  }

  /** Changes the labels. The relay takes 16 at a time. */
  async label(labels) {
    this.changes = (this.changes ?? 0) + 1;
    for (let first = 0; first < labels.length; first += 16) {
      const item = await this.recorded.change({ labels: labels.slice(first, first + 16) });
      this.changes += 1;
      this.show(item);
    }
  }

  async delete() {
    const { recorded } = this;
    this.buttons.delete.disabled = true;
    try {
      const item = await recorded.delete();
      offerUndo(`Deleted ${itemName(item)}.`, async () => {
        await recorded.restore();
        const hash = `#/library/${item.id}`;
        // The address may be there already, after a step back.
        if (location.hash === hash) dispatchEvent(new Event("hashchange"));
        location.hash = hash;
      });
      if (!this.hasEnded) location.hash = "#/library";
    } catch (error) {
      setText(this.wrong, error.message);
      this.buttons.delete.disabled = false;
    }
  }

  pressed(event) {
    if (!isShortcut(event)) return;
    const { video } = this;
    const { start, end, clear, clip, pin, labels, delete: remove } = this.buttons;
    const cuts = this.cutting.hidden ? {} : { i: start, o: end, x: clear, d: clip };
    const actions = { ...cuts, p: pin, l: labels, delete: remove };
    const seeks = { ArrowLeft: -STEP, ArrowRight: STEP, ",": -1 / (this.item?.fps || 30), ".": 1 / (this.item?.fps || 30) };
    const action = actions[event.key.toLowerCase()];
    if (this.video.hidden && event.key !== "Escape" && !action?.classList.contains("deletes")) return;
    if (action && !event.repeat) {
      event.preventDefault();
      // The buttons are hidden from callers that may not use them.
      const isAllowed = this.known?.mayDelete && this.item && !this.isGone;
      if (isAllowed || !action.classList.contains("deletes")) action.click();
    } else if (event.key in seeks) {
      event.preventDefault();
      video.currentTime = Math.min(Math.max(video.currentTime + seeks[event.key], 0), this.seconds);
    } else if (event.key === " " && !isForButton(event)) {
      event.preventDefault();
      if (video.paused) video.play().catch(() => {});
      else video.pause();
    } else if (event.key === "Escape" && !document.fullscreenElement) {
      location.hash = "#/library";
    }
  }

  end() {
    this.hasEnded = true;
    this.looks?.end();
    document.removeEventListener("keydown", this.keys);
    // Ends its requests.
    this.video.removeAttribute("src");
    this.video.load();
  }
}
