import assert from "node:assert/strict";
import { test } from "node:test";

import { RelayClock } from "../clock.js";
import { parseMessage } from "../messages.js";

/** A message of fields as [bytes, value], and of strings. */
function message(...fields) {
  const parts = fields.map((field) => {
    if (typeof field === "string") return Buffer.from(field, "latin1");
    const bytes = Buffer.alloc(field[0]);
    if (field[0] === 8) bytes.writeBigUInt64BE(BigInt(field[1]));
    else bytes.writeUIntBE(field[1], 0, field[0]);
    return bytes;
  });
  return new Uint8Array(Buffer.concat(parts)).buffer;
}

const unknown = new RelayClock();

test("a configuration is taken apart as docs/reference/websocket.md draws it", () => {
  const bytes = message([1, 1], [1, 0], [1, 3], [1, 0], [4, 1280], [4, 720], [2, 11], "avc3.42C01F", "sets");
  const { preamble, ...fields } = parseMessage(bytes, unknown, 0);
  assert.deepEqual(fields, { type: "configuration", codec: "avc3.42C01F", orientation: 3, width: 1280, height: 720 });
  assert.equal(Buffer.from(preamble).toString(), "sets");
});

test("a picture is taken apart, and its instants are told on this page's clock", () => {
  const clock = Object.assign(new RelayClock(), { offset: -1000 });
  const bytes = message([1, 2], [1, 0b101], [1, 1], [1, 0], [8, 33_333], [8, 2e9], [8, 3e9], [8, 4e9], "picture");
  const { data, ...fields } = parseMessage(bytes, clock, 5);
  const flags = { key: true, repeat: false, skip: true, orientation: 1 };
  const instants = { captured: 1000, encoded: 2000, relayed: 3000, received: 5 };
  assert.deepEqual(fields, { type: "picture", pts: 33_333, ...flags, ...instants });
  assert.equal(Buffer.from(data).toString(), "picture");
  assert.equal(parseMessage(bytes, unknown, 5).captured, null);
});

test("a packet of sound is taken apart, and its instants are told on this page's clock", () => {
  const clock = Object.assign(new RelayClock(), { offset: -1000 });
  const bytes = message([1, 3], [1, 0b1001], [2, 1], [8, 20_000], [8, 2e9], [8, 3e9], "packet");
  const { data, ...fields } = parseMessage(bytes, clock, 5);
  const flags = { silence: true, gap: false };
  assert.deepEqual(fields, { type: "sound", track: 1, pts: 20_000, ...flags, captured: 1000, relayed: 2000, received: 5 });
  assert.equal(Buffer.from(data).toString(), "packet");
  assert.equal(parseMessage(message([1, 3], [1, 0b10001], [2, 1], [8, 0], [8, 0], [8, 0]), clock, 5).gap, true);
});

test("a message of a kind that is not known is none", () => {
  assert.equal(parseMessage(message([1, 9]), unknown, 0), null);
});
