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

  /** Stops the broadcast. Sessions stay. */
  stop() {
    return this.relay.call("POST", `${this.path}/broadcast/stop`);
  }

  /** Returns the broadcast's state and figures. @returns {Promise<object>} */
  get() {
    return this.relay.call("GET", `${this.path}/broadcast`);
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
