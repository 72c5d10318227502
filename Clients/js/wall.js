// The wall's WebSocket: small pictures of many sessions, and the relay's events. docs/reference/wall.md

import { RelayError } from "./errors.js";
import { pauseAfter } from "./pauses.js";

/** How many bytes of a picture's message come before its JPEG: the session's id. */
const headerLength = 4;

/**
 * A connection for a page that shows many sessions at once. It connects again if it breaks off.
 *
 *     const wall = new Wall(relay);
 *     wall.addEventListener("picture", ({ detail }) => show(detail.session, URL.createObjectURL(detail.picture)));
 *     wall.show([3, 4, 9], { width: 320 });
 *     wall.connect();
 *
 * Events, each with its `detail`:
 *  - `state` {state, text, error}: a `WallState`, what it means in words, and why the relay refused;
 *  - `picture` {session, picture}: a session's picture as a Blob, a JPEG. It comes again when the screen has changed;
 *  - `dark` {session}: there is no picture of the session at the moment;
 *  - `event`: what has happened, as `relay.events` yields it. Events are lost while the connection is: after each
 *    `connected`, list what you show.
 */
export class Wall extends EventTarget {
  /** @param {import("./relay.js").Relay} relay */
  constructor(relay) {
    super();
    this.relay = relay;
    this.failures = 0;
    /** @type {WallState} */
    this.state = "closed";
  }

  /** Opens the connection, unless there is one. */
  connect() {
    if (this.socket) return;
    clearTimeout(this.timer);
    this.say("connecting", "Connecting");
    const socket = new WebSocket(this.relay.address("v1/wall").replace(/^http/, "ws"));
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.send();
      this.say("connected", "");
    };
    socket.onmessage = ({ data }) => {
      // A relay that closes each connection at once is asked less and less often.
      this.failures = 0;
      if (typeof data === "string") this.#text(JSON.parse(data));
      else this.#binary(data);
    };
    socket.onclose = () => this.#broke();
    this.socket = socket;
  }

  /** Closes the connection. `connect` opens it again. */
  close() {
    clearTimeout(this.timer);
    this.#drop();
    if (this.state !== "closed") this.say("closed", "");
  }

  /**
   * Chooses the sessions whose pictures come, in place of those before. It stays so when the connection is made again.
   *
   * @param {number[]} sessions Their ids, at most 256, the most wanted first.
   * @param {object} [options]
   * @param {number} [options.width] The longer side of a picture at most, 16 to 1920 pixels. Default: 320.
   * @param {number} [options.interval] The least time between two pictures of a session, 0.5 to 60 s. Default: 2.
   */
  show(sessions, { width, interval } = {}) {
    this.wish = { type: "show", sessions: sessions.slice(0, Wall.most), width, interval };
    this.send();
  }

  /** How many sessions a wall shows at most. */
  static most = 256;

  send() {
    if (this.wish && this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(this.wish));
  }

  #text(message) {
    if (message.type === "event") this.tell("event", message.event);
    else if (message.type === "dark") this.tell("dark", { session: message.session });
  }

  #binary(message) {
    const session = new DataView(message).getUint32(0);
    this.tell("picture", { session, picture: new Blob([message.slice(headerLength)], { type: "image/jpeg" }) });
  }

  #drop() {
    const { socket } = this;
    this.socket = undefined;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  /** Connects again after a pause, unless another attempt would be refused as well. */
  async #broke() {
    const { socket } = this;
    const error = await this.#refusal();
    // Meanwhile it may have been closed, or opened again.
    if (socket !== this.socket) return;
    this.#drop();
    if (error?.status === 401 || error?.status === 403) return this.say("refused", error.message, error);
    this.failures += 1;
    this.timer = setTimeout(() => this.connect(), pauseAfter(this.failures));
    this.say("interrupted", error?.message ?? "The connection broke off.", error);
  }

  /** Says why the relay refuses the socket, which the socket does not tell; `null` if it does not refuse it. */
  async #refusal() {
    try {
      await this.relay.request("GET", "v1/wall");
      return null;
    } catch (error) {
      return error instanceof RelayError && error.code !== "upgrade_required" ? error : null;
    }
  }

  say(state, text, error = null) {
    this.state = state;
    this.tell("state", { state, text, error });
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

/**
 * - `connecting`; `connected`;
 * - `interrupted`: the connection broke off or the relay does not answer; the wall tries again by itself;
 * - `refused`: the caller may not; call `connect` when that has changed;
 * - `closed`: nothing was opened yet, or `close` was called.
 *
 * @typedef {"connecting" | "connected" | "interrupted" | "refused" | "closed"} WallState
 */
