import assert from "node:assert/strict";
import { test } from "node:test";

import { JitterBuffer } from "../jitter-buffer.js";

const [rate, block, tone, loudness] = [48_000, 128, 480, 0.5];
/** The largest step of the tone between two samples, a little faster and within a fade. */
const largestStep = (2 * Math.PI * tone * loudness * 1.005) / rate + loudness / 240 + 1e-6;

/** The tone, which repeats every 100 samples. */
const sine = Float32Array.from({ length: 3000 }, (_, index) => loudness * Math.sin((2 * Math.PI * tone * index) / rate));

/** A packet of the tone: its phase belongs to its place, so that nothing but a hole or a jump interrupts it. */
function packet(start, length, more) {
  const samples = sine.slice(start % 100, (start % 100) + length);
  return { pts: (start / rate) * 1e6, left: samples, right: samples, ...more };
}

/** A simulated clock: packets arrive by it, and blocks are played by it. */
class Playback {
  constructor() {
    this.buffer = new JitterBuffer();
    this.arrivals = [];
    this.blocks = 0;
    this.largestStep = 0;
    this.last = 0;
    this.delays = [];
    [this.left, this.right] = [new Float32Array(block), new Float32Array(block)];
  }

  get now() {
    return (this.blocks * block) / rate;
  }

  /** Notes that a packet comes at an instant. */
  send(at, each) {
    this.arrivals.push({ at, each });
  }

  /** Plays until an instant; `see` is called after each block. */
  play(until, see = () => {}) {
    this.arrivals.sort((one, other) => one.at - other.at);
    let next = 0;
    while (this.now < until) {
      for (; next < this.arrivals.length && this.arrivals[next].at <= this.now; next += 1) {
        this.buffer.add(typeof this.arrivals[next].each === "function" ? this.arrivals[next].each() : this.arrivals[next].each, this.now);
      }
      this.buffer.render(this.left, this.right, this.now);
      for (const value of this.left) {
        this.largestStep = Math.max(this.largestStep, Math.abs(value - this.last));
        this.last = value;
      }
      this.blocks += 1;
      see(this);
    }
    this.arrivals = this.arrivals.slice(next);
  }

  /** How late the playhead is, s: the clock minus the time in the sound. */
  get late() {
    return this.now - this.buffer.place / rate;
  }
}

/** Sends packets that come when their sound ends, each later by `jitter`, and in order. */
function stream(playback, { first = 0, count, length = 960, from = 0, jitter = () => 0 }) {
  let at = 0;
  for (let index = 0; index < count; index += 1) {
    const start = from + index * length;
    at = Math.max(at, first + ((index + 1) * length) / rate + jitter(index));
    playback.send(at, () => packet(start, length));
  }
}

const smooth = (playback) => assert.ok(playback.largestStep <= largestStep, `a step of ${playback.largestStep}, at most ${largestStep}`);
const near = (value, wanted, tolerance) => assert.ok(Math.abs(value - wanted) <= tolerance, `${value} is not ${wanted} ± ${tolerance}`);

test("sound is played at its target, whole, whatever the packets' length", () => {
  for (const length of [120, 480, 960, 2880]) {
    const playback = new Playback();
    stream(playback, { count: Math.floor((10 * rate) / length), length });
    playback.play(9.9);
    smooth(playback);
    assert.equal(playback.buffer.holes, 0);
    near(playback.buffer.margin.mean, 0.04, 0.003);
    near(playback.buffer.takeLevel(), loudness / Math.SQRT2, 0.01);
  }
});

for (const drift of [200e-6, -200e-6]) {
  test(`a clock that is off by ${drift * 1e6} ppm for half an hour keeps the delay, and never clicks`, () => {
    const playback = new Playback();
    let [index, worst] = [0, 0];
    playback.play(1800, () => {
      for (; ((index + 1) * 960) / rate <= playback.now * (1 + drift); index += 1) playback.buffer.add(packet(index * 960, 960), playback.now);
      if (playback.now < 5) return;
      worst = Math.max(worst, Math.abs(playback.buffer.margin.mean - playback.buffer.margin.target));
    });
    smooth(playback);
    assert.equal(playback.buffer.holes, 0);
    assert.equal(playback.buffer.dropped, 0);
    assert.ok(worst < 0.01, `${worst} s off`);
    near(playback.buffer.margin.target, 0.02, 1e-9);
  });
}

test("a packet that is late by more than the target makes one hole, and the target grows", () => {
  const playback = new Playback();
  stream(playback, { count: 1250, jitter: (index) => (index === 250 ? 0.06 : 0) });
  playback.play(9);
  assert.ok(playback.buffer.margin.target > 0.045);
  playback.play(24);
  smooth(playback);
  assert.equal(playback.buffer.holes, 1);
  near(playback.buffer.margin.mean, playback.buffer.margin.target, 0.01);
});

test("packets in bursts make the target grow until none is late", () => {
  const playback = new Playback();
  const burst = (index) => 0.08 - (index % 5) * 0.02;
  stream(playback, { count: 6000, jitter: burst });
  playback.play(20);
  const { holes } = playback.buffer;
  assert.ok(holes < 10, `${holes} holes`);
  playback.play(110);
  smooth(playback);
  assert.ok(playback.buffer.holes - holes <= 3, `${playback.buffer.holes} holes`);
});

test("the target shrinks slowly while packets come in time", () => {
  const playback = new Playback();
  playback.buffer.margin.target = 0.12;
  stream(playback, { count: 5000, jitter: (index) => (index % 7) * 0.002 });
  playback.play(50);
  near(playback.buffer.margin.target, 0.104, 0.0041);
  near(playback.buffer.margin.mean, playback.buffer.margin.target, 0.01);
  playback.play(99);
  assert.equal(playback.buffer.holes, 0);
  smooth(playback);
});

