// A session's WebSocket, docs/websocket.md: takes messages apart, keeps the relay's clock, connects again.

import { address, api } from "./api.js";

const pauses = [500, 1000, 2000, 4000, 8000];
const clockRounds = 8;
const clockInterval = 10_000;

/**
 * Events: `state` {text, ended}, `event` the relay's JSON, `configuration` {codec, width, height, orientation},
 * `picture` {pts, key, repeat, skip, orientation, captured, encoded, relayed, received, data}. Instants are ms of performance.now();
 * those of the relay are null until its clock is known.
 */
export class Stream extends EventTarget {
  constructor(session) {
    super();
    this.session = session;
    this.attempt = 0;
    this.offset = null;
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
    const socket = new WebSocket(address("ws", this.session, "ws"));
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.tell("state", { text: "Waiting for a picture" });
      this.askClock();
      this.clockTimer = setInterval(() => this.askClock(), clockInterval);
    };
    socket.onmessage = ({ data }) => (typeof data === "string" ? this.text(JSON.parse(data)) : this.binary(new DataView(data)));
    socket.onclose = () => this.closed();
    this.socket = socket;
  }

  async closed() {
    clearInterval(this.clockTimer);
    if (this.ended) return;
    const refusal = await api.refusal(this.session);
    if (this.ended) return;
    if (refusal?.code === "unknown_session") {
      this.ended = true;
      return this.tell("state", { text: "This session has ended.", ended: true });
    }
    const pause = pauses[Math.min(this.attempt, pauses.length - 1)];
    this.attempt += 1;
    const why = refusal?.message ?? "The connection broke off.";
    this.tell("state", { text: `${why} Trying again in ${pause / 1000} s.` });
    this.timer = setTimeout(() => this.connect(), pause);
  }

  text(event) {
    if (event.type === "clock") this.clockAnswered(event);
    else this.tell("event", event);
  }

  binary(view) {
    const received = performance.now();
    const bytes = new Uint8Array(view.buffer);
    if (view.getUint8(0) === 1) {
      const length = view.getUint16(12);
      const codec = String.fromCharCode(...bytes.subarray(14, 14 + length));
      this.tell("configuration", { codec, orientation: view.getUint8(2), width: view.getUint32(4), height: view.getUint32(8) });
    } else if (view.getUint8(0) === 2) {
      const flags = view.getUint8(1);
      this.attempt = 0;
      this.tell("picture", {
        pts: Number(view.getBigInt64(4)),
        key: (flags & 1) !== 0,
        repeat: (flags & 2) !== 0,
        skip: (flags & 4) !== 0,
        orientation: view.getUint8(2),
        captured: this.local(view.getBigUint64(12)),
        encoded: this.local(view.getBigUint64(20)),
        relayed: this.local(view.getBigUint64(28)),
        received,
        data: bytes.subarray(36),
      });
    }
  }

  // The relay's clock: of eight rounds the one with the shortest way there and back is the truest.

  askClock() {
    this.round = { answers: 0, best: null };
    this.askOnce();
  }

  askOnce() {
    this.asked = performance.now();
    this.send({ type: "clock", id: this.round.answers });
  }

  clockAnswered({ id, relay }) {
    if (id !== this.round.answers) return;
    const now = performance.now();
    const trip = now - this.asked;
    if (!this.round.best || trip < this.round.best.trip) {
      this.round.best = { trip, offset: (now + this.asked) / 2 - relay / 1e6 };
    }
    this.round.answers += 1;
    if (this.round.answers < clockRounds) return this.askOnce();
    this.offset = this.round.best.offset;
    this.clockError = this.round.best.trip / 2;
  }

  /** An instant of the relay on this page's clock, ms. */
  local(nanoseconds) {
    return this.offset === null ? null : Number(nanoseconds) / 1e6 + this.offset;
  }
}
