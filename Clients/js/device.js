// One device.

import { Screen } from "./screen.js";
import { NamedSession } from "./session.js";

/**
 * A device of the relay.
 *
 * Its screen is that of its session `shared`. If the device's configuration says `onDemand: true`, the first call that
 * watches, waits or takes a picture starts that session.
 */
export class Device extends Screen {
  /**
   * @param {import("./relay.js").Relay} relay
   * @param {string} name
   */
  constructor(relay, name) {
    super(relay, `v1/devices/${encodeURIComponent(name)}`);
    this.name = name;
  }

  /** Returns its session of this name. The relay is not asked: `put` starts it. */
  session(name = "shared") {
    return new NamedSession(this.relay, `${this.path}/sessions/${encodeURIComponent(name)}`);
  }

  /** Starts the broadcast, unless it runs, and returns when it has a picture source. @returns {Promise<object>} */
  start(settings = {}) {
    return this.relay.call("POST", `${this.path}/broadcast/start`, { body: settings });
  }

  /**
   * Stops the broadcast. Sessions stay.
   *
   * @param {{ keepScreenshots?: boolean }} [settings] Whether the device's screenshots go on feeding them.
   */
  stop(settings = {}) {
    return this.relay.call("POST", `${this.path}/broadcast/stop`, { body: settings });
  }

  /** Returns the broadcast's state and figures. @returns {Promise<object>} */
  get() {
    return this.relay.call("GET", `${this.path}/broadcast`);
  }

  // The library

  /**
   * Records it into the library: its session `shared`, which is started if there is none.
   *
   * @returns {Promise<object>} The session's state, settings and figures.
   */
  startRecording() {
    return this.relay.call("POST", `${this.path}/record/start`);
  }

  /** Ends the recording of its session `shared`, which goes on. @returns {Promise<object>} */
  stopRecording() {
    return this.relay.call("POST", `${this.path}/record/stop`);
  }

  // Pointer and keyboard

