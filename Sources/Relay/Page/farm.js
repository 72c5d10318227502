// What the page knows of the relay: its devices, its sessions, and what the caller may do.

import { Wall } from "./heliograph.js";

/** The least time between two fetches that events cause, ms. */
const PAUSE = 500;
/** How long an event waits for the ones that come with it, ms. */
const GATHERING = 50;
/** Up to how many changed sessions are fetched one by one, instead of the list. */
const FEW = 8;
/** How long to wait before a failed call is made again, ms. */
const AGAIN = 2000;

/** What the next fetch asks for. */
const nothing = () => ({ who: false, broadcasts: false, everySession: false, sessions: new Set() });

/** Events that change a session's report, and those that change a device's. */
const ofSessions = /^(session|feed|viewer|recording)\./;
const ofDevices = /^(broadcast|agent|feed)\./;

/**
 * The relay's devices and sessions, kept up to date by events.
 *
 * All lists are fetched when the wall's connection opens, because events may have been lost before. Later only what
 * an event is about is fetched.
 *
 * Events: `change` when something is known; `trouble` {text, error} when the relay does not answer or refuses;
 * `event` for each of the relay's.
 */
export class Farm extends EventTarget {
  /** @param {import("./relay.js").Relay} relay */
  constructor(relay) {
    super();
    this.relay = relay;
    this.wall = new Wall(relay);
    this.wall.addEventListener("state", ({ detail }) => this.connection(detail));
    this.wall.addEventListener("event", ({ detail }) => this.happened(detail));
    this.ended = new Set();
    this.fetching = Promise.resolve();
    this.forget();
  }

  /** What is known, for the views; `undefined` until the relay has answered. */
  get known() {
    const { who, broadcasts, sessions } = this;
    if (!who) return undefined;
    const may = (right) => who.library.includes(right);
    return {
      broadcasts,
      sessions,
      who,
      mayChange: who.role === "operator",
      mayAct: who.role !== "viewer",
      mayLook: may("look"),
      mayRecord: may("record"),
      mayDelete: may("delete"),
      wantsKeys: who.access,
      fingerprint: who.tls?.fingerprint,
    };
  }

  open() {
    this.wall.connect();
  }

  close() {
    this.wall.close();
    clearTimeout(this.timer);
    clearTimeout(this.again);
    this.timer = undefined;
  }

  /** Connects anew, because the caller is another one. */
  reopen() {
    this.close();
    this.open();
  }

  /** Forgets what was shown to another caller. */
  forget() {
    this.wanted = nothing();
    // Answers that are under way are for the former caller.
    this.caller = {};
    Object.assign(this, { who: undefined, broadcasts: [], sessions: [] });
  }

  /** Fetches everything. */
  refresh() {
    Object.assign(this.wanted, { who: true, broadcasts: true, everySession: true });
    return this.fetch();
  }

  connection({ state, text, error }) {
    if (state === "connected") return this.refresh();
    if (state !== "interrupted" && state !== "refused") return;
    // A relay that answers calls tells what is wrong, or nothing is: something on the way may stop WebSockets.
    if (error === null) this.refresh();
    else this.tell("trouble", { text, error });
  }

  happened(event) {
    const { type, session } = event;
    this.tell("event", event);
    if (type === "session.ended") return this.remove(session);
    if (type === "keys.changed") this.wanted.who = true;
    else if (ofSessions.test(type) || ofDevices.test(type)) {
      if (ofSessions.test(type)) this.wanted.sessions.add(session);
      if (ofDevices.test(type)) this.wanted.broadcasts = true;
    } else return;
    const pause = (this.last ?? -Infinity) + PAUSE - performance.now();
    this.timer ??= setTimeout(() => this.fetch(), Math.max(pause, GATHERING));
  }

  remove(id) {
    this.ended.add(id);
    this.wanted.sessions.delete(id);
    this.sessions = this.sessions.filter((session) => session.id !== id);
    this.tell("change");
  }

  /** Fetches what is wanted, after what is being fetched. */
  fetch() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.fetching = this.fetching.then(() => this.fetchNext());
    return this.fetching;
  }

  async fetchNext() {
    const { relay, wanted, caller } = this;
    this.wanted = nothing();
    this.ended.clear();
    this.last = performance.now();
    const everySession = wanted.everySession || wanted.sessions.size > FEW;
    try {
      const [who, broadcasts, sessions] = await Promise.all([
        wanted.who ? relay.who() : this.who,
        wanted.broadcasts ? relay.devices() : this.broadcasts,
        everySession ? relay.sessions() : this.renewed(wanted.sessions),
      ]);
      if (caller !== this.caller) return;
      // Answers may be older than the ends that were told meanwhile.
      Object.assign(this, { who, broadcasts, sessions: sessions.filter(({ id }) => !this.ended.has(id)) });
      this.tell("change");
      // The browser has logged in meanwhile, perhaps in another tab.
      if (this.wall.state === "refused") this.wall.connect();
    } catch (error) {
      if (caller !== this.caller) return;
      this.tell("trouble", { text: error.message, error });
      if (this.wall.state !== "connected" || error.status === 401) return;
      clearTimeout(this.again);
      this.again = setTimeout(() => this.refresh(), AGAIN);
    }
  }

  /** Returns the sessions, with new reports of some. */
  async renewed(ids) {
    const reports = await Promise.all([...ids].map((id) => this.report(id)));
    const sessions = new Map(this.sessions.map((session) => [session.id, session]));
    for (const report of reports) if (report) sessions.set(report.id, report);
    return [...sessions.values()].sort((one, other) => one.id - other.id);
  }

  async report(id) {
    try {
      return await this.relay.session(id).get();
    } catch (error) {
      if (error.code !== "unknown_session") throw error;
      this.ended.add(id);
      return undefined;
    }
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
