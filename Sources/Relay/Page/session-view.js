// The view of one session: picture, figures, charts.

import { Chart } from "./chart.js";
import { ControlBar } from "./control-bar.js";
import { element, isTyping, setText } from "./dom.js";
import { Player, playerNames } from "./heliograph.js";
import { fileName, Recorder, save } from "./recorder.js";
import { relay } from "./site.js";
import { SoundBar } from "./sound-bar.js";
import { SpeedTest } from "./speed-test.js";
import { bitrate, broadcastState, feedBadge, milliseconds, recordingText, recordTimes, sessionName, sessionText } from "./words.js";

const rate = (value) => (Number.isFinite(value) ? value.toFixed(1) : "–");

export class SessionView {
  constructor(id) {
    this.id = id;
    this.build();
    this.keys = (event) => this.pressed(event);
    document.addEventListener("keydown", this.keys);
  }

  build() {
    const button = (text, key, click) =>
      element("button", { type: "button", "aria-keyshortcuts": key, on: { click } }, text, element("kbd", { text: key }));
    this.title = element("h1", { text: `Session ${this.id}` });
    this.facts = element("p", { class: "quiet" });
    this.canvas = element("canvas", { class: "picture", width: 1280, height: 720, role: "img", "aria-label": "The session's picture" });
    this.message = element("p", { class: "message", role: "status", text: "Connecting" });
    this.badge = element("span", { class: "badge", hidden: true });
    this.recording = element("span", { class: "badge corner", hidden: true });
    this.overlay = element("dl", { class: "overlay", hidden: true });
    this.stage = element("div", { class: "stage" }, this.canvas, this.badge, this.recording, this.overlay, this.message);
    this.control = new ControlBar(this.stage);
    this.sound = new SoundBar();
    this.speed = new SpeedTest();
    /** What full screen shows. */
    this.theatre = element("div", { class: "theatre" }, this.stage, this.control.bar);
    this.buttons = {
      fullscreen: button("Full screen", "F", () => this.fullscreen()),
      snapshot: button("Save a picture", "S", () => this.snapshot()),
      record: button("Record", "R", () => this.record()),
      library: button("Record in the library", "L", () => this.recordInLibrary()),
      keyframe: button("Keyframe", "K", () => this.player?.keyframe()),
      figures: button("Figures", "I", () => this.toggleOverlay()),
    };
    this.buttons.figures.setAttribute("aria-pressed", "false");
    this.buttons.record.setAttribute("aria-pressed", "false");
    this.buttons.library.classList.add("records");
    this.when = element(
      "select",
      { class: "changes", "aria-label": "What is recorded in the library", on: { change: () => this.chooseWhen() } },
      ...recordTimes.map(([value, text]) => element("option", { value, text: `Library: ${text}` })),
    );
    this.actions = element("div", { class: "actions" }, this.control.toggle, ...Object.values(this.buttons), this.speed.button, this.sound.root);
    this.buttons.library.after(this.when);
    this.why = element("p", { class: "quiet why", role: "status", hidden: true });
    this.wrong = element("p", { class: "wrong", role: "alert" });
    this.closure = element("p", { class: "quiet", role: "status", hidden: true });
    this.addresses = element("dl", { class: "addresses" });
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
    this.root = element(
      "div",
      { class: "player" },
      element(
        "div",
        { class: "heading" },
        element("div", {}, element("a", { href: "#/", text: "← All sessions" }), this.title, this.facts),
        element("button", { type: "button", class: "changes", text: "Stop session", on: { click: () => this.stopSession() } }),
      ),
      this.theatre,
      this.control.problem,
      this.sound.problem,
      this.why,
      this.closure,
      this.actions,
      this.speed.result,
      this.wrong,
      this.chartGrid,
      element("details", {}, element("summary", { text: "Watch elsewhere" }), this.addresses),
    );
  }

  // The session's state

  update({ sessions, broadcasts, mayRecord, wantsKeys }) {
    this.mayRecord = mayRecord;
    const session = sessions.find((session) => session.id === this.id);
    if (!session) return;
    this.session = session;
    setText(this.title, sessionName(session));
    setText(this.facts, [sessionText(session), `device ${session.device}`, session.encoder].filter(Boolean).join(" · "));
    this.broadcast = broadcasts.find((broadcast) => broadcast.device === session.device);
    if (this.wasUnreachable) this.player?.retry();
    this.wasUnreachable = false;
    this.showBadge(session);
    this.showRecording(session);
    setText(this.wrong, session.error ?? "");
    if (this.addresses.childElementCount === 0) this.showAddresses(session, wantsKeys);
    if (!this.player) this.watch(session);
    this.speed.attach(session, this.player);
  }

