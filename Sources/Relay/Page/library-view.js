// The library: all recordings, the newest first.

import { element, KeyedList, setText } from "./dom.js";
import { Gauge } from "./gauge.js";
import { Glance } from "./glance.js";
import { labelLines } from "./labels.js";
import { Repeat } from "./repeat.js";
import { isShortcut } from "./shortcuts.js";
import { relay } from "./site.js";
import { duration, gapsText, itemName, itemState, localTime, mayNotLook, ownerText, size } from "./words.js";

/** How many items are fetched at first, and by each "Show more". */
const PAGE = 50;
/** Up to how many changed items are fetched one by one, instead of the list. */
const FEW = 4;
/** The time between two looks, ms: the library has no events for all that changes in it. */
const INTERVAL = 2000;
/** How long a person pauses before the search begins, ms. */
const PAUSE = 300;

/** What was searched last, so that it is still there on the way back from a recording. */
const searched = { text: "", device: "" };

class Row {
  constructor({ id }) {
    this.glance = new Glance(id);
    this.name = element("a", { href: `#/library/${id}` });
    this.glance.listen(this.name);
    this.pinned = element("span", { class: "badge plain", text: "Pinned", title: "It is never deleted to make room." });
    this.owner = element("span", { class: "quiet" });
    this.lists = element("span", { class: "labels" });
    this.labels = element("span", { class: "labels" }, this.owner, this.lists);
    this.device = element("td");
    this.time = element("time");
    this.length = element("td", { class: "number" });
    this.size = element("td", { class: "number" });
    this.picture = element("td");
    this.badge = element("span", { class: "badge" });
    this.gaps = element("span", { class: "badge" });
    this.state = element("td", {}, this.badge, this.gaps);
    this.root = element(
      "tr",
      {},
      element("td", {}, this.glance.root),
      element("th", { scope: "row" }, this.name, this.pinned, this.labels),
      this.device,
      element("td", {}, this.time),
      this.length,
      this.size,
      this.picture,
      this.state,
    );
  }

  update(item) {
    this.glance.update(item);
    setText(this.name, itemName(item));
    this.pinned.hidden = !item.pinned;
    const lines = labelLines(item.labels);
    setText(this.owner, ownerText(item));
    this.owner.hidden = !item.owner;
    this.labels.hidden = lines.length === 0 && !item.owner;
    if (lines.join("\n") !== this.lines) this.lists.replaceChildren(...lines.map((text) => element("span", { class: "label", text })));
    this.lines = lines.join("\n");
    setText(this.device, item.device);
    setText(this.time, localTime(item.start));
    this.time.dateTime = item.start;
    setText(this.length, duration(item.seconds));
    setText(this.size, size(item.bytes));
    setText(this.picture, item.width ? `${item.width} × ${item.height}` : "music");
    const [words, kind, why] = itemState(item);
    setText(this.badge, words);
    this.badge.className = `badge ${kind}`;
    this.badge.title = why;
    const gaps = gapsText(item.gaps);
    this.gaps.hidden = !gaps;
    setText(this.gaps, gaps);
  }
}

export class LibraryView {
  constructor() {
    this.items = [];
    this.text = element("input", {
      type: "search",
      value: searched.text,
      maxLength: 200,
      placeholder: "Device, session or label",
      "aria-label": "Search",
      "aria-keyshortcuts": "/",
      on: { input: () => this.typed() },
    });
    this.device = element("select", { "aria-label": "Device", on: { change: () => this.search() } });
    this.filters = element("div", { class: "filters" }, this.text, this.device);
    this.problem = element("p", { class: "empty", role: "status", hidden: true });
    this.rows = element("tbody");
    this.gauge = new Gauge();
    const heads = ["Recording", "Device", "Began", "Length", "Size", "Picture", "State"];
    this.table = element(
      "table",
      { class: "recordings", hidden: true },
      element("thead", {}, element("tr", {}, element("td"), ...heads.map((text) => element("th", { scope: "col", text })))),
      this.rows,
    );
    this.more = element("button", { type: "button", text: "Show more", hidden: true, on: { click: () => this.showMore() } });
    this.wrong = element("p", { class: "wrong", role: "alert" });
    this.root = element(
      "div",
      { class: "library" },
      element("div", { class: "heading" }, element("h1", { text: "Library" }), this.filters),
      this.gauge.root,
      this.problem,
      this.table,
      this.wrong,
      element("div", { class: "actions" }, this.more),
    );
    this.list = new KeyedList(this.rows, (item) => item.id, (item) => new Row(item));
    this.offerDevices([]);
    this.keys = (event) => this.pressed(event);
    document.addEventListener("keydown", this.keys);
  }

  update(known) {
    this.known = known;
    if (!known.mayLook) return this.forbid();
    this.offerDevices(known.broadcasts.map((broadcast) => broadcast.device));
    this.looks ??= new Repeat(INTERVAL, () => this.look());
    this.looks.look();
  }