test("after the page has hung, sound goes on at its target after one hole", () => {
  const playback = new Playback();
  // What came meanwhile comes at once.
  stream(playback, { count: 500, jitter: (index) => (index >= 200 && index < 300 ? (300 - index) * 0.02 : 0) });
  playback.play(9.9);
  smooth(playback);
  assert.ok(playback.buffer.holes <= 2, `${playback.buffer.holes} holes`);
  assert.ok(playback.buffer.dropped > 80 && playback.buffer.dropped <= 100, `${playback.buffer.dropped} dropped`);
  near(playback.buffer.margin.mean, playback.buffer.margin.target, 0.03);
});

test("lost packets are one hole that fades, and the rest stays in its time", () => {
  const playback = new Playback();
  for (let index = 0; index < 500; index += 1) {
    if (index < 200 || index >= 203) playback.send((index + 1) * 0.02, packet(index * 960, 960, { gap: index === 203 }));
  }
  playback.play(4.2);
  const { late } = playback;
  playback.play(9.9);
  smooth(playback);
  assert.equal(playback.buffer.holes, 1);
  near(playback.late, late, 0.005);
});

test("silence plays zeros and does not count as a hole, and sound after it is in time, however long it was", () => {
  const playback = new Playback();
  const drift = 200e-6;
  stream(playback, { count: 98 });
  // The agent fades the last packet out, and sends two silent ones after it.
  const faded = packet(98 * 960, 960);
  faded.left.forEach((value, index) => (faded.left[index] = value * (1 - index / 960)));
  playback.send(1.98, faded);
  for (const [index, silence] of [[99, false], [100, true]]) {
    playback.send((index + 1) * 0.02, { pts: index * 20_000, left: new Float32Array(960), right: new Float32Array(960), silence });
  }
  playback.play(3);
  assert.equal(playback.last, 0);
  assert.equal(playback.buffer.chunks.length, 0);
  playback.play(600);
  const { target } = playback.buffer.margin;
  const from = 600 * rate;
  stream(playback, { first: 600 * (1 - drift), count: 500, from });
  playback.play(609);
  smooth(playback);
  assert.equal(playback.buffer.holes, 0);
  assert.equal(playback.buffer.margin.target, target);
  near(playback.buffer.margin.mean, target, 0.03);
  assert.ok(playback.last !== 0);
});

test("a jump of the time is one hole, and sound goes on at its target", () => {
  const playback = new Playback();
  stream(playback, { count: 100 });
  stream(playback, { count: 200, first: 2, from: 20 * rate });
  playback.play(5.9);
  smooth(playback);
  near(playback.buffer.margin.mean, playback.buffer.margin.target, 0.01);
});

test("sound that overlaps what came is cut, without a click", () => {
  const playback = new Playback();
  stream(playback, { count: 100 });
  // Another agent's packets lie between those of the first one.
  stream(playback, { count: 100, first: 1.99, from: 99 * 960 + 300 });
  playback.play(3.9);
  smooth(playback);
  assert.equal(playback.buffer.dropped, 0);
  assert.ok(playback.buffer.takeLevel() > 0.3);
});

test("sound waits for pictures that are later, and not for earlier ones", () => {
  const playback = new Playback();
  playback.buffer.inStepWith(0.15);
  stream(playback, { count: 2000 });
  playback.play(5);
  near(playback.late, 0.15, 0.003);
  // A little later: it is played slower.
  playback.buffer.inStepWith(0.2);
  playback.play(25);
  near(playback.late, 0.2, 0.003);
  assert.equal(playback.buffer.holes, 0);
  // Much later: it jumps.
  playback.buffer.inStepWith(0.42);
  playback.play(27);
  near(playback.late, 0.42, 0.01);
  // Pictures that are early are not waited for.
  playback.buffer.inStepWith(0);
  playback.play(39);
  near(playback.buffer.margin.mean, playback.buffer.margin.target, 0.01);
  smooth(playback);
});

test("sound does not wait for pictures without end", () => {
  const playback = new Playback();
  playback.buffer.inStepWith(5);
  stream(playback, { count: 500 });
  playback.play(9.9);
  near(playback.buffer.margin.mean, 0.4, 0.01);
  smooth(playback);
});

test("after a reset, the time may begin anew", () => {
  const playback = new Playback();
  stream(playback, { count: 100 });
  playback.play(1.5);
  playback.arrivals = [];
  playback.buffer.reset();
  playback.play(1.6);
  assert.equal(playback.buffer.delay, 0);
  stream(playback, { first: 1.6, count: 100 });
  playback.play(3.5);
  near(playback.late, 1.66, 0.005);
});

test("nothing that comes makes it click", () => {
  const playback = new Playback();
  // The numbers are always the same.
  let seed = 1;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  let [place, ready] = [0, 0];
  for (let index = 0; index < 6000; index += 1) {
    const chance = random();
    const length = [120, 240, 480, 960, 1920, 2880][Math.floor(random() * 6)];
    if (chance < 0.01) place += Math.floor(random() * 200_000);
    else if (chance < 0.02) place -= Math.floor(random() * 1000);
    place = Math.max(0, place);
    const lateness = chance > 0.97 ? random() * 3 : random() * 0.03;
    ready = Math.max(ready, (place + length) / rate + lateness);
    playback.send(ready, packet(place, length, { gap: chance < 0.03 }));
    place += length;
    if (chance > 0.3 && chance < 0.31) playback.send(ready, () => playback.buffer.inStepWith(random() * 0.6) ?? packet(0, 120));
  }
  playback.play(ready + 1);
  smooth(playback);
  assert.ok(playback.buffer.chunks.length < 3);
});
