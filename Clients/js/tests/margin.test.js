import assert from "node:assert/strict";
import { test } from "node:test";

import { Margin } from "../margin.js";

/** Takes in packets of 20 ms, from one instant to another. */
function feed(margin, from, to, value = () => 0.05) {
  for (let index = 0; from + index * 0.02 < to; index += 1) margin.came(value(index), 0.02, from + index * 0.02);
}

test("the target grows with each lateness, up to its bound", () => {
  const margin = new Margin();
  margin.ranDry(0.001);
  assert.ok(Math.abs(margin.target - 0.05) < 1e-9);
  margin.ranDry(3);
  assert.ok(Math.abs(margin.target - 0.09) < 1e-9);
  for (let index = 0; index < 10; index += 1) margin.ranDry(3);
  assert.equal(margin.target, 0.12);
});

test("the target shrinks each 10 s down to its bound, but not below what packets vary by", () => {
  const margin = new Margin();
  feed(margin, 0, 9.9);
  assert.equal(margin.target, 0.04);
  feed(margin, 9.9, 1000);
  assert.equal(margin.target, 0.02);
  const varied = new Margin();
  varied.target = 0.12;
  feed(varied, 0, 1000, (index) => (index % 2) * 0.08);
  assert.ok(varied.target > 0.045 && varied.target < 0.055, `${varied.target}`);
});

test("time without packets does not shrink the target", () => {
  const margin = new Margin();
  for (let now = 0; now < 1000; now += 9) feed(margin, now, now + 1);
  assert.equal(margin.target, 0.04);
});

test("a lasting change is told after 0.4 s, and not by a burst", () => {
  const margin = new Margin();
  for (let index = 0; index < 50; index += 1) margin.came(1 + index, 0.02, 5);
  assert.equal(margin.lastingLow(5), undefined);
  feed(margin, 5, 5.46, () => 0.3);
  assert.equal(margin.lastingLow(5.46), 0.3);
  margin.restart(0.05);
  assert.equal(margin.lastingLow(5.46), undefined);
});