  /** Shows that the relay did not answer, so that the last known state is out of date. */
  unreachable() {
    this.wasUnreachable = true;
    if (this.session) this.showBadge(this.session);
  }

  showBadge(session) {
    const isCut = this.wasUnreachable || this.player?.isCut;
    const [text, isBad, why] = isCut ? ["Not connected", true, ""] : feedBadge(session, this.broadcast?.source.kind) ?? [""];
    this.badge.hidden = !text;
    this.why.hidden = !why;
    if (!text) return;
    setText(this.badge, text);
    this.badge.className = isBad ? "badge bad" : "badge";
    if (why) setText(this.why, [why, this.deviceText()].filter(Boolean).join(" "));
  }

  /** Shows that the session is recorded, how long and how large the file is, or why it is not written. */
  showRecording(session) {
    const { record, recordWhen, recording } = session;
    const [text, kind] = recordingText(session);
    this.recording.hidden = !text;
    setText(this.recording, text);
    this.recording.className = `badge corner ${kind}`;
    this.recording.title = recording?.problem ?? "";
    setText(this.buttons.library.firstChild, record ? "Stop recording in the library" : "Record in the library");
    this.buttons.library.setAttribute("aria-pressed", String(record));
    this.when.value = recordWhen ?? "always";
    this.when.hidden = !this.mayRecord;
  }

  /** Returns the device's state if it has a problem; empty if it has none. */
  deviceText() {
    if (!this.broadcast) return "";
    const [words, mood] = broadcastState(this.broadcast);
    const { device, source } = this.broadcast;
    return mood === "good" ? "" : [`Device ${device}: ${words}.`, source.detail].filter(Boolean).join(" ");
  }

  showAddresses({ id, codec, port }, wantsKeys) {
    const session = relay.session(id);
    const raw = session.address(`stream.${codec}`);
    const key = wantsKeys ? '-H "Authorization: Bearer $HELIOGRAPH_KEY" ' : "";
    const rows = [
      ["Player", `curl -sN ${key}${raw} | ffplay -f ${codec === "h265" ? "hevc" : "h264"} -`],
      ["HTTP", raw],
      ["WebSocket", session.address("ws")],
      ["TCP", `127.0.0.1:${port}, on the relay's machine`],
    ];
    for (const [name, text] of rows) this.addresses.append(element("dt", { text: name }), element("dd", {}, element("code", { text })));
  }

  // The stream

  /** Plays the session. `?player=` in the page's address selects the only player to try. */
  watch({ codec, fps }) {
    const player = new URLSearchParams(location.search).get("player") ?? undefined;
    this.player = new Player(this.canvas, relay.session(this.id), { player, codec, fps, control: { label: false } });
    this.control.attach(this.player.control);
    this.sound.attach(this.player.sound);
    const on = (type, listener) => this.player.addEventListener(type, ({ detail }) => listener(detail));
    on("player", ({ player }) => this.playsBy(player));
    on("state", ({ state, text }) => this.isNow(state, text));
    on("event", (event) => this.told(event));
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
    on("statistics", () => this.draw());
    // For tests, which read the pictures from the canvas.
    on("presented", (detail) => this.canvas.dispatchEvent(new CustomEvent("presented", { detail })));
  }

  playsBy(name) {
    const isVideo = name !== undefined && name !== "mjpeg";
    for (const button of [this.buttons.record, this.buttons.keyframe]) button.disabled = !isVideo;
    this.chartGrid.hidden = !isVideo;
  }

  isNow(state, text) {
    this.say(state === "unsupported" ? `${text} Or watch with a player: its addresses are below.` : text);
    if (this.session) this.showBadge(this.session);
  }

  told({ type, feed }) {
    if (!this.session) return;
    // A viewer wakes the session.
    if (type === "hello") this.session.asleep = false;
    if (type === "feed") {
      this.session.feed = feed;
      this.showBadge(this.session);
    }
  }

  say(text) {
    setText(this.message, text);
    this.message.hidden = text === "";
  }

  draw() {
    for (const chart of this.charts) chart.draw(this.player.statistics.history);
    if (!this.overlay.hidden) this.drawOverlay();
  }

  drawOverlay() {
    const rows = [["Player", playerNames[this.player?.player] ?? "none"], ["Feed", this.session?.feed ?? "–"], ...this.figures()];
    this.overlay.replaceChildren(...rows.flatMap(([name, text]) => [element("dt", { text: name }), element("dd", { text })]));
  }

