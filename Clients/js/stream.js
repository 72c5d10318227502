// A session's WebSocket, docs/reference/websocket.md: keeps the relay's clock, connects again.

import { RelayClock } from "./clock.js";
import { closureText } from "./closures.js";
import { parseMessage } from "./messages.js";
import { pauseAfter } from "./pauses.js";

/** How often the relay is asked for its clock, ms. */
const clockInterval = 10_000;

/**
 * A connection to a session: `connect` opens it, and it connects again when it breaks off.
 *
 * Events:
 *  - `state` {state, text}: `connecting`, `waiting` for a picture, `interrupted` or `ended`;
 *  - `closed` {text}: the relay closed the connection because of this page;
 *  - `event`: the relay's JSON;
 *  - `tracks` {tracks}: the session's tracks, when it connects and when they change;
 *  - `configuration`, `picture` and `sound`, see `messages.js`. Sound comes only if it was asked for.
 */
export class Stream extends EventTarget {
  /**
   * @param {import("./screen.js").Screen} screen
   * @param {"mp4"} [container] Default: Annex B.
   * @param {object} [options]
   * @param {boolean} [options.audio] Whether a container has the device's sound. Annex B: see `audio`.
   */
  constructor(screen, container, { audio = false } = {}) {
    super();
    this.screen = screen;
    this.container = container;
    this.hasAsked = audio;
    this.address = screen.address("ws", { container, audio: (container && audio) || undefined });
    /** The session's tracks; empty until it is connected. @type {import("./messages.js").Track[]} */
    this.tracks = [];
    /** A container's track of sound; `undefined` if it has none. @type {import("./messages.js").Track | undefined} */
    this.contained = undefined;
    /** Whether pictures repeat while the screen is static; `undefined` until it is connected. */
    this.repeats = undefined;
    /** Whether the relay wants to know what arrives. */
    this.adapts = false;
    this.failures = 0;
    /** Whether the connection is lost. */
    this.isCut = false;
    this.clock = new RelayClock();
  }

  end() {
    this.ended = true;
    clearTimeout(this.timer);
    clearInterval(this.clockTimer);
    if (this.socket) this.socket.onmessage = null;
    this.socket?.close();
  }

  /** Connects at once if it waits to connect again. */
  retry() {
    if (this.timer === undefined || this.ended) return;
    clearTimeout(this.timer);
    this.connect();
  }

  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** Asks for sound, or ends it. It stays so when the connection is made again. Not for containers. */
  audio(isOn) {
    if (this.container) return;
    this.hasAsked = isOn;
    this.send({ type: "audio", on: isOn });
  }

  /** The session's sound; `undefined` if it has none. @returns {import("./messages.js").Track | undefined} */
  get sound() {
    return this.tracks.find(({ kind }) => kind === "audio");
  }

  /** Sends a message of `input.js`. */
  sendInput(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(message);
  }

  /** Bytes that wait for the network. */
  get waiting() {
    return this.socket?.bufferedAmount ?? 0;
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  connect() {
    this.timer = undefined;
    /** What places mean in the pictures that come. */
    this.geometry = 0;
    this.tell("state", { state: "connecting", text: this.failures === 0 ? "Connecting" : "Connecting again" });
    const socket = new WebSocket(this.address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.isCut = false;
      this.tell("state", { state: "waiting", text: "Waiting for a picture" });
      const ask = () => this.askClock(this.clock.ask(performance.now()));
      ask();
      if (this.hasAsked) this.audio(true);
      this.clockTimer = setInterval(ask, clockInterval);
    };
    socket.onmessage = ({ data }) => (typeof data === "string" ? this.text(JSON.parse(data)) : this.binary(data));
    socket.onclose = (event) => this.closed(event);
    this.socket = socket;
  }

  async closed({ code, reason }) {
    clearInterval(this.clockTimer);
    if (this.ended) return;
    this.isCut = true;
    // The event comes even if its Close is lost.
    const [text, isKept] = closureText(code, this.reason ?? reason);
    this.reason = undefined;
    if (isKept) this.tell("closed", { text });
    const refusal = await this.screen.refusal("ws");
    if (this.ended) return;
    if (refusal?.code === "unknown_session" && !this.screen.isLasting) {
      this.ended = true;
      return this.tell("state", { state: "ended", text: "This session has ended." });
    }
    if (refusal?.code === "bad_link") {
      this.ended = true;
      return this.tell("state", { state: "ended", text: refusal.sentence });
    }
    this.failures += 1;
    const pause = pauseAfter(this.failures);
    this.tell("state", { state: "interrupted", text: `${refusal?.sentence ?? text} Trying again in ${pause / 1000} s.` });
    this.timer = setTimeout(() => this.connect(), pause);
  }

  text(event) {
    if (event.type === "clock") this.askClock(this.clock.answered(event.id, event.relay, performance.now()));
    else if (event.type === "end") this.reason = event.reason;
    else {
      if (event.type === "size") this.geometry = event.geometry ?? 0;
      if (event.type === "target") this.adapts = event.adapt !== "fixed";
      if (event.tracks) this.tracks = event.tracks;
      if (event.type === "hello") {
        this.contained = this.container && this.hasAsked ? this.sound : undefined;
        this.repeats = event.repeat;
      }
      this.tell("event", event);
      if (event.tracks) this.tell("tracks", { tracks: event.tracks });
    }
  }

  binary(message) {
    const parsed = parseMessage(message, this.clock, performance.now());
    if (parsed === null) return;
    if (parsed.type === "picture") {
      this.failures = 0;
      parsed.geometry = this.geometry;
      if (this.adapts && !parsed.repeat) this.send({ type: "received", pts: parsed.pts });
    }
    this.tell(parsed.type, parsed);
  }

  askClock(id) {
    if (id !== null) this.send({ type: "clock", id });
  }

  /**
   * Tells the relay that a picture was presented.
   *
   * @param {number} pts
   * @param {number} [at] When, if it was just now: an instant of `performance.now()`.
   */
  acknowledge(pts, at) {
    const presented = at === undefined ? null : this.clock.relay(at);
    this.send(presented === null ? { type: "ack", pts } : { type: "ack", pts, presented });
  }
}
