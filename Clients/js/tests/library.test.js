import assert from "node:assert/strict";
import { test } from "node:test";

import { Device, Library, Relay } from "../heliograph.js";

/** A relay that notes the calls, and answers with the given pages. */
function noting(...answers) {
  const calls = [];
  const relay = { calls, call: async (...call) => (calls.push(call), answers.shift()) };
  return Object.assign(relay, { library: new Library(relay) });
}

test("the library's calls are those that the API has", async () => {
  const relay = noting();
  const { signal } = new AbortController();
  relay.library.list();
  relay.library.list({ device: "left", text: "log", limit: 5, signal });
  relay.library.changes();
  relay.library.changes("a.7", { signal });
  relay.library.usage({ signal });
  const item = relay.library.item(7);
  item.get();
  item.change({ pinned: true, labels: ["build=42", "old="] });
  item.delete();
  item.restore();
  assert.deepEqual(relay.calls, [
    ["GET", "v1/library", { query: {}, signal: undefined }],
    ["GET", "v1/library", { query: { device: "left", text: "log", limit: 5 }, signal }],
    ["GET", "v1/library/changes", { query: { since: undefined }, signal: undefined }],
    ["GET", "v1/library/changes", { query: { since: "a.7" }, signal }],
    ["GET", "v1/library/usage", { signal }],
    ["GET", "v1/library/7"],
    ["PATCH", "v1/library/7", { body: { pinned: true, labels: ["build=42", "old="] } }],
    ["DELETE", "v1/library/7"],
    ["POST", "v1/library/7/restore"],
  ]);
});

test("a device's recording is begun and ended", () => {
  const relay = noting();
  const device = new Device(relay, "left wall");
  device.startRecording();
  device.stopRecording();
  assert.deepEqual(relay.calls, [
    ["POST", "v1/devices/left%20wall/record/start"],
    ["POST", "v1/devices/left%20wall/record/stop"],
  ]);
});

test("all items are listed page after page, also after an empty page", async () => {
  const relay = noting({ items: [{ id: 3 }, { id: 2 }], next: "x" }, { items: [], next: "y" }, { items: [{ id: 1 }], next: null });
  const ids = [];
  for await (const { id } of relay.library.all({ device: "left" })) ids.push(id);
  assert.deepEqual(ids, [3, 2, 1]);
  assert.deepEqual(relay.calls.map(([, , { query }]) => query.cursor), [undefined, "x", "y"]);
  assert.ok(relay.calls.every(([, , { query }]) => query.device === "left"));
});

test("a recording's file and clips have addresses", () => {
  const item = new Relay("http://127.0.0.1:8420/prefix/").library.item(1795706165056348);
  const address = "http://127.0.0.1:8420/prefix/v1/library/1795706165056348";
  assert.equal(item.fileAddress, `${address}/file`);
  assert.equal(item.clipAddress(), `${address}/clip`);
  assert.equal(item.clipAddress(0, 2.5), `${address}/clip?start=0&end=2.5`);
  assert.equal(item.clipAddress(undefined, 2), `${address}/clip?end=2`);
});
