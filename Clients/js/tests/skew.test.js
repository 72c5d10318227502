import assert from "node:assert/strict";
import { test } from "node:test";

import { Skew } from "../skew.js";

test("the skew is the difference of two latenesses, and the offset ends it", () => {
  const skew = new Skew();
  // The session began at 10 000 ms of this page, and the clock that plays at 12 000 ms.
  for (let pts = 5e6; pts < 7e6; pts += 33_333) {
    skew.decoded(pts, 10_000 + pts / 1000 + 20);
    skew.pictured(pts, 10_000 + pts / 1000 + 25);
  }
  assert.equal(skew.value, null);
  assert.equal(skew.offset, undefined);
  // Sound of 7 s is played at 5.06 s of its clock, and heard 15 ms later.
  skew.heard({ pts: 7e6, time: 5.06 }, 5.1, 0.015, 17_100);
  assert.ok(Math.abs(skew.value - (75 - 25)) < 1e-6, `${skew.value}`);
  // To be heard 20 ms after its PTS, as the pictures are decoded, it must be played at 5.005 s.
  assert.ok(Math.abs(skew.offset - (5.005 - 7)) < 1e-9, `${skew.offset}`);
});

test("a clock that moves in steps is averaged", () => {
  const skew = new Skew();
  skew.pictured(0, 1000);
  for (let index = 0; index < 200; index += 1) skew.heard({ pts: 0, time: 0 }, index * 0.1 - (index % 3) * 0.01, 0, 1000 + index * 100);
  // On average the clock is read 10 ms too early.
  assert.ok(Math.abs(skew.value - 10) < 2, `${skew.value}`);
});

test("after a jump of the time, the new value counts at once", () => {
  const skew = new Skew();
  skew.pictured(0, 1000);
  skew.heard({ pts: 0, time: 0 }, 0, 0, 1000);
  skew.pictured(60e6, 1000);
  assert.ok(skew.value > 59_000);
  skew.reset();
  assert.equal(skew.value, null);
});