  /** Offers the relay's devices, and those that recordings have. */
  offerDevices(present) {
    const names = [...new Set([...present, ...this.items.map((item) => item.device), searched.device])].filter(Boolean).sort();
    if (names.join("\n") === this.offered) return;
    this.offered = names.join("\n");
    const option = (value, text) => element("option", { value, text, selected: value === searched.device });
    this.device.replaceChildren(option("", "All devices"), ...names.map((name) => option(name, name)));
    this.device.hidden = names.length < 2;
  }

  // What is shown

  /** Shows what has changed in the library since the last time. */
  async look() {
    if (this.isLooking || !this.known.mayLook) return;
    this.gauge.look();
    this.isLooking = true;
    try {
      const { changed, removed, mark, listAgain } = await relay.library.changes(this.mark);
      const isFirst = this.mark === undefined || this.isBroken || listAgain;
      this.mark = mark;
      if (this.hasEnded || (!isFirst && changed.length === 0 && removed.length === 0)) return;
      const shown = new Set(this.items.map(({ id }) => id));
      const areFew = changed.length <= FEW && changed.every((id) => shown.has(id));
      if (!isFirst && removed.length === 0 && areFew) await this.renew(changed);
      else await this.fetch(Math.max(this.items.length, PAGE));
    } catch (error) {
      this.fail(error);
    } finally {
      this.isLooking = false;
    }
  }

  /** Shows what some of the items are now, such as recordings that go on. */
  async renew(ids) {
    const items = await Promise.all(ids.map((id) => relay.library.item(id).get()));
    const renewed = new Map(items.map((item) => [item.id, item]));
    this.show(this.items.map((item) => renewed.get(item.id) ?? item), this.next);
  }

  /** Shows `count` items: those of `items`, and what follows them. */
  async fetch(count, items = [], cursor = undefined) {
    this.asked?.abort();
    this.asked = new AbortController();
    const { signal } = this.asked;
    try {
      do {
        const limit = Math.min(count - items.length, 1000);
        const page = await relay.library.list({ ...searched, limit, cursor, signal });
        items = [...items, ...page.items];
        cursor = page.next;
      } while (cursor && items.length < count);
      this.show(items, cursor);
    } catch (error) {
      if (!signal.aborted) this.fail(error);
    }
  }

  show(items, next) {
    Object.assign(this, { items, next, isBroken: false });
    this.list.update(items);
    this.offerDevices(this.known?.broadcasts.map((broadcast) => broadcast.device) ?? []);
    this.filters.hidden = this.gauge.root.hidden = false;
    this.table.hidden = items.length === 0;
    this.more.hidden = !next;
    this.problem.hidden = items.length > 0;
    if (items.length === 0) setText(this.problem, this.emptyText());
    setText(this.wrong, "");
  }

  emptyText() {
    if (searched.text || searched.device) return "No recording matches the search.";
    if (!this.known?.mayRecord) return "No recording yet. To record, log in with a key that has the right to record.";
    return "No recording yet. To record, open a session and press L (Record in the library). Programs start a session with \"record\": true.";
  }

  fail(error) {
    if (error.code === "forbidden_library") return this.forbid();
    this.isBroken = true;
    // The page says these itself. What was just deleted is left out by the next list.
    if (["unreachable", "unknown_item"].includes(error.code) || error.status === 401) return;
    const isUnavailable = error.code === "library_unavailable";
    setText(this.wrong, isUnavailable ? "" : error.message);
    if (isUnavailable) this.showOnly(error.message);
  }

  /** Says that the key may not look, and forgets what was shown to another key. */
  forbid() {
    this.asked?.abort();
    Object.assign(this, { items: [], next: undefined, mark: undefined });
    this.list.end();
    setText(this.wrong, "");
    this.showOnly(mayNotLook);
  }

  /** Shows words instead of the library. */
  showOnly(text) {
    setText(this.problem, text);
    this.problem.hidden = false;
    this.table.hidden = this.more.hidden = this.filters.hidden = this.gauge.root.hidden = true;
  }

  // The user's actions

  typed() {
    clearTimeout(this.pause);
    this.pause = setTimeout(() => this.search(), PAUSE);
  }

  search() {
    Object.assign(searched, { text: this.text.value.trim(), device: this.device.value });
    return this.fetch(PAGE);
  }

  async showMore() {
    const [first, count] = [this.items.length, this.items.length + PAGE];
    this.more.disabled = true;
    await this.fetch(count, this.items, this.next);
    this.more.disabled = false;
    this.rows.children[first]?.querySelector("th a").focus();
  }

  pressed(event) {
    if (!isShortcut(event)) return;
    if (event.key === "/") {
      event.preventDefault();
      this.text.focus();
    } else if (event.key === "Escape") {
      location.hash = "#/";
    }
  }

  end() {
    this.hasEnded = true;
    this.looks?.end();
    this.asked?.abort();
    clearTimeout(this.pause);
    document.removeEventListener("keydown", this.keys);
  }
}
