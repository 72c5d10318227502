// The wall: a tile for each device.

import { element, KeyedList, setText } from "./dom.js";
import { allLabels, filterQuery, matches, parseFilters, stateNames } from "./filters.js";
import { askForSession } from "./forms.js";
import { sessionPlace } from "./places.js";
import { isShortcut } from "./shortcuts.js";
import { Tile } from "./tile.js";
import { mainSession } from "./watch.js";
import { broadcastState } from "./words.js";

/** How far beyond the window a tile counts as in sight. */
const MARGIN = "200px";
/** How long tiles rest before pictures of them are asked for, ms: a person may only scroll by. */
const REST = 150;
/** The widest pictures, in pixels. */
const WIDEST = 640;

/** The filters that were set last, so that they are still there on the way back from a player. */
let last = "";

/** Returns where the wall is, with its filters. */
export const wallPlace = () => `#/${last}`;

export class WallView {
  /**
   * @param {import("./wall.js").Wall} wall
   * @param {string} query The filters of the page's address.
   */
  constructor(wall, query) {
    this.wall = wall;
    this.filters = parseFilters(query);
    last = filterQuery(this.filters);
    this.inSight = new Set();
    this.build();
    this.tiles = new KeyedList(this.grid, ({ broadcast }) => broadcast.device, (device) => this.makeTile(device));
    this.byRoot = new WeakMap();
    this.observer = new IntersectionObserver((entries) => this.scrolled(entries), { rootMargin: MARGIN });
    this.listeners = new AbortController();
    const { signal } = this.listeners;
    wall.addEventListener("picture", ({ detail }) => this.bySession.get(detail.session)?.show(detail.picture), { signal });
    wall.addEventListener("dark", ({ detail }) => this.bySession.get(detail.session)?.darken(), { signal });
    document.addEventListener("keydown", (event) => this.pressed(event), { signal });
    addEventListener("resize", () => this.choose(), { signal });
  }

  /** The tiles whose pictures come, by their session. @type {Map<number, Tile>} */
  bySession = new Map();

  build() {
    const { text, state } = this.filters;
    const changed = () => this.filter();
    this.text = element("input", {
      type: "search",
      value: text,
      maxLength: 200,
      placeholder: "Device, session or label",
      "aria-label": "Search",
      "aria-keyshortcuts": "/",
      on: { input: changed },
    });
    const option = (chosen) => ([value, text]) => element("option", { value, text, selected: value === chosen });
    this.label = element("select", { "aria-label": "Label", on: { change: changed } });
    this.state = element("select", { "aria-label": "State", on: { change: changed } }, ...[["", "All states"], ...stateNames].map(option(state)));
    this.offerLabels([]);
    this.add = element("button", { type: "button", class: "changes", "aria-keyshortcuts": "N", on: { click: () => this.newSession() } }, "New session… ", element("kbd", { text: "N" }));
    this.count = element("p", { class: "quiet", role: "status" });
    this.empty = element("p", { class: "empty", hidden: true });
    this.grid = element("div", { class: "grid" });
    this.root = element(
      "div",
      { class: "wall" },
      element("div", { class: "heading" }, element("h1", { text: "Wall" }), element("div", { class: "filters" }, this.text, this.label, this.state), this.add),
      this.count,
      this.empty,
      this.grid,
    );
  }

  makeTile(device) {
    const tile = new Tile(device);
    this.byRoot.set(tile.root, tile);
    this.observer.observe(tile.root);
    return tile;
  }

  // What is shown

  update(known) {
    this.known = known;
    const sessions = new Map(known.broadcasts.map(({ device }) => [device, []]));
    for (const session of known.sessions) sessions.get(session.device)?.push(session);
    this.devices = known.broadcasts.map((broadcast) => ({ broadcast, sessions: sessions.get(broadcast.device) }));
    this.offerLabels(allLabels(known.broadcasts));
    this.tiles.update(this.devices);
    this.sift();
  }

  /** Offers the labels that devices have, and the chosen one. */
  offerLabels(present) {
    const { label } = this.filters;
    const labels = [...new Set([...present, label])].filter(Boolean).sort();
    if (labels.join("\n") === this.offered) return;
    this.offered = labels.join("\n");
    const option = (value, text) => element("option", { value, text, selected: value === label });
    this.label.replaceChildren(option("", "All labels"), ...labels.map((text) => option(text, text)));
    this.label.hidden = labels.length === 0;
  }

  /** Applies the filters that the person has set, and puts them into the page's address. */
  filter() {
    this.filters = { text: this.text.value, label: this.label.value, state: this.state.value };
    last = filterQuery(this.filters);
    history.replaceState(null, "", wallPlace());
    if (this.known) this.sift();
  }

  /** Hides the tiles that do not match. Their pictures stay for later. */
  sift() {
    const { filters, devices } = this;
    this.shown = devices.filter((device) => matches(filters, device, broadcastState(device.broadcast)[1]));
    const shown = new Set(this.shown);
    for (const device of devices) this.tiles.views.get(device.broadcast.device).root.hidden = !shown.has(device);
    const isFiltered = last !== "";
    setText(this.count, isFiltered ? `${shown.size} of ${devices.length} devices` : "");
    this.count.hidden = !isFiltered;
    this.empty.hidden = shown.size > 0;
    setText(this.empty, isFiltered ? "No device matches." : "Your key is for no device of this relay.");
    this.choose();
  }

  // Pictures

  scrolled(entries) {
    for (const { target, isIntersecting } of entries) {
      const tile = this.byRoot.get(target);
      if (isIntersecting) this.inSight.add(tile);
      else this.inSight.delete(tile);
    }
    this.choose();
  }

  /** Asks for the pictures of the tiles in sight, from the top on, once they rest. */
  choose() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const tiles = [...this.tiles.views.values()].filter((tile) => tile.main && this.inSight.has(tile));
      this.bySession = new Map(tiles.map((tile) => [tile.main.id, tile]));
      const width = Math.min(Math.ceil((tiles[0]?.thumbnail.clientWidth ?? 320) * devicePixelRatio), WIDEST);
      const sessions = [...this.bySession.keys()];
      const wish = JSON.stringify([sessions, width]);
      if (wish === this.wish) return;
      this.wish = wish;
      this.wall.show(sessions, { width });
    }, REST);
  }

  // The user's actions

  newSession() {
    if (this.known?.mayChange) askForSession(this.known.broadcasts.map((broadcast) => broadcast.device));
  }

  pressed(event) {
    if (!isShortcut(event)) return;
    if (event.key === "/") {
      event.preventDefault();
      this.text.focus();
    } else if (event.key === "n" || event.key === "N") {
      event.preventDefault();
      this.newSession();
    } else if (/^[1-9]$/.test(event.key)) {
      const device = this.shown?.[Number(event.key) - 1];
      const session = device && mainSession(device.sessions);
      if (session) location.hash = sessionPlace(session);
    }
  }

  end() {
    this.listeners.abort();
    this.observer.disconnect();
    clearTimeout(this.timer);
    this.tiles.end();
    this.wall.show([]);
  }
}
