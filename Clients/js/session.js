// One session.

import { Screen } from "./screen.js";

/** A session. Its calls reject with `unknown_session` once it has ended. */
export class Session extends Screen {
  /** Returns its state, settings and figures. @returns {Promise<object>} */
  get() {
    return this.relay.call("GET", this.path);
  }

  /**
   * Changes it while it runs: bitrate, fps, `adapt`, `minBitrate`, size, `join`, `onDemand`, `record`, `recordWhen`.
   * Its viewers stay.
   *
   * @returns {Promise<object>}
   */
  change(settings) {
    return this.relay.call("PATCH", this.path, { body: settings });
  }

  /** Asks its encoder for a keyframe. */
  keyframe() {
    return this.relay.call("POST", `${this.path}/keyframe`);
  }

  /** Ends it. */
  stop() {
    return this.relay.call("POST", `${this.path}/stop`);
  }
}

/** A device's session, by its name. */
export class NamedSession extends Session {
  /**
   * Starts it, or changes it, so that it is what the settings say. Absent settings mean their defaults.
   *
   * @param {object} [settings] As for POST /v1/sessions, without `device`.
   * @returns {Promise<object>} Its state, settings and figures.
   */
  put(settings = {}) {
    return this.relay.call("PUT", this.path, { body: settings });
  }

  /** Ends it, if it is there. @returns {Promise<{ stopped: number }>} */
  delete() {
    return this.relay.call("DELETE", this.path);
  }
}