  /**
   * Acts on the desktop, and returns when the desktop has taken it.
   *
   *     await device.act({ click: { x: 500, y: 320 } });
   *
   * The methods below are short forms. They reject with a `RelayError` if the desktop cannot do it (`no_input`), if a
   * place is outside the picture (`out_of_range`), or if another controller has the device (`controlled`).
   *
   * @param {Record<string, any>} action As for POST /v1/devices/{device}/actions.
   * @param {ActionOptions} [options]
   * @returns {Promise<ActionAnswer>}
   */
  act(action, { session, geometry, take, signal } = {}) {
    const body = Object.fromEntries(Object.entries({ session, geometry, take }).filter(([, value]) => value != null));
    return this.relay.call("POST", `${this.path}/actions`, { body: { ...body, ...action }, signal });
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {ActionOptions & { button?: "left" | "middle" | "right" | "back" | "forward", count?: number }} [options]
   */
  click(x, y, { button = "left", count = 1, ...options } = {}) {
    return this.act({ click: { x, y, button, count } }, options);
  }

  /** @param {ActionOptions} [options] */
  doubleClick(x, y, options) {
    return this.act({ doubleClick: { x, y } }, options);
  }

  /** Taps with a finger. @param {ActionOptions} [options] */
  tap(x, y, options) {
    return this.act({ tap: { x, y } }, options);
  }

  /**
   * Swipes with a finger.
   *
   * @param {[number, number]} from
   * @param {[number, number]} to
   * @param {ActionOptions & { duration?: number }} [options] How long it takes, s. Default: 0.3.
   */
  swipe(from, to, { duration = 0.3, ...options } = {}) {
    return this.act({ swipe: { from, to, duration } }, options);
  }

  /**
   * Drags with the left mouse button.
   *
   * @param {[number, number]} from
   * @param {[number, number]} to
   * @param {ActionOptions & { duration?: number }} [options] How long it takes, s. Default: 0.3.
   */
  drag(from, to, { duration = 0.3, ...options } = {}) {
    return this.act({ drag: { from, to, duration } }, options);
  }

  /**
   * Turns the wheel by pixels. Right and down are positive. A notch of a wheel is up to 120.
   *
   * @param {ActionOptions & { dx?: number, dy?: number }} [options]
   */
  scroll(x, y, { dx = 0, dy = 0, ...options } = {}) {
    return this.act({ scroll: { x, y, dx, dy } }, options);
  }

  /** Types the text. Line feeds are Return, tabs are Tab. @param {ActionOptions} [options] */
  type(text, options) {
    return this.act({ type: text }, options);
  }

  /** Presses keys, such as `enter` or `ctrl+shift+t`; more chords after spaces. @param {ActionOptions} [options] */
  press(chords, options) {
    return this.act({ press: chords }, options);
  }

  /**
   * Gives the monitor another size. Rejects with `no_input` if it has hardware, or its desktop cannot do that.
   *
   * @param {number} width
   * @param {number} height
   * @param {ActionOptions} [options]
   */
  resize(width, height, options) {
    return this.act({ resize: { width, height } }, options);
  }

  /**
   * Performs actions of W3C WebDriver (Level 2, section Actions). What they leave held is released after 2 s without
   * another action, or by `release`.
   *
   * @param {object[]} sources
   * @param {ActionOptions} [options]
   */
  actions(sources, options) {
    return this.act({ actions: sources }, options);
  }

  /**
   * Releases all keys, buttons and fingers of the device, and ends this caller's control of it.
   *
   * @param {object} [options]
   * @param {boolean} [options.take] Whether also those that another controller holds.
   */
  release({ take } = {}) {
    return this.relay.call("DELETE", `${this.path}/actions`, { query: { take } });
  }

  // The clipboard

  /**
   * Returns the text in the desktop's clipboard. Rejects with `empty_clipboard` if it has none.
   *
   * @param {object} [options]
   * @param {boolean} [options.take] Takes the device from another controller at once.
   * @param {AbortSignal} [options.signal]
   * @returns {Promise<string>}
   */
  async clipboard(options) {
    return (await this.#clipboard("text", options)).text();
  }

  /**
   * Returns the PNG image in the desktop's clipboard. Rejects with `empty_clipboard` if it has none.
   *
   * @param {{ take?: boolean, signal?: AbortSignal }} [options]
   * @returns {Promise<Blob>}
   */
  async clipboardImage(options) {
    return (await this.#clipboard("png", options)).blob();
  }

  #clipboard(type, { take, signal } = {}) {
    return this.relay.request("GET", `${this.path}/clipboard`, { query: { type, take }, signal });
  }

  /**
   * Puts a text or a PNG image into the desktop's clipboard. Programs can paste it until another one sets the
   * clipboard, or the capture agent ends.
   *
   * @param {string | Blob | ArrayBuffer | Uint8Array} content
   * @param {{ take?: boolean, signal?: AbortSignal }} [options]
   * @returns {Promise<object>}
   */
  setClipboard(content, { take, signal } = {}) {
    const headers = { "Content-Type": typeof content === "string" ? "text/plain; charset=utf-8" : "image/png" };
    return this.relay.call("PUT", `${this.path}/clipboard`, { query: { take }, body: content, headers, signal });
  }

  // Applications

  /**
   * Launches an application of the relay's configuration. If it fails, nothing of it keeps running.
   *
   *     const terminal = await device.launch("terminal", { wait: true });
   *     await device.terminate(terminal.id);
   *
   * @param {string | null} name `null` with a desktop file.
   * @param {object} [options]
   * @param {string} [options.desktopFile] The id of a desktop file, in place of the name.
   * @param {string[]} [options.arguments] For the application, if the configuration allows them.
   * @param {boolean} [options.wait] Whether to wait until it has a window, which sway and X11 tell.
   * @param {number} [options.timeout] How long to wait for the window, s. Default: 10.
   * @param {boolean} [options.take] Takes the device from another controller at once.
   * @param {AbortSignal} [options.signal] Stops waiting for the answer.
   * @returns {Promise<{ id: string, name: string, running: boolean, pid: number | null }>}
   */
  launch(name, { signal, ...options } = {}) {
    const body = Object.fromEntries(Object.entries({ name, ...options }).filter(([, value]) => value != null));
    return this.relay.call("POST", `${this.path}/applications`, { body, signal });
  }

  /** Returns what was launched (`applications`), and what may be (`launchable`, `desktopFiles`). */
  applications() {
    return this.relay.call("GET", `${this.path}/applications`);
  }

  /** Gives the keyboard to the newest window of a launched application. @param {string} id */
  focusApplication(id, { take = false } = {}) {
    return this.relay.call("POST", `${this.#application(id)}/focus`, { body: { take } });
  }

  /** Ends all processes of a launched application, and returns how it ended. @param {string} id */
  terminate(id, { take } = {}) {
    return this.relay.call("DELETE", this.#application(id), { query: { take } });
  }

  #application(id) {
    return `${this.path}/applications/${encodeURIComponent(id)}`;
  }

  // Pictures to wait for

  /** Lists the templates. @returns {Promise<object[]>} */
  async templates() {
    return (await this.relay.call("GET", `${this.path}/templates`)).templates;
  }

  /**
   * Uploads a PNG picture for `wait`. Its transparent pixels do not count.
   *
   * @param {string} name
   * @param {Blob | ArrayBuffer | Uint8Array} png
   * @returns {Promise<object>}
   */
  putTemplate(name, png) {
    return this.relay.call("PUT", this.#template(name), { body: png });
  }

  deleteTemplate(name) {
    return this.relay.call("DELETE", this.#template(name));
  }

  #template(name) {
    return `${this.path}/templates/${encodeURIComponent(name)}`;
  }
}

/**
 * @typedef {object} ActionOptions
 * @property {string} [session] The session whose pixels the places are, by its name or id. Default: the
 *   session `shared`, or the device's only one.
 * @property {number} [geometry] The header Heliograph-Geometry of the snapshot that the places are from. If the screen
 *   has another size or orientation by now, nothing is done, and the error is `geometry_changed`.
 * @property {boolean} [take] Takes the device from another controller at once.
 * @property {AbortSignal} [signal] Stops waiting for the answer. The desktop may still get the action.
 */

/**
 * @typedef {object} ActionAnswer
 * @property {string} device
 * @property {number | null} session
 * @property {string} at Just before the desktop got the last event.
 * @property {number | null} startPts Just before the desktop got the first event, on the session's clock, µs.
 * @property {number | null} pts `at` on the session's clock, µs.
 * @property {number} steps
 */
