// The view of one session: the stage, what can be done with it, figures, charts.

import { Addresses } from "./addresses.js";
import { Chart } from "./chart.js";
import { element, setText, setTitle } from "./dom.js";
import { stopWith } from "./forms.js";
import { PictureInPicture } from "./picture-in-picture.js";
import { sessionPlace } from "./places.js";
import { fileName, Recorder, save } from "./recorder.js";
import { Settings } from "./settings.js";
import { askToShare } from "./share.js";
import { isForButton, isShortcut } from "./shortcuts.js";
import { relay } from "./site.js";
import { SpeedTest } from "./speed-test.js";
import { Stage } from "./stage.js";
import { wallPlace } from "./wall-view.js";
import { startWatching } from "./watch.js";
import { bitrate, broadcastState, milliseconds, rate, recordTimes, screenName, sessionText } from "./words.js";

export class SessionView {
  /** @param {import("./places.js").Place} place */
  constructor(place) {
    this.place = place;
    this.build();
    this.listen();
  }

  build() {
    const button = (text, key, click, properties = {}) =>
      element("button", { type: "button", "aria-keyshortcuts": key, on: { click }, ...properties }, text, element("kbd", { text: key }));
    const toggle = (text, key, click) => button(text, key, click, { "aria-pressed": "false" });
    this.title = element("h1", { text: screenName(this.place) });
    this.facts = element("p", { class: "quiet" });
    this.stage = new Stage("Or watch with a player: its addresses are below.");
    this.speed = new SpeedTest();
    this.buttons = {
      pause: button("Pause", "Space", () => this.stage.togglePause()),
      fullscreen: toggle("Full screen", "F", () => this.fullscreen()),
      small: toggle("Small window", "P", () => this.showSmall()),
      snapshot: button("Save a picture", "S", () => this.snapshot()),
      record: toggle("Record", "R", () => this.record()),
      library: toggle("Record in the library", "L", () => this.recordInLibrary()),
      keyframe: button("Keyframe", "K", () => this.player?.keyframe()),
      figures: toggle("Figures", "I", () => this.toggleFigures()),
    };
    this.buttons.library.classList.add("records");
    this.when = element(
      "select",
      { class: "changes", "aria-label": "What is recorded in the library", on: { change: () => this.chooseWhen() } },
      ...recordTimes.map(([value, text]) => element("option", { value, text: `Library: ${text}` })),
    );
    this.share = element("button", { type: "button", text: "Share…", hidden: true, on: { click: () => askToShare(this.session, this.known.mayAct) } });
    const { control, sound } = this.stage;
    this.actions = element("div", { class: "actions" }, control.toggle, ...Object.values(this.buttons), this.speed.button, this.share, sound.root);
    this.buttons.library.after(this.when);
    this.start = element("button", { type: "button", class: "main changes", text: "Start it", on: { click: () => this.startSession() } });
    this.missing = element("p", { hidden: true }, this.start);
    this.why = element("p", { class: "quiet why", role: "status", hidden: true });
    this.wrong = element("p", { class: "wrong", role: "alert" });
    this.error = element("p", { class: "wrong" });
    this.closure = element("p", { class: "quiet", role: "status", hidden: true });
    this.settings = new Settings((session) => this.show(session));
    this.addresses = new Addresses();
    this.charts = [
      new Chart("Latency, capture to picture", [
        { name: "p50", value: (entry) => entry.p50, text: milliseconds },
        { name: "p95", value: (entry) => entry.p95, text: milliseconds },
      ]),
      new Chart("Pictures a second", [
        { name: "arrived", value: (entry) => entry.fpsIn, text: rate },
        { name: "presented", value: (entry) => entry.fpsOut, text: rate },
      ]),
      new Chart("Bitrate", [{ name: "arrived", value: (entry) => entry.bitrate, text: bitrate }]),
    ];
    this.chartGrid = element("div", { class: "charts" }, ...this.charts.map((chart) => chart.root));
    this.stop = element("button", { type: "button", class: "changes", text: "Stop session", hidden: true, on: { click: () => this.stopSession() } });
    this.root = element(
      "div",
      { class: "player" },
      element("div", { class: "heading" }, element("div", {}, element("a", { href: wallPlace(), text: "← Wall" }), this.title, this.facts), this.stop),
      this.stage.theatre,
      this.missing,
      control.problem,
      sound.problem,
      this.why,
      this.closure,
      this.actions,
      this.speed.result,
      this.wrong,
      this.error,
      this.chartGrid,
      this.settings.root,
      this.addresses.root,
    );
  }

  listen() {
    this.listeners = new AbortController();
    const { signal } = this.listeners;
    document.addEventListener("keydown", (event) => this.pressed(event), { signal });
    this.stage.addEventListener("change", () => this.showStage(), { signal });
    this.stage.addEventListener("player", ({ detail }) => this.attach(detail), { signal });
    this.stage.isUsed = () => this.recorder !== undefined;
    this.showStage();
  }

