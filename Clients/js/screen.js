// What can be watched: a session, or a device's shared one.

import { WaitError } from "./errors.js";

/** Lists numbers as queries have them. A box may be `[x, y, width, height]` or an object with these fields. */
function numbers(values) {
  if (values == null || Array.isArray(values)) return values?.join(",");
  const { x, y, width, height } = values;
  return [x, y, width, height].join(",");
}

/** What can be watched, waited for and taken pictures of. */
export class Screen {
  /**
   * @param {import("./relay.js").Relay} relay
   * @param {string} path Where it is, from the relay's root on.
   */
  constructor(relay, path) {
    this.relay = relay;
    this.path = path;
  }

  /** Whether its address means another session once this one has ended: a name's does, an id's does not. */
  get isLasting() {
    return !this.path.startsWith("v1/sessions/");
  }

  /**
   * Returns the address of one of its streams or pictures.
   *
   * @param {string} name Such as `stream.mp4` or `ws`. The latter's address begins with `ws:` or `wss:`.
   * @param {Record<string, any>} [query]
   */
  address(name, query) {
    const address = this.relay.address(`${this.path}/${name}`, query);
    return name === "ws" ? address.replace(/^http/, "ws") : address;
  }

  /**
   * Takes a picture of the screen.
   *
   * @param {object} [options]
   * @param {"png" | "jpg"} [options.format] Default: `png`.
   * @param {boolean} [options.fresh] Whether the frame must be captured after the call, if the screen changes. Default:
   *   true. Otherwise it may be 1 s old.
   * @param {boolean} [options.use] Whether the call keeps the session from ending by its `ttl`. Default: true.
   * @param {AbortSignal} [options.signal]
   * @returns {Promise<Blob>}
   */
  async snapshot({ format = "png", fresh = true, use, signal } = {}) {
    const response = await this.relay.request("GET", `${this.path}/snapshot.${format}`, { query: { fresh, use }, signal });
    return response.blob();
  }

  /**
   * Waits until the screen has `changed`, is `static`, or `matches` a template, or the template is `gone`; or until the
   * device plays `sound`, or is silent: `silence`.
   *
   *     await device.wait("matches", { template: "dialog", at: [412, 300], timeout: 10 });
   *
   * @param {"changed" | "static" | "matches" | "gone" | "sound" | "silence"} until
   * @param {object} [options] Fields that are absent have the relay's defaults, docs/reference/api.md.
   * @param {number} [options.timeout] How long to wait, s.
   * @param {number} [options.for] How long the screen must be unchanged, or the sound or silence must last, s.
   * @param {number} [options.threshold] From which level on sound counts, in dB below full scale, -120 to 0.
   * @param {Box} [options.region] The part that counts.
   * @param {Box[]} [options.ignore] Parts that do not count.
   * @param {number} [options.tolerance] How far a colour may be off, 0 to 255.
   * @param {number} [options.share] The share of pixels that may be further off, 0 to 1.
   * @param {string} [options.template] The name of an uploaded picture.
   * @param {[number, number]} [options.at] Where the template's top left corner is.
   * @param {number} [options.after] The PTS of a picture, µs: only pictures after it count.
   * @param {AbortSignal} [options.signal] Gives up.
   * @returns {Promise<WaitAnswer>}
   * @throws {WaitError} If it does not happen.
   */
  async wait(until, { region, ignore = [], at, signal, ...others } = {}) {
    const query = {
      until,
      region: numbers(region),
      ignore: ignore.map(numbers).join(";"),
      at: numbers(at),
      ...others,
    };
    const answer = await this.relay.call("GET", `${this.path}/wait`, { query, signal });
    if (answer.outcome !== "happened") throw new WaitError(answer);
    return answer;
  }

  /**
   * Measures how loud the device's sound is.
   *
   * @param {number} [seconds] How long.
   * @returns {Promise<{ level: number | null, loudest: number | null }>} dB below full scale; `null` for silence.
   */
  async soundLevel(seconds = 0.5) {
    return this.relay.call("GET", `${this.path}/audio/level`, { query: { for: seconds } });
  }

  /**
   * Says why the relay refuses a stream, which sockets and images do not tell.
   *
   * @param {string} name Such as `ws`.
   * @returns {Promise<import("./errors.js").RelayError | null>} `null` if it does not.
   */
  async refusal(name) {
    const end = new AbortController();
    try {
      await this.relay.request("GET", `${this.path}/${name}`, { signal: end.signal });
      return null;
    } catch (error) {
      return error.code === "upgrade_required" ? null : error;
    } finally {
      end.abort();
    }
  }
}

/** @typedef {{ x: number, y: number, width: number, height: number }} Region */

/** @typedef {[number, number, number, number] | Region} Box */

/**
 * @typedef {object} WaitAnswer
 * @property {number} id
 * @property {string} device
 * @property {string | null} name
 * @property {string} until
 * @property {"happened" | "timeout" | "source_lost" | "ended"} outcome
 * @property {number | null} pts The frame since which it is so, µs.
 * @property {string | null} at When that frame was captured.
 * @property {Region | null} box What changed last, or where the template is.
 * @property {number | null} staticMs
 * @property {number} waitedMs
 * @property {"primary" | "standby" | "none"} feed
 * @property {string} snapshot
 */
