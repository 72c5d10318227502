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
 *  - `configuration` and `picture`, see `messages.js`.
 */
export class Stream extends EventTarget {
  /**
   * @param {import("./screen.js").Screen} screen
   * @param {"mp4"} [container] Default: Annex B.
   */
  constructor(screen, container) {
    super();
    this.screen = screen;
    this.address = screen.address("ws", { container });
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

  /** Sends a message of `input.js`. */
  sendInput(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(message);
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
    this.failures += 1;
    const pause = pauseAfter(this.failures);
    this.tell("state", { state: "interrupted", text: `${refusal?.message ?? text} Trying again in ${pause / 1000} s.` });
    this.timer = setTimeout(() => this.connect(), pause);
  }

  text(event) {
    if (event.type === "clock") this.askClock(this.clock.answered(event.id, event.relay, performance.now()));
    else if (event.type === "end") this.reason = event.reason;
    else {
      if (event.type === "size") this.geometry = event.geometry ?? 0;
      this.tell("event", event);
    }
  }

  binary(message) {
    const parsed = parseMessage(message, this.clock, performance.now());
    if (parsed === null) return;
    if (parsed.type === "picture") {
      this.failures = 0;
      parsed.geometry = this.geometry;
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