  get player() {
    return this.stage.player;
  }

  // The session's state

  /** @param {object} known What the page knows of the relay. */
  update(known) {
    this.known = known;
    const { id, device, name } = this.place;
    const session = known.sessions.find((session) => (name ? session.device === device && session.name === name : session.id === id));
    if (this.stage.isUnreachable) this.player?.retry();
    this.stage.isUnreachable = false;
    this.missing.hidden = true;
    if (session) this.show(session);
    else this.lacks();
  }

  /** Says that there is no session to play. */
  lacks() {
    const { device, name } = this.place;
    const isKnown = this.known.broadcasts.some((broadcast) => broadcast.device === device);
    this.stop.hidden = true;
    if (!name) {
      if (!this.session) this.stage.say("There is no such session. It may have ended.");
    } else if (!isKnown) {
      this.stage.say(`There is no device ${device}.`);
    } else {
      this.stage.say(`${device} has no session ${name} now. It plays here when it starts.`);
      this.missing.hidden = name !== "shared";
    }
  }

  /** Shows a session's report, and plays the session. */
  show(session) {
    const isOther = session.id !== this.session?.id || this.player.state === "ended";
    this.session = session;
    this.nameAddress(session);
    this.broadcast = this.known.broadcasts.find((broadcast) => broadcast.device === session.device);
    setText(this.title, screenName(session));
    setTitle(screenName(session));
    setText(this.facts, [sessionText(session), `device ${session.device}`, session.encoder].filter(Boolean).join(" · "));
    this.stage.show(session, this.broadcast?.source.kind);
    this.showRecording(session);
    setText(this.error, session.error ?? "");
    this.settings.update(session);
    this.addresses.update(session, this.known.wantsKeys);
    this.share.hidden = !this.known.wantsKeys;
    this.stop.hidden = false;
    if (isOther) this.stage.play(relay.session(session.id), session);
    this.speed.attach(session, this.player);
  }

  /** Makes the page's address last: a name outlives its session. */
  nameAddress(session) {
    if (this.place.name || !session.name) return;
    this.place = { view: "session", device: session.device, name: session.name };
    history.replaceState(null, "", sessionPlace(session));
  }

  /** Shows that the relay did not answer, so that the last known state is out of date. */
  unreachable() {
    this.stage.isUnreachable = true;
    this.missing.hidden = true;
    this.stage.showBadge();
  }

  showRecording({ record, recordWhen }) {
    setText(this.buttons.library.firstChild, record ? "Stop recording in the library" : "Record in the library");
    this.buttons.library.setAttribute("aria-pressed", String(record));
    this.when.value = recordWhen ?? "always";
    this.when.hidden = !this.known.mayRecord;
  }

  /** Returns the device's state if it has a problem; empty if it has none. */
  deviceText() {
    if (!this.broadcast) return "";
    const [words, mood] = broadcastState(this.broadcast);
    const { device, source } = this.broadcast;
    return mood === "good" ? "" : [`Device ${device}: ${words}.`, source.detail].filter(Boolean).join(" ");
  }

  // The stream

  attach(player) {
    const on = (type, listener) => player.addEventListener(type, ({ detail }) => listener(detail));
    on("closed", ({ text }) => {
      setText(this.closure, `${new Date().toLocaleTimeString()}: ${text}`);
      this.closure.hidden = false;
    });
    on("picture", (picture) => {
      if (this.recorder && !this.recorder.add(picture)) this.record();
    });
    on("sound", (packet) => {
      if (this.recordsSound) this.recorder?.add(packet);
    });
    on("statistics", () => this.tick());
  }

  /** Shows what the stage does, and why its pictures are not what they should be. */
  showStage() {
    const { stage, buttons, player } = this;
    const isVideo = player?.player !== undefined && player.player !== "mjpeg";
    for (const button of [buttons.record, buttons.keyframe]) button.disabled = !isVideo || stage.isPaused;
    for (const part of [this.actions, this.settings.root, this.addresses.root]) part.hidden = !this.session;
    this.chartGrid.hidden = !this.session || player?.player === "mjpeg" || player?.state === "unsupported";
    buttons.small.hidden = !PictureInPicture.isSupported || !isVideo;
    setText(buttons.pause.firstChild, stage.isPaused ? "Play" : "Pause");
    buttons.pause.disabled = player === undefined || player.state === "ended";
    buttons.small.setAttribute("aria-pressed", String(stage.small.isOn));
    buttons.fullscreen.setAttribute("aria-pressed", String(stage.fullScreen.isOn));
    this.why.hidden = stage.why === "";
    if (stage.why) setText(this.why, [stage.why, this.deviceText()].filter(Boolean).join(" "));
  }

