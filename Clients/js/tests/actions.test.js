import assert from "node:assert/strict";
import { test } from "node:test";

import { Device } from "../heliograph.js";

test("actions are the calls that the API has", async () => {
  const calls = [];
  const left = new Device({ call: (...call) => calls.push(call) }, "left");
  left.click(1.5, 2, { button: "right", session: "door", geometry: 7, take: true });
  left.swipe([1, 2], [3, 4]);
  left.release();
  const path = "v1/devices/left/actions";
  const sent = calls.map(([method, path, options]) => [method, path, options?.body]);
  assert.deepEqual(sent, [
    ["POST", path, { session: "door", geometry: 7, take: true, click: { x: 1.5, y: 2, button: "right", count: 1 } }],
    ["POST", path, { swipe: { from: [1, 2], to: [3, 4], duration: 0.3 } }],
    ["DELETE", path, undefined],
  ]);
});

test("the clipboard's calls say what the content is", async () => {
  const calls = [];
  const left = new Device({ call: (...call) => calls.push(call) }, "left");
  left.setClipboard("é", { take: true });
  left.setClipboard(new Uint8Array([0x89]));
  const path = "v1/devices/left/clipboard";
  const sent = calls.map(([method, path, { body, headers, query }]) => [method, path, body, headers["Content-Type"], query.take]);
  assert.deepEqual(sent, [
    ["PUT", path, "é", "text/plain; charset=utf-8", true],
    ["PUT", path, new Uint8Array([0x89]), "image/png", undefined],
  ]);
});

test("applications are the calls that the API has", async () => {
  const calls = [];
  const left = new Device({ call: (...call) => calls.push(call) }, "left");
  left.launch("terminal", { wait: true, arguments: ["-e", "top"] });
  left.launch(null, { desktopFile: "org.gnome.Calculator" });
  left.applications();
  left.focusApplication("8d1f60c2b7a94e35");
  left.terminate("8d1f60c2b7a94e35", { take: true });
  const path = "v1/devices/left/applications";
  const sent = calls.map(([method, path, options]) => [method, path, options?.body ?? options?.query]);
  assert.deepEqual(sent, [
    ["POST", path, { name: "terminal", wait: true, arguments: ["-e", "top"] }],
    ["POST", path, { desktopFile: "org.gnome.Calculator" }],
    ["GET", path, undefined],
    ["POST", `${path}/8d1f60c2b7a94e35/focus`, { take: false }],
    ["DELETE", `${path}/8d1f60c2b7a94e35`, { take: true }],
  ]);
});
