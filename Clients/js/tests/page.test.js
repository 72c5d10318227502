// The web page's modules that need no browser.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

/** Imports a module of the page. Older versions of Node take its files for CommonJS. */
async function page(name) {
  const text = await readFile(new URL(`../../../Sources/Relay/Page/${name}`, import.meta.url), "utf8");
  return import(`data:text/javascript,${encodeURIComponent(text)}`);
}

const words = await page("words.js");
const { duration, exactTime, gapsText, gapText, itemName, itemState, itemText, localTime, partText, size } = words;
const { ownerText, recordingText, tunnelText, usageProblem, usageShare, usageText } = words;
const { broadcastState, screenName } = words;
const { labelChanges, labelLines } = await page("labels.js");
const { allLabels, filterQuery, matches, parseFilters } = await page("filters.js");
const { parsePlace, sessionPlace } = await page("places.js");

const item = {
  device: "left",
  session: 7,
  name: null,
  labels: {},
  number: 0,
  start: "2026-03-01T12:00:05.056Z",
  seconds: 8.64,
  bytes: 3176795,
  width: 1280,
  height: 720,
  fps: 30,
  tracks: [{ kind: "video", codec: "avc1.42C029" }],
};

test("lengths and sizes are short", () => {
  assert.deepEqual([0, 9.99, 75, 3600, 36061].map(duration), ["0:00", "0:09", "1:15", "1:00:00", "10:01:01"]);
  assert.deepEqual([0, 1, 999_000, 1e6, 4_540_000, 2.5e9, 1.2e12].map(size), ["0 kB", "1 kB", "999 kB", "1.0 MB", "4.5 MB", "2.50 GB", "1.20 TB"]);
});

test("times in a video have hundredths", () => {
  assert.deepEqual([0, 0.29, 59.999, 62.5, 3600.07].map(exactTime), ["0:00.00", "0:00.29", "0:59.99", "1:02.50", "1:00:00.07"]);
});

test("a recording is named by its session, its label, or the session's number", () => {
  assert.equal(itemName({ ...item, name: "door", labels: { label: "Door" } }), "door");
  assert.equal(itemName({ ...item, labels: { label: "Door" } }), "Door");
  assert.equal(itemName({ ...item, number: 2 }), "Session 7, part 3");
});

test("a recording's facts are told", () => {
  const when = localTime(item.start);
  assert.equal(itemText(item), `device left · ${when} · 0:08 · 3.2 MB · H.264 · 1280 × 720 · 30 fps`);
  const tracks = [{ kind: "audio", codec: "Opus" }, { kind: "video", codec: "hvc1.1.6.L93.90" }];
  assert.match(itemText({ ...item, tracks }), /H\.265.*with sound$/);
  assert.equal(partText({ ...item, number: 1 }), `Part 2: ${when} · 0:08 · 3.2 MB · 1280 × 720`);
  // A recording that has just begun.
  assert.match(itemText({ ...item, tracks: [] }), /MB · 1280/);
  assert.deepEqual(itemState({ state: "recording" }).slice(0, 2), ["Recording", "recording"]);
  assert.equal(itemState({ state: "new" })[0], "new");
});

test("gaps are counted and explained", () => {
  const gaps = [{ start: 2.5, seconds: 0.8, reason: "source_lost" }, { start: 70, seconds: 1.25, reason: "queue_full" }];
  assert.equal(gapsText([]), "");
  assert.equal(gapsText(gaps.slice(0, 1)), "1 gap, 0.8 s");
  assert.equal(gapsText(gaps), "2 gaps, 2.0 s");
  assert.equal(gapText(gaps[0]), "At 0:02.50 for 0.8 s: no pictures came from the device");
  assert.equal(gapText({ ...gaps[1], reason: "other" }), "At 1:10.00 for 1.3 s: other");
});