  /** A second has passed. */
  tick() {
    for (const chart of this.charts) chart.draw(this.player.statistics.history);
    this.seconds = (this.seconds ?? 0) + 1;
    if (this.seconds % 2 === 0 && this.needsReport) this.report();
  }

  /** Whether something is shown that no event and no message of the stream tells. */
  get needsReport() {
    const isMeasuredByRelay = this.player?.player === "mjpeg" && !this.stage.overlay.hidden;
    return !document.hidden && (this.session?.recording != null || isMeasuredByRelay);
  }

  async report() {
    try {
      this.show(await relay.session(this.session.id).get());
    } catch {
      // The page says what is wrong.
    }
  }

  // The user's actions

  /** Starts or ends the recording by the calls that need the right to record, and no operator's key. */
  recordInLibrary() {
    if (!this.session || !this.known.mayRecord) return;
    const verb = this.session.record ? "stop" : "start";
    this.changeRecording(this.buttons.library, () => relay.call("POST", `v1/sessions/${this.session.id}/record/${verb}`));
  }

  chooseWhen() {
    this.changeRecording(this.when, () => relay.session(this.session.id).change({ recordWhen: this.when.value }));
  }

  async changeRecording(control, change) {
    control.disabled = true;
    try {
      this.show(await change());
      setText(this.wrong, "");
    } catch (error) {
      setText(this.wrong, error.message);
    }
    control.disabled = false;
  }

  toggleFigures() {
    this.stage.toggleOverlay();
    this.buttons.figures.setAttribute("aria-pressed", String(!this.stage.overlay.hidden));
  }

  async fullscreen() {
    try {
      await this.stage.fullScreen.toggle();
    } catch {
      setText(this.wrong, "This browser does not allow full screen here.");
    }
  }

  async showSmall() {
    try {
      await this.stage.small.toggle();
    } catch {
      setText(this.wrong, "This browser does not allow a small window here.");
    }
  }

  async snapshot() {
    const picture = await this.player?.snapshot();
    if (picture) save(picture, fileName(this.session.id, "png"));
    else setText(this.wrong, "There is no picture to save yet.");
  }

  record() {
    const button = this.buttons.record;
    if (this.recorder) {
      const kept = this.recorder.finish(this.session.id);
      setText(this.wrong, kept ? "" : "Nothing was recorded: no keyframe arrived.");
      this.recorder = undefined;
    } else if (this.player) {
      const isFragments = this.player.player === "mse";
      const beginning = isFragments ? this.player.configuration?.preamble : undefined;
      this.recorder = new Recorder(isFragments ? "mp4" : this.session.codec, beginning);
      // A bare stream of pictures has no place for sound. A container has if it began with sound.
      this.recordsSound = isFragments && this.player.sound.isContained === true;
      this.player.keyframe();
    }
    button.firstChild.textContent = this.recorder ? "End recording" : "Record";
    button.setAttribute("aria-pressed", String(this.recorder !== undefined));
  }

  async startSession() {
    const { device } = this.place;
    const broadcast = this.known.broadcasts.find((broadcast) => broadcast.device === device);
    this.start.disabled = true;
    setText(this.wrong, "");
    try {
      const session = await startWatching(broadcast, []);
      if (!this.hasEnded && session.id !== this.session?.id) this.show(session);
      this.missing.hidden = true;
    } catch (error) {
      setText(this.wrong, error.message);
    }
    this.start.disabled = false;
  }

  async stopSession() {
    const session = relay.session(this.session.id);
    try {
      const { viewers } = await session.get();
      const isViewer = this.player?.state === "playing" || this.player?.state === "waiting";
      await stopWith("the session", Math.max(viewers - (isViewer ? 1 : 0), 0), async () => {
        await session.stop();
        location.hash = wallPlace();
      });
    } catch (error) {
      setText(this.wrong, error.message);
    }
  }

  pressed(event) {
    // A key that is still held from controlling the screen is not for the page.
    if (!isShortcut(event) || event.repeat || isForButton(event)) return;
    const { pause, fullscreen, small, snapshot, record, library, keyframe, figures } = this.buttons;
    const { sound } = this.stage;
    const actions = { " ": pause, f: fullscreen, p: small, s: snapshot, r: record, l: library, k: keyframe, i: figures, m: sound.button, t: this.speed.button };
    const action = actions[event.key.toLowerCase()];
    if (action) {
      event.preventDefault();
      if (!action.hidden) action.click();
    } else if (event.key === "Escape" && !document.fullscreenElement) {
      if (this.stage.fullScreen.fillsWindow) this.stage.fullScreen.toggle();
      else location.hash = wallPlace();
    }
  }

  end() {
    this.hasEnded = true;
    this.listeners.abort();
    if (this.recorder) this.record();
    this.stage.end();
  }
}
