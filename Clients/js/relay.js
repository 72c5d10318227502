// The relay's HTTP API, docs/reference/api.md.

import { Device } from "./device.js";
import { RelayError } from "./errors.js";
import { listen } from "./events.js";
import { Library } from "./library.js";
import { Session } from "./session.js";

const environment = globalThis.process?.env ?? {};

/** Where the relay is if nobody says: where this page is, or what the environment says. */
function defaultURL() {
  if (globalThis.document) return new URL(".", document.baseURI).href;
  return environment.HELIOGRAPH_RELAY || "http://127.0.0.1:8420/";
}

const isLoopback = (host) => host === "localhost" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);

/**
 * A relay's HTTP API.
 *
 *     const relay = new Relay("http://127.0.0.1:8420", { key });
 *     const session = relay.device("left").session("door");
 *     await session.put({ fps: 15 });
 *     await session.wait("static");
 *
 * Calls reject with a `RelayError` if the relay refuses them or does not answer. An aborted call rejects with its
 * signal's reason.
 */
export class Relay {
  /**
   * @param {string | URL} [url] Where the relay is. In a page it may be relative, and the default is the page's folder.
   *   In Node the default is HELIOGRAPH_RELAY of the environment, then the relay of this machine.
   * @param {object} [options]
   * @param {string} [options.key] The API key. In Node the default is HELIOGRAPH_KEY. A page of the relay's own origin
   *   needs none: its login is a cookie. Throws a `RelayError` if the key would go over plain HTTP to another machine.
   */
  constructor(url = defaultURL(), { key = environment.HELIOGRAPH_KEY } = {}) {
    const base = new URL(url, globalThis.document?.baseURI);
    base.search = base.hash = "";
    if (!base.pathname.endsWith("/")) base.pathname += "/";
    if (key && base.protocol === "http:" && !isLoopback(base.hostname)) {
      const advice = "use https:, or an SSH tunnel";
      throw new RelayError("insecure", `${base.href} would send the key where others can read it: ${advice}.`);
    }
    /** Where the relay is; ends with `/`. @type {string} */
    this.url = base.href;
    this.#key = key;
  }

  #key;

  // What there is

  /** Returns the device of this name. The relay is not asked. */
  device(name = "default") {
    return new Device(this, name);
  }

  /**
   * Returns the session of this id. The relay is not asked. Sessions by name: `relay.device("left").session("door")`.
   *
   * @param {number} id
   */
  session(id) {
    return new Session(this, `v1/sessions/${id}`);
  }

  /** Lists the devices: each one's broadcast in brief, as GET /v1/broadcasts has it. @returns {Promise<object[]>} */
  async devices() {
    return (await this.call("GET", "v1/broadcasts")).broadcasts;
  }

  /**
   * Lists sessions.
   *
   * @param {object} [filters]
   * @param {string} [filters.device]
   * @param {string} [filters.name]
   * @param {string} [filters.label]
   * @param {"live" | "waiting" | "asleep" | "stale"} [filters.state]
   * @param {boolean} [filters.brief] Leaves out settings and figures.
   * @returns {Promise<object[]>}
   */
  async sessions(filters = {}) {
    return (await this.call("GET", "v1/sessions", { query: filters })).sessions;
  }

  /** Starts a session without a name, and returns its report. @returns {Promise<object>} */
  startSession(settings = {}) {
    return this.call("POST", "v1/sessions", { body: settings });
  }

  /** The library of recordings. The relay is not asked. @returns {Library} */
  get library() {
    return new Library(this);
  }

  /**
   * Yields what happens, as it happens. Connects again if the connection breaks off, and continues where it was.
   *
   *     for await (const event of relay.events({ types: ["session"] })) console.log(event.type, event.session);
   *
   * @param {object} [options]
   * @param {string[]} [options.types] Types such as `session.started`, or their beginnings, such as `session`.
   * @param {string} [options.device]
   * @param {number} [options.session] A session's id.
   * @param {string} [options.after] The id of the last event seen: later ones that the relay still has come first.
   * @param {AbortSignal} [options.signal] Ends the iteration.
   * @returns {AsyncGenerator<import("./events.js").RelayEvent, void>}
   */
  events(options = {}) {
    return listen(this, options);
  }

