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