  figures() {
    if (!this.player) return [];
    const figures = this.player.figures;
    const size = ["Size", `${figures.width} × ${figures.height}`];
    if (figures.player === "mjpeg") {
      const { rates, viewers } = this.session ?? {};
      return [
        size,
        ["Session", `${rate(rates?.pictures)} fps, ${bitrate(rates?.bitrate)}`],
        ["Viewers", String(viewers ?? "–")],
      ];
    }
    const { latency, stages } = figures;
    return [
      size,
      ["Arrived", `${rate(figures.fpsIn)} fps`],
      ["Presented", `${rate(figures.fpsOut)} fps`],
      ["Bitrate", bitrate(figures.bitrate)],
      ...(figures.target ? [["As viewers' networks carry", `${bitrate(figures.target.bitrate)}, ${figures.target.fps} fps`]] : []),
      ["Latency p50 / p95", `${milliseconds(latency.p50)} / ${milliseconds(latency.p95)}`],
      ["to encoded", milliseconds(stages.encode)],
      ["to relay", milliseconds(stages.link)],
      ["to here", milliseconds(stages.network)],
      ["to picture", milliseconds(stages.decode)],
      ["Clock error", `± ${milliseconds(figures.clockError)}`],
      ["Repeats", String(figures.repeats)],
      ["Dropped", `${figures.dropped} by the relay, ${figures.skipped} here`],
      ["Decoder errors", String(figures.errors)],
      ["Viewers", String(figures.viewers ?? "–")],
      ...this.soundFigures(figures.sound),
    ];
  }

  soundFigures(sound) {
    if (!sound) return [];
    const { skew, delay, holes, dropped } = sound;
    return [
      ["Sound after picture", skew === null ? "–" : `${Math.round(skew)} ms`],
      ["Sound waits", milliseconds(delay)],
      ["Sound holes", String(holes ?? "–")],
      ["Sound dropped", String(dropped ?? "–")],
    ];
  }

  // The user's actions

  /** Starts or ends the recording by the calls that need the right to record, and no operator's key. */
  recordInLibrary() {
    if (!this.session || !this.mayRecord) return;
    const verb = this.session.record ? "stop" : "start";
    this.changeRecording(this.buttons.library, () => relay.call("POST", `v1/sessions/${this.id}/record/${verb}`));
  }

  chooseWhen() {
    this.changeRecording(this.when, () => relay.session(this.id).change({ recordWhen: this.when.value }));
  }

  async changeRecording(control, change) {
    control.disabled = true;
    try {
      this.session = await change();
      this.showRecording(this.session);
      setText(this.wrong, "");
    } catch (error) {
      setText(this.wrong, error.message);
    }
    control.disabled = false;
  }

  toggleOverlay() {
    this.overlay.hidden = !this.overlay.hidden;
    this.buttons.figures.setAttribute("aria-pressed", String(!this.overlay.hidden));
    if (!this.overlay.hidden) this.drawOverlay();
  }

  async fullscreen() {
    try {
      if (document.fullscreenElement) await document.exitFullscreen();
      else {
        await this.theatre.requestFullscreen();
        // The keys that the browser keeps go to the screen, too, where the browser allows it.
        await navigator.keyboard?.lock?.().catch(() => {});
      }
    } catch {
      setText(this.wrong, "This browser does not allow full screen here.");
    }
  }

  async snapshot() {
    const picture = await this.player?.snapshot();
    if (picture) save(picture, fileName(this.id, "png"));
    else setText(this.wrong, "There is no picture to save yet.");
  }

  record() {
    const button = this.buttons.record;
    if (this.recorder) {
      const kept = this.recorder.finish(this.id);
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

  async stopSession() {
    try {
      await relay.session(this.id).stop();
      location.hash = "#/";
    } catch (error) {
      setText(this.wrong, error.message);
    }
  }

  pressed(event) {
    // A key that is still held from controlling the screen is not for the page.
    if (isTyping(event) || event.repeat) return;
    const { fullscreen, snapshot, record, library, keyframe, figures } = this.buttons;
    const actions = { f: fullscreen, s: snapshot, r: record, l: library, k: keyframe, i: figures, m: this.sound.button, t: this.speed.button };
    const action = actions[event.key.toLowerCase()];
    if (action) {
      event.preventDefault();
      action.click();
    } else if (event.key === "Escape" && !document.fullscreenElement) {
      location.hash = "#/";
    }
  }

  end() {
    document.removeEventListener("keydown", this.keys);
    if (this.recorder) this.record();
    this.player?.close();
  }
}
