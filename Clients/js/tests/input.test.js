import assert from "node:assert/strict";
import { test } from "node:test";

import { encodedDistance, encodedPoint, input } from "../input.js";
import { keysym } from "../keysyms.js";

const hex = (buffer) => Buffer.from(buffer).toString("hex");

test("messages are put together as docs/reference/websocket.md draws them", () => {
  const place = { x: 10.5, y: -1, geometry: 0x01020304 };
  const there = "01020304000a8000ffff0000";
  const expected = [
    [input.leave(), "01000000"],
    [input.claim(false), "01010000"],
    [input.claim(true), "01020000"],
    [input.beat(), "02000000"],
    [input.move(place), `03000000${there}`],
    [input.motion(1.25, -2), "0400000000014000fffe0000"],
    [input.button(2, true, place), `05020100${there}`],
    [input.scroll(0, 120, place), `06000000${there}0000000000780000`],
    [
      input.touch([{ id: 0, phase: "down", x: 1, y: 2 }, { id: 9, phase: "cancel", x: 3, y: 4 }], 9),
      "0702000000000009000100000001000000020000090400000003000000040000",
    ],
    [input.key(0x010020ac, true), "08010000010020ac"],
    [input.release(), "0a000000"],
  ];
  for (const [message, bytes] of expected) assert.equal(hex(message), bytes);
  assert.deepEqual(input.text("é\n").map(hex), ["09000000c3a90a"]);
  assert.deepEqual(input.text(""), []);
});

test("a long text is cut between characters, and nothing of it is lost", () => {
  const text = "日本語👋".repeat(2000);
  const messages = input.text(text);
  assert.ok(messages.length > 6 && messages.every((message) => message.byteLength <= 4096));
  const parts = messages.map((message) => Buffer.from(message).subarray(4).toString());
  assert.ok(parts.every((part) => !part.includes("\ufffd")));
  assert.equal(parts.join(""), text);
});

test("points of an upright picture are found in the encoded one", () => {
  // An encoded picture of 1280x720. Each corner of the upright one is one of its corners.
  const corners = { 0: [0, 0], 1: [0, 720], 2: [1280, 720], 3: [1280, 0] };
  for (const [orientation, [x, y]] of Object.entries(corners)) {
    const isTurned = orientation % 2 === 1;
    const [across, down] = isTurned ? [720, 1280] : [1280, 720];
    assert.deepEqual(encodedPoint(0, 0, across, down, Number(orientation)), { x, y });
    // A distance is what lies between two points.
    const [from, to] = [[10, 20], [13, 25]].map(([u, v]) => encodedPoint(u, v, across, down, Number(orientation)));
    assert.deepEqual(encodedDistance(3, 5, Number(orientation)), { dx: to.x - from.x, dy: to.y - from.y });
  }
});

test("keys have the keysyms of keysymdef.h", () => {
  const expected = {
    a: 0x61, A: 0x41, "!": 0x21, "é": 0xe9, "€": 0x010020ac, "👋": 0x0101f44b, Enter: 0xff0d, Backspace: 0xff08,
    F1: 0xffbe, F12: 0xffc9, ArrowUp: 0xff52, Delete: 0xffff, Shift: 0xffe1, Meta: 0xffeb, " ": 0x20,
  };
  for (const [key, value] of Object.entries(expected)) assert.equal(keysym(key), value, key);
  assert.equal(keysym("Control", 2), 0xffe4);
  assert.equal(keysym("Enter", 3), 0xff8d);
  for (const key of ["Dead", "CapsLock", "Process", "Unidentified", "F36", ""]) assert.equal(keysym(key), undefined, key);
});
