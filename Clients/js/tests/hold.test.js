import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Hold } from "../hold.js";

/** A hold whose pictures are numbered, and whose clock the test moves. */
function bench() {
  mock.timers.enable({ apis: ["setTimeout"] });
  let now = 1000;
  mock.method(performance, "now", () => now);
  const [drawn, closed] = [[], []];
  const hold = new Hold(({ number }) => drawn.push(number));
  const add = (number) => hold.add({ number, pts: number * 40_000, frame: { close: () => closed.push(number) } });
  const pass = (ms) => {
    now += ms;
    mock.timers.tick(ms);
  };
  return { hold, drawn, closed, add, pass };
}

test("pictures do not wait without sound", () => {
  const { drawn, add } = bench();
  for (const number of [0, 1, 2]) add(number);
  assert.deepEqual(drawn, [0, 1, 2]);
  mock.reset();
});

test("each waits until its sound is heard, and none is left out", () => {
  const { hold, drawn, add, pass } = bench();
  hold.follow(1100);
  for (const number of [0, 1, 2]) add(number);
  pass(95);
  assert.deepEqual(drawn, []);
  pass(5);
  assert.deepEqual(drawn, [0]);
  pass(80);
  assert.deepEqual(drawn, [0, 1, 2]);
  mock.reset();
});

test("those that wait are drawn at once when sound ends, and closed when the picture does", () => {
  const { hold, drawn, closed, add, pass } = bench();
  hold.follow(1100);
  add(0);
  hold.follow(undefined);
  assert.deepEqual(drawn, [0]);
  hold.follow(1100);
  add(1);
  hold.clear();
  pass(1000);
  assert.deepEqual([drawn, closed], [[0], [1]]);
  mock.reset();
});

test("a bounded number waits", () => {
  const { hold, drawn, add } = bench();
  hold.follow(1040);
  for (let number = 0; number < 12; number += 1) add(number);
  assert.deepEqual(drawn, [0, 1]);
  mock.reset();
});

test("a picture that would wait for ever is drawn at once", () => {
  const { hold, drawn, add } = bench();
  hold.follow(1e12);
  add(0);
  assert.deepEqual(drawn, [0]);
  mock.reset();
});
