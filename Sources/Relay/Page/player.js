// One session, large: picture, figures, charts.

import { address, api } from "./api.js";
import { Chart } from "./chart.js";
import { Decoder, obstacle } from "./decoder.js";
import { element, isTyping, setText } from "./dom.js";
import { fileName, Recorder, save } from "./recorder.js";
import { Statistics } from "./statistics.js";
import { Stream } from "./stream.js";
import { bitrate, feedBadge, milliseconds, sessionName, sessionText } from "./words.js";

const rate = (value) => (Number.isFinite(value) ? value.toFixed(1) : "–");

export class Player {
  constructor(id) {
    this.id = id;
    this.statistics = new Statistics();
    this.relayStatistics = {};
    this.dropped = 0;
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
    this.wrong = element("p", { class: "wrong", role: "alert" });
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
    this.root = element(
      "div",
      { class: "player" },
      element(
        "div",
        { class: "heading" },
        element("div", {}, element("a", { href: "#/", text: "← All sessions" }), this.title, this.facts),
        element("button", { type: "button", text: "Stop session", on: { click: () => this.stopSession() } }),
      ),
      this.stage,
      element("div", { class: "actions" }, ...Object.values(this.buttons)),
      this.wrong,
      element("div", { class: "charts" }, ...this.charts.map((chart) => chart.root)),
      element("details", {}, element("summary", { text: "Watch elsewhere" }), this.addresses),
    );
  }

  // What is known of the session

  update({ sessions, broadcasts }) {
    const session = sessions.find((session) => session.id === this.id);
    if (!session) return;
    this.session = session;
    setText(this.title, sessionName(session));
    setText(this.facts, [sessionText(session), `device ${session.device}`, session.encoder].filter(Boolean).join(" · "));
    this.kind = broadcasts.find((broadcast) => broadcast.device === session.device)?.source.kind;
    this.showBadge(session);
    setText(this.wrong, session.error ?? "");
    if (this.addresses.childElementCount === 0) this.showAddresses(session);
    if (!this.stream) this.watch(session.codec);
  }

  showBadge(session) {
    const badge = feedBadge(session, this.kind);
    this.badge.hidden = badge === null;
    if (!badge) return;
    setText(this.badge, badge[0]);
    this.badge.className = badge[1] ? "badge bad" : "badge";
  }

  showAddresses({ id, codec, port }) {
    const raw = address("http", id, `stream.${codec}`);
    const rows = [
      ["Player", `curl -sN ${raw} | ffplay -f ${codec === "h265" ? "hevc" : "h264"} -`],
      ["HTTP", raw],
      ["WebSocket", address("ws", id, "ws")],
      ["TCP", `127.0.0.1:${port}, on the relay's machine`],
    ];
    for (const [name, text] of rows) this.addresses.append(element("dt", { text: name }), element("dd", {}, element("code", { text })));
  }

  // The stream

  watch(codec) {
    const hindrance = obstacle(codec);
    if (hindrance) return this.say(hindrance);
    this.decoder = new Decoder(this.canvas);
    this.decoder.addEventListener("presented", ({ detail }) => this.presented(detail));
    this.decoder.addEventListener("trouble", ({ detail }) => this.say(detail.text));
    this.decoder.addEventListener("starved", () => this.stream.send({ type: "keyframe" }));
    this.stream = new Stream(this.id);
    this.stream.addEventListener("state", ({ detail }) => this.say(detail.text));
    this.stream.addEventListener("configuration", ({ detail }) => this.decoder.configure(detail));
    this.stream.addEventListener("event", ({ detail }) => this.told(detail));
    this.stream.addEventListener("picture", ({ detail }) => {
      this.statistics.received(detail);
      this.decoder.decode(detail);
      if (this.recorder && !this.recorder.add(detail)) this.record();
    });
  }

  told(event) {
    if (event.type === "stats") this.relayStatistics = event;
    if (event.type === "resync") this.dropped += event.dropped;
    if (event.type === "feed" && this.session) {
      this.session.source = event.source;
      this.showBadge(this.session);
      if (event.source === "none") this.say("No pictures are coming. They go on by themselves when the screen is back.");
    }
  }

  presented({ picture, at }) {
    this.statistics.presented(picture, at);
    if (!this.message.hidden) this.say("");
    this.canvas.dispatchEvent(new CustomEvent("presented", { detail: { pts: picture.pts, repeat: picture.repeat, at } }));
  }

  say(text) {
    setText(this.message, text);
    this.message.hidden = text === "";
  }

  tick() {
    this.statistics.tick();
    const { lastPTS, history } = this.statistics;
    if (lastPTS !== undefined) this.stream?.send({ type: "ack", pts: lastPTS });
    for (const chart of this.charts) chart.draw(history);
    if (!this.overlay.hidden) this.drawOverlay();
  }

  drawOverlay() {
    const { now, latency, totals, stages } = this.statistics;
    const median = (values) => milliseconds(values.length ? [...values].sort((a, b) => a - b)[values.length >> 1] : NaN);
    const { canvas, stream, decoder, relayStatistics } = this;
    const rows = [
      ["Feed", this.session?.source ?? "–"],
      ["Size", `${canvas.width} × ${canvas.height}`],
      ["Arrived", `${rate(now.fpsIn)} fps`],
      ["Presented", `${rate(now.fpsOut)} fps`],
      ["Bit rate", bitrate(now.bitrate)],
      ["Latency p50 / p95", `${milliseconds(latency.p50)} / ${milliseconds(latency.p95)}`],
      ["to encoded", median(stages.encode)],
      ["to relay", median(stages.link)],
      ["to here", median(stages.network)],
      ["to picture", median(stages.decode)],
      ["Clock known to", `± ${milliseconds(stream?.clockError)}`],
      ["Repeats", String(totals.repeats)],
      ["Dropped", `${this.dropped} by the relay, ${decoder?.skipped ?? 0} here`],
      ["Decoder errors", String(decoder?.errors ?? 0)],
      ["Viewers", String(relayStatistics.viewers ?? "–")],
    ];
    this.overlay.replaceChildren(...rows.flatMap(([name, text]) => [element("dt", { text: name }), element("dd", { text })]));
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
    if (this.statistics.totals.presented === 0) return setText(this.wrong, "There is no picture to save yet.");
    this.canvas.toBlob((blob) => blob && save(blob, fileName(this.id, "png")), "image/png");
  }

  record() {
    const button = this.buttons.record;
    if (this.recorder) {
      const kept = this.recorder.finish(this.id, this.session.codec);
      setText(this.wrong, kept ? "" : "Nothing was recorded: no keyframe came.");
      this.recorder = undefined;
    } else if (this.stream) {
      this.recorder = new Recorder();
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
    this.stream?.end();
    this.decoder?.close();
  }
}
