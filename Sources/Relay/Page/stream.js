// A session's WebSocket, docs/websocket.md: takes messages apart, keeps the relay's clock, connects again.

import { address, api } from "./api.js";
import { RelayClock } from "./clock.js";
import { closureText } from "./words.js";

const pauses = [500, 1000, 2000, 4000, 8000];
const clockInterval = 10_000;

/**
 * Events: `state` {text, ended}, `closed` {text} why the relay closed the connection, where that is this page's doing, `event` the relay's JSON, `configuration` {codec, width, height, orientation, preamble},
 * `picture` {pts, key, repeat, skip, orientation, captured, encoded, relayed, received, data}. Instants are ms of performance.now();
 * those of the relay are null until its clock is known.
 */
export class Stream extends EventTarget {
  /** `container`: "mp4", or nothing for Annex B. */
  constructor(session, container) {
    super();
    this.session = session;
    this.name = container ? `ws?container=${container}` : "ws";
    this.attempt = 0;
    /** Whether there is no connection that there was. */
    this.isCut = false;
    this.clock = new RelayClock();
    this.connect();
  }

  end() {
    this.ended = true;
    clearTimeout(this.timer);
    clearInterval(this.clockTimer);
    this.socket.onmessage = null;
    this.socket.close();
  }

  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  connect() {
    this.tell("state", { text: this.attempt === 0 ? "Connecting" : "Connecting again" });
    const socket = new WebSocket(address("ws", this.session, this.name));
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.isCut = false;
      this.tell("state", { text: "Waiting for a picture" });
      const ask = () => this.askClock(this.clock.ask(performance.now()));
      ask();
      this.clockTimer = setInterval(ask, clockInterval);
    };
    socket.onmessage = ({ data }) => (typeof data === "string" ? this.text(JSON.parse(data)) : this.binary(new DataView(data)));
    socket.onclose = (event) => this.closed(event);
    this.socket = socket;
  }

  async closed({ code, reason }) {
    clearInterval(this.clockTimer);
    if (this.ended) return;
    this.isCut = true;
    // The event comes also where its Close is lost.
    const [text, isKept] = closureText(code, this.reason ?? reason);
    this.reason = undefined;
    if (isKept) this.tell("closed", { text });
    const refusal = await api.refusal(this.session);
    if (this.ended) return;
    if (refusal?.code === "unknown_session") {
      this.ended = true;
      return this.tell("state", { text: "This session has ended.", ended: true });
    }
    const pause = pauses[Math.min(this.attempt, pauses.length - 1)];
    this.attempt += 1;
    const why = refusal?.message ?? text;
    this.tell("state", { text: `${why} Trying again in ${pause / 1000} s.` });
    this.timer = setTimeout(() => this.connect(), pause);
  }

  text(event) {
    if (event.type === "clock") this.askClock(this.clock.answered(event.id, event.relay, performance.now()));
    else if (event.type === "end") this.reason = event.reason;
    else this.tell("event", event);
  }

  askClock(id) {
    if (id !== null) this.send({ type: "clock", id });
  }

  /** Tells the relay that a picture was presented, and when, if it was just now: an instant of performance.now(). */
  acknowledge(pts, at) {
    const presented = at === undefined ? null : this.clock.relay(at);
    this.send(presented === null ? { type: "ack", pts } : { type: "ack", pts, presented });
  }

  binary(view) {
    const received = performance.now();
    const bytes = new Uint8Array(view.buffer);
    if (view.getUint8(0) === 1) {
      const length = view.getUint16(12);
      const codec = String.fromCharCode(...bytes.subarray(14, 14 + length));
      this.tell("configuration", {
        codec,
        orientation: view.getUint8(2),
        width: view.getUint32(4),
        height: view.getUint32(8),
        preamble: bytes.subarray(14 + length),
      });
    } else if (view.getUint8(0) === 2) {
      const flags = view.getUint8(1);
      this.attempt = 0;
      this.tell("picture", {
        pts: Number(view.getBigInt64(4)),
        key: (flags & 1) !== 0,
        repeat: (flags & 2) !== 0,
        skip: (flags & 4) !== 0,
        orientation: view.getUint8(2),
        captured: this.clock.local(view.getBigUint64(12)),
        encoded: this.clock.local(view.getBigUint64(20)),
        relayed: this.clock.local(view.getBigUint64(28)),
        received,
        data: bytes.subarray(36),
      });
    }
  }
}