test("a recording's owner is named if there is one", () => {
  assert.equal(ownerText({ owner: "door" }), "Recorded by door");
  assert.equal(ownerText({ owner: null }), "");
  // A relay that does not know owners.
  assert.equal(ownerText({}), "");
});

test("the library's space is told: of its limit, or of what the disk has", () => {
  const usage = { bytes: 3e9, mostBytes: null, freeBytes: 9e9, pausesBelow: 1e9 };
  assert.equal(usageText(usage), "3.00 GB · 9.00 GB free on the disk");
  assert.equal(usageShare(usage), 0.25);
  const limited = { ...usage, mostBytes: 4e9 };
  assert.equal(usageText(limited), "3.00 GB of 4.00 GB · 9.00 GB free on the disk");
  assert.equal(usageShare(limited), 0.75);
  assert.equal(usageShare({ ...limited, bytes: 5e9 }), 1);
  assert.equal(usageShare({ ...usage, bytes: 0, freeBytes: 0 }), 0);
});

test("the page says that recordings pause when less is free than they need", () => {
  const usage = { bytes: 3e9, mostBytes: null, freeBytes: 1e9, pausesBelow: 1e9 };
  assert.equal(usageProblem(usage), "");
  assert.equal(usageProblem({ ...usage, freeBytes: 1e9 - 1 }), "Recordings pause until 1.00 GB is free on the disk. Delete recordings, or other files.");
  assert.equal(usageProblem({ ...usage, freeBytes: 0, pausesBelow: 0 }), "");
});

test("a session's badge tells recording from waiting, and for what", () => {
  const badge = (state, more) => recordingText({ recording: { state, seconds: 75, bytes: 3.2e6 }, recordWhen: "always", viewers: 0, ...more });
  assert.deepEqual(recordingText({ recording: null }), ["", ""]);
  assert.deepEqual(badge("recording"), ["Recording: 1:15, 3.2 MB", "recording"]);
  assert.deepEqual(recordingText({ recording: { state: "recording" } }, true), ["Recording", "recording"]);
  assert.deepEqual(badge("waiting"), ["Recording waits for a picture", "waiting"]);
  assert.deepEqual(badge("waiting", { recordWhen: "changed" }), ["Recording waits for a change of the screen", "waiting"]);
  assert.deepEqual(badge("waiting", { recordWhen: "watched" }), ["Recording waits for a viewer", "waiting"]);
  assert.deepEqual(badge("waiting", { recordWhen: "watched", viewers: 1 }), ["Recording waits for a picture", "waiting"]);
  assert.deepEqual(badge("disk_full"), ["Not recorded: the disk is full", "bad"]);
  assert.deepEqual(badge("disk_error"), ["Not recorded", "bad"]);
});

test("edited labels become what has to be set", () => {
  const labels = { build: "42", "a b": "c=d" };
  assert.deepEqual(labelLines(labels), ["a b=c=d", "build=42"]);
  assert.deepEqual(labelChanges(labels, labelLines(labels).join("\n")), []);
  assert.deepEqual(labelChanges(labels, " build=43 \n\nnew=x\n"), ["a b=", "build=43", "new=x"]);
  assert.deepEqual(labelChanges(labels, ""), ["build=", "a b="]);
});

test("the relay's tunnel, with its address if it has one", () => {
  const address = "https://a.example";
  assert.equal(tunnelText(null), "");
  assert.equal(tunnelText({ state: "connecting", address: null, problem: null }), ". The tunnel is connecting");
  assert.equal(tunnelText({ state: "up", address, problem: null }), `, and by its tunnel at ${address}`);
  assert.equal(tunnelText({ state: "up", address: null, problem: null }), ", and by its tunnel");
  assert.equal(tunnelText({ state: "down", address: null, problem: "it ended" }), ". The tunnel is down");
});