  // Who calls

  /** Says whose key this client has, as GET /v1/auth. @returns {Promise<object>} */
  who() {
    return this.call("GET", "v1/auth");
  }

  /** Logs this browser in at a relay of the page's own origin, by a cookie that scripts cannot read. */
  logIn(key) {
    return this.call("POST", "v1/auth/login", { body: { key } });
  }

  logOut() {
    return this.call("POST", "v1/auth/logout");
  }

  // The network

  /**
   * Measures how fast bytes come from the relay, from the first arrival to the last one. Sessions that are watched
   * meanwhile lose some of theirs.
   *
   *     const { bitrate } = await relay.measureSpeed();
   *
   * @param {object} [options]
   * @param {number} [options.seconds] How long the relay sends, 0.5 to 10.
   * @param {AbortSignal} [options.signal]
   * @returns {Promise<{ bytes: number, seconds: number, bitrate: number }>} The bytes after the first arrival, and
   *   bit/s; 0 if too little came. Rejects with the code `speed_test_running` while another test runs.
   */
  async measureSpeed({ seconds = 2, signal } = {}) {
    const response = await this.request("GET", "v1/speedtest", { query: { for: seconds }, signal });
    const reader = response.body.getReader();
    let [bytes, first, last] = [0, undefined, 0];
    try {
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        last = performance.now();
        // How long the first ones took is not known.
        if (first === undefined) first = last;
        else bytes += part.value.length;
      }
    } catch (error) {
      throw this.#failure(error, signal);
    }
    const time = bytes > 0 ? (last - first) / 1000 : 0;
    return { bytes, seconds: time, bitrate: time > 0 ? (bytes * 8) / time : 0 };
  }

  // Any call

  /**
   * Makes a call and returns the JSON of its answer: for what has no method here.
   *
   * @param {string} method
   * @param {string} path From the relay's root on, such as `v1/sessions`.
   * @param {CallOptions} [options]
   * @returns {Promise<any>}
   */
  async call(method, path, options = {}) {
    const response = await this.request(method, path, options);
    try {
      return await response.json();
    } catch (error) {
      throw this.#failure(error, options.signal);
    }
  }

  /**
   * Makes a call and returns its response, whose body is not read.
   *
   * @param {string} method
   * @param {string} path
   * @param {CallOptions} [options]
   */
  async request(method, path, { query, body, headers, signal } = {}) {
    const sent = new Headers(headers);
    if (this.#key) sent.set("Authorization", `Bearer ${this.#key}`);
    const isPlain = body != null && Object.getPrototypeOf(body) === Object.prototype;
    let response;
    try {
      response = await fetch(this.address(path, query), {
        method,
        body: isPlain ? JSON.stringify(body) : body,
        headers: sent,
        signal,
        cache: "no-store",
      });
    } catch (error) {
      throw this.#failure(error, signal);
    }
    if (!response.ok) throw await RelayError.of(response);
    return response;
  }

  /** Returns the address of a path. Fields of the query that are `undefined`, `null` or empty are left out. */
  address(path, query = {}) {
    const url = new URL(path.replace(/^\//, ""), this.url);
    for (const [name, value] of Object.entries(query)) if (value != null && value !== "") url.searchParams.set(name, value);
    return url.href;
  }

  #failure(error, signal) {
    if (signal?.aborted) return error;
    const isElsewhere = globalThis.location && new URL(this.url).origin !== location.origin;
    const advice = isElsewhere ? "It does not answer pages of another origin." : "Is it running?";
    return new RelayError("unreachable", `The relay does not answer at ${this.url}. ${advice}`);
  }
}

/**
 * @typedef {object} CallOptions
 * @property {Record<string, any>} [query]
 * @property {BodyInit | Record<string, any>} [body] A plain object is sent as JSON.
 * @property {HeadersInit} [headers]
 * @property {AbortSignal} [signal]
 */
