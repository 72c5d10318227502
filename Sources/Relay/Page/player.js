// One session, large: picture, figures, charts.

import { address, api } from "./api.js";
import { Chart } from "./chart.js";
import { Decoder } from "./decoder.js";
import { element, isTyping, setText } from "./dom.js";
import { FragmentPlayer } from "./fragments.js";
import { availablePlayers, playerNames } from "./players.js";
import { fileName, Recorder, save } from "./recorder.js";
import { Statistics } from "./statistics.js";
import { MotionJPEGPlayer } from "./mjpeg.js";
import { Stream } from "./stream.js";
import { bitrate, broadcastState, feedBadge, milliseconds, sessionName, sessionText } from "./words.js";

/** ms between two acknowledgements of pictures just presented: the relay counts so many. */
const acknowledgementInterval = 100;

const rate = (value) => (Number.isFinite(value) ? value.toFixed(1) : "–");

export class Player {
  constructor(id) {
    this.id = id;
    this.statistics = new Statistics();
    this.relayStatistics = {};
    this.dropped = 0;
    this.lastAcknowledgement = 0;
    this.build();
    this.keys = (event) => this.pressed(event);
    document.addEventListener("keydown", this.keys);
    this.timer = setInterval(() => this.tick(), 1000);
  }

  build() {
    const button = (text, key, click) =>
      element("button", { type: "button", "aria-keyshortcuts": key, on: { click } }, text, element("kbd", { text: key }));
    this.title = element("h1", { text: `Session ${this.id}` });
    this.facts = element("p", { class: "quiet" });
    this.canvas = element("canvas", { class: "picture", width: 1280, height: 720, role: "img", "aria-label": "The session's picture" });
    this.message = element("p", { class: "message", role: "status", text: "Connecting" });
    this.badge = element("span", { class: "badge", hidden: true });
    this.overlay = element("dl", { class: "overlay", hidden: true });
    this.stage = element("div", { class: "stage" }, this.canvas, this.badge, this.overlay, this.message);
    this.buttons = {
      fullscreen: button("Full screen", "F", () => this.fullscreen()),
      snapshot: button("Save a picture", "S", () => this.snapshot()),
      record: button("Record", "R", () => this.record()),
      keyframe: button("Keyframe", "K", () => this.stream?.send({ type: "keyframe" })),
      figures: button("Figures", "I", () => this.toggleOverlay()),
    };
    this.buttons.figures.setAttribute("aria-pressed", "false");
    this.buttons.record.setAttribute("aria-pressed", "false");
    this.why = element("p", { class: "quiet", role: "status", hidden: true });
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
      new Chart("Bit rate", [{ name: "arrived", value: (entry) => entry.bitrate, text: bitrate }]),
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
      this.stage,
      this.why,
      this.closure,
      element("div", { class: "actions" }, ...Object.values(this.buttons)),
      this.wrong,
      this.chartGrid,
      element("details", {}, element("summary", { text: "Watch elsewhere" }), this.addresses),
    );
  }

  // What is known of the session

  update({ sessions, broadcasts, wantsKeys }) {
    const session = sessions.find((session) => session.id === this.id);
    if (!session) return;
    this.session = session;
    setText(this.title, sessionName(session));
    setText(this.facts, [sessionText(session), `device ${session.device}`, session.encoder].filter(Boolean).join(" · "));
    this.broadcast = broadcasts.find((broadcast) => broadcast.device === session.device);
    if (this.wasUnreachable) this.decoder?.start?.();
    this.wasUnreachable = false;
    this.showBadge(session);
    setText(this.wrong, session.error ?? "");
    if (this.addresses.childElementCount === 0) this.showAddresses(session, wantsKeys);
    if (!this.isWatching) this.watch(session.codec);
  }

  /** The relay has not answered: what was known of the session is of before. */
  unreachable() {
    this.wasUnreachable = true;
    if (this.session) this.showBadge(this.session);
  }

  showBadge(session) {
    const isCut = this.wasUnreachable || this.stream?.isCut;
    const [text, isBad, why] = isCut ? ["Not connected", true, ""] : feedBadge(session, this.broadcast?.source.kind) ?? [""];
    this.badge.hidden = !text;
    this.why.hidden = !why;
    if (!text) return;
    setText(this.badge, text);
    this.badge.className = isBad ? "badge bad" : "badge";
    if (why) setText(this.why, [why, this.deviceText()].filter(Boolean).join(" "));
  }

  /** How the device does, where that is not well. */
  deviceText() {
    if (!this.broadcast) return "";
    const [words, mood] = broadcastState(this.broadcast);
    const { device, source } = this.broadcast;
    return mood === "good" ? "" : [`Device ${device}: ${words}.`, source.detail].filter(Boolean).join(" ");
  }

  showAddresses({ id, codec, port }, wantsKeys) {
    const raw = address("http", id, `stream.${codec}`);
    const key = wantsKeys ? '-H "Authorization: Bearer $HELIOGRAPH_KEY" ' : "";
    const rows = [
      ["Player", `curl -sN ${key}${raw} | ffplay -f ${codec === "h265" ? "hevc" : "h264"} -`],
      ["HTTP", raw],
      ["WebSocket", address("ws", id, "ws")],
      ["TCP", `127.0.0.1:${port}, on the relay's machine`],
    ];
    for (const [name, text] of rows) this.addresses.append(element("dt", { text: name }), element("dd", {}, element("code", { text })));
  }

  // The stream

  async watch(codec) {
    this.isWatching = true;
    this.players = await availablePlayers(codec);
    this.play(codec);
  }

  /** Plays in the best way that is left. */
  play(codec) {
    if (this.isEnded) return;
    this.release();
    const name = this.players.shift();
    this.playing = name;
    for (const button of [this.buttons.record, this.buttons.keyframe]) button.disabled = name === undefined || name === "mjpeg";
    this.chartGrid.hidden = name === undefined || name === "mjpeg";
    if (name === undefined) return this.say(this.hopeless(codec));
    this.decoder = { webcodecs: () => new Decoder(this.canvas), mse: () => new FragmentPlayer(this.canvas), mjpeg: () => new MotionJPEGPlayer(this.canvas, this.session) }[name]();
    this.decoder.addEventListener("presented", ({ detail }) => this.presented(detail));
    this.decoder.addEventListener("trouble", ({ detail }) => {
      if (detail.isUnsupported) this.play(codec);
      else this.say(detail.text);
    });
    if (name === "mjpeg") return;
    this.decoder.addEventListener("starved", () => this.stream?.send({ type: "keyframe" }));
    this.stream = new Stream(this.id, name === "mse" ? "mp4" : undefined);
    this.stream.addEventListener("state", ({ detail }) => {
      this.say(detail.text);
      if (this.session) this.showBadge(this.session);
    });
    this.stream.addEventListener("closed", ({ detail }) => {
      setText(this.closure, `${new Date().toLocaleTimeString()}: ${detail.text}`);
      this.closure.hidden = false;
    });
    this.stream.addEventListener("configuration", ({ detail }) => {
      this.configuration = detail;
      this.decoder.configure(detail);
    });
    this.stream.addEventListener("event", ({ detail }) => this.told(detail));
    this.stream.addEventListener("picture", ({ detail }) => {
      this.statistics.received(detail);
      this.decoder.decode(detail);
      if (this.recorder && !this.recorder.add(detail)) this.record();
    });
  }

  /** Says that nothing is left, and what to do. */
  hopeless(codec) {
    const name = codec === "h265" ? "H.265" : "H.264";
    const tried = new URLSearchParams(location.search).get("player");
    const ways = playerNames[tried] ? `by ${playerNames[tried]}, which this page's address asks for` : "in any way that this page knows";
    return `This browser cannot show ${name} ${ways}. Use a current Chrome, Edge, Firefox or Safari, start a session of H.264, or watch with a player: its addresses are below.`;
  }

  release() {
    this.stream?.end();
    this.decoder?.close();
    this.stream = undefined;
    this.decoder = undefined;
  }

  told(event) {
    if (event.type === "stats") this.relayStatistics = event;
    if (event.type === "resync") this.dropped += event.dropped;
    if (event.type === "hello" && this.session) {
      // Who watches wakes it.
      this.wakes = this.session.asleep;
      this.session.asleep = false;
    }
    if (event.type === "feed" && this.session) {
      this.session.feed = event.feed;
      this.showBadge(this.session);
      if (event.feed !== "none") this.wakes = false;
      else if (this.wakes) this.say("The session wakes. Waiting for a picture");
      else this.say("No pictures are coming. They go on by themselves when the screen is back.");
    }
  }

  presented(detail) {
    if (!this.message.hidden) this.say("");
    if (!detail) return;
    const { picture, at } = detail;
    this.statistics.presented(picture, at);
    if (!picture.repeat && at - this.lastAcknowledgement >= acknowledgementInterval) {
      this.stream.acknowledge(picture.pts, at);
      this.lastAcknowledgement = at;
    }
    // For whoever reads pictures off the canvas.
    const latency = picture.captured === null ? null : at - picture.captured;
    this.canvas.dispatchEvent(new CustomEvent("presented", { detail: { pts: picture.pts, repeat: picture.repeat, latency } }));
  }

  say(text) {
    setText(this.message, text);
    this.message.hidden = text === "";
  }

  tick() {
    this.statistics.tick();
    const { lastPTS, history } = this.statistics;
    if (lastPTS !== undefined) this.stream?.acknowledge(lastPTS);
    for (const chart of this.charts) chart.draw(history);
    if (!this.overlay.hidden) this.drawOverlay();
  }

  drawOverlay() {
    const rows = [["Player", playerNames[this.playing] ?? "none"], ["Feed", this.session?.feed ?? "–"], ...this.figures()];
    this.overlay.replaceChildren(...rows.flatMap(([name, text]) => [element("dt", { text: name }), element("dd", { text })]));
  }

  figures() {
    const { canvas, stream, decoder, relayStatistics } = this;
    if (this.playing === "mjpeg") {
      const { naturalWidth, naturalHeight } = decoder.image;
      const { rates, viewers } = this.session ?? {};
      return [
        ["Size", `${naturalWidth} × ${naturalHeight}`],
        ["Session", `${rate(rates?.pictures)} fps, ${bitrate(rates?.bitrate)}`],
        ["Viewers", String(viewers ?? "–")],
      ];
    }
    const { now, latency, totals, stages } = this.statistics;
    const median = (values) => milliseconds(values.length ? [...values].sort((a, b) => a - b)[values.length >> 1] : NaN);
    return [
      ["Size", `${canvas.width} × ${canvas.height}`],
      ["Arrived", `${rate(now.fpsIn)} fps`],
      ["Presented", `${rate(now.fpsOut)} fps`],
      ["Bit rate", bitrate(now.bitrate)],
      ["Latency p50 / p95", `${milliseconds(latency.p50)} / ${milliseconds(latency.p95)}`],
      ["to encoded", median(stages.encode)],
      ["to relay", median(stages.link)],
      ["to here", median(stages.network)],
      ["to picture", median(stages.decode)],
      ["Clock known to", `± ${milliseconds(stream?.clock.error)}`],
      ["Repeats", String(totals.repeats)],
      ["Dropped", `${this.dropped} by the relay, ${decoder?.skipped ?? 0} here`],
      ["Decoder errors", String(decoder?.errors ?? 0)],
      ["Viewers", String(relayStatistics.viewers ?? "–")],
    ];
  }

  // What a person asks for

  toggleOverlay() {
    this.overlay.hidden = !this.overlay.hidden;
    this.buttons.figures.setAttribute("aria-pressed", String(!this.overlay.hidden));
    if (!this.overlay.hidden) this.drawOverlay();
  }

  async fullscreen() {
    try {
      if (document.fullscreenElement) await document.exitFullscreen();
      else await this.stage.requestFullscreen();
    } catch {
      setText(this.wrong, "This browser does not allow full screen here.");
    }
  }

  snapshot() {
    this.decoder?.paint?.();
    if (this.statistics.totals.presented === 0 && !(this.decoder?.image?.naturalWidth > 0)) return setText(this.wrong, "There is no picture to save yet.");
    this.canvas.toBlob((blob) => blob && save(blob, fileName(this.id, "png")), "image/png");
  }

  record() {
    const button = this.buttons.record;
    if (this.recorder) {
      const kept = this.recorder.finish(this.id);
      setText(this.wrong, kept ? "" : "Nothing was recorded: no keyframe came.");
      this.recorder = undefined;
    } else if (this.stream) {
      const isFragments = this.playing === "mse";
      this.recorder = new Recorder(isFragments ? "mp4" : this.session.codec, isFragments ? this.configuration?.preamble : undefined);
      this.stream.send({ type: "keyframe" });
    }
    button.firstChild.textContent = this.recorder ? "End recording" : "Record";
    button.setAttribute("aria-pressed", String(this.recorder !== undefined));
  }

  async stopSession() {
    try {
      await api.stopSession(this.id);
      location.hash = "#/";
    } catch (error) {
      setText(this.wrong, error.message);
    }
  }

  pressed(event) {
    if (isTyping(event)) return;
    const actions = { f: "fullscreen", s: "snapshot", r: "record", k: "keyframe", i: "figures" };
    const action = actions[event.key.toLowerCase()];
    if (action) {
      event.preventDefault();
      this.buttons[action].click();
    } else if (event.key === "Escape" && !document.fullscreenElement) {
      location.hash = "#/";
    }
  }

  end() {
    document.removeEventListener("keydown", this.keys);
    clearInterval(this.timer);
    if (this.recorder) this.record();
    this.isEnded = true;
    this.release();
  }
}