test("addresses name a session by its name or its number, and what the page shows else", () => {
  assert.deepEqual(parsePlace("#/devices/left/shared"), { view: "session", device: "left", name: "shared" });
  assert.deepEqual(parsePlace("#/devices/left"), { view: "session", device: "left", name: "shared" });
  assert.deepEqual(parsePlace("#/devices/a%2Fb/d%C3%BCr"), { view: "session", device: "a/b", name: "dür" });
  assert.deepEqual(parsePlace("#/session/7"), { view: "session", id: 7 });
  assert.deepEqual(parsePlace("#/library"), { view: "library", id: undefined });
  assert.deepEqual(parsePlace("#/library/12"), { view: "library", id: 12 });
  assert.deepEqual(parsePlace("#/access"), { view: "access" });
  assert.deepEqual(parsePlace("#/?q=a%20b&state=live"), { view: "wall", query: "q=a%20b&state=live" });
  for (const hash of ["", "#", "#/", "#/session/x", "#/devices/", "#/%E0%A4%A", "other"]) assert.equal(parsePlace(hash).view, "wall", hash);
});

test("a session's address outlives it if it has a name", () => {
  assert.equal(sessionPlace({ id: 7, device: "left", name: "shared" }), "#/devices/left/shared");
  assert.equal(sessionPlace({ id: 7, device: "left", name: null }), "#/session/7");
  const odd = { id: 7, device: "a/b", name: "c d" };
  assert.deepEqual(parsePlace(sessionPlace(odd)), { view: "session", device: "a/b", name: "c d" });
});

test("a session's title is its device, unless it has a name or a label of its own", () => {
  const session = { id: 7, device: "left", name: "shared", label: null };
  assert.equal(screenName(session), "left");
  assert.equal(screenName({ ...session, name: "door" }), "left · door");
  assert.equal(screenName({ ...session, label: "Desk 1" }), "Desk 1");
  assert.equal(screenName({ ...session, name: null }), "Session 7");
});

test("the wall's filters are in its address", () => {
  const filters = { text: "door", label: "room=lab", state: "live" };
  assert.equal(filterQuery(filters), "?q=door&label=room%3Dlab&state=live");
  assert.deepEqual(parseFilters("q=door&label=room%3Dlab&state=live"), filters);
  assert.equal(filterQuery({ text: "  ", label: "", state: "" }), "");
  assert.deepEqual(parseFilters("state=other"), { text: "", label: "", state: "" });
});

test("devices match by their name, labels, sessions and state", () => {
  const broadcast = { device: "phone-1", labels: { room: "lab", os: "sway" } };
  const device = { broadcast, sessions: [{ name: "shared", label: "Front Door" }] };
  const all = { text: "", label: "", state: "" };
  const found = (filters, mood = "good") => matches({ ...all, ...filters }, device, mood);
  assert.ok(found({}));
  assert.ok(found({ text: "PHONE lab" }) && found({ text: "door shared" }) && found({ text: "room=lab" }));
  assert.ok(!found({ text: "phone hall" }));
  assert.ok(found({ label: "room=lab" }) && !found({ label: "room=hall" }));
  assert.ok(found({ state: "live" }) && !found({ state: "off" }));
  assert.ok(found({ state: "off" }, "") && found({ state: "bad" }, "bad") && found({ state: "busy" }, "busy"));
  // A relay that does not know labels.
  assert.ok(matches(all, { broadcast: { device: "left" }, sessions: [] }, ""));
  assert.deepEqual(allLabels([broadcast, { device: "left" }, { device: "right", labels: { room: "hall" } }]), ["os=sway", "room=hall", "room=lab"]);
});

test("a device that starts is busy", () => {
  assert.deepEqual(broadcastState({ state: "starting", source: {} }), ["Starting", "busy"]);
  assert.deepEqual(broadcastState({ state: "idle", source: {} }), ["Off", ""]);
  assert.deepEqual(broadcastState({ state: "live", source: { state: "streaming" } }), ["Live", "good"]);
});
