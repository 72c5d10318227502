import assert from "node:assert/strict";
import { test } from "node:test";

import { Control } from "../control.js";

/** A control that has no page. */
function control(relay, shown = {}) {
  return Object.assign(Object.create(Control.prototype), { relay: { input: relay }, player: { shown } });
}

test("a desktop without smooth scrolling is sent whole notches, and nothing of the distance is lost", () => {
  const coarse = control({ smoothScroll: false });
  const sent = Array.from({ length: 100 }, (_, number) => coarse.notches(0, 7, number * 10)[1]);
  assert.ok(sent.every((distance) => distance % 120 === 0));
  assert.equal(sent.reduce((sum, distance) => sum + distance), 600);
  // A wheel's notch is one, whatever the browser calls it.
  assert.deepEqual(coarse.notches(0, 100, 5000), [0, 120]);
  assert.deepEqual(coarse.notches(-120, 0, 5010), [-120, 0]);
  // After a while the rest is forgotten.
  coarse.notches(0, 90, 6000);
  assert.deepEqual(coarse.notches(0, 40, 9000), [0, 0]);
  assert.deepEqual(control({ smoothScroll: true }).notches(1, 2.5, 0), [1, 2.5]);
});
