import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.CustomEvent ??= class extends Event {
  constructor(type, { detail }) {
    super(type);
    this.detail = detail;
  }
};

const state = {};

globalThis.MediaSource = class extends EventTarget {
  static isTypeSupported = (type) => !type.includes("hev1");
  readyState = "open";
  constructor() {
    super();
    state.source = this;
    state.appended = [];
  }

  addSourceBuffer(type) {
    state.type = type;
    return Object.assign(new EventTarget(), { buffered: [], updating: false, appendBuffer: (bytes) => state.appended.push(bytes) });
  }
};
globalThis.document = {
  createElement: () => (state.video = Object.assign(new EventTarget(), { requestVideoFrameCallback() {}, removeAttribute() {}, load() {} })),
};
URL.createObjectURL = () => "blob:";
URL.revokeObjectURL = () => {};

const { FragmentPlayer } = await import("../fragments.js");

/** A fragment with a decode time and a duration. */
function fragment(time, duration) {
  const data = new Uint8Array(108);
  const view = new DataView(data.buffer);
  view.setBigUint64(60, BigInt(time));
  view.setUint32(88, duration);
  return data;
}

const picture = (pts, key = false) => ({ pts, key, data: fragment(pts, 33_333) });
const sound = (samples) => ({ data: fragment(samples, 960) });
const configuration = { codec: "avc3.42C01F", preamble: new Uint8Array(3) };

/** Returns a player that is open, and the decode times that its buffer gets. */
function opened(hasSound) {
  const player = new FragmentPlayer({});
  player.configure(configuration, hasSound);
  state.source.dispatchEvent(new Event("sourceopen"));
  const times = () => state.appended.filter(({ length }) => length === 108).map((bytes) => Number(new DataView(bytes.buffer).getBigUint64(60)));
  return [player, times];
}

test("sound has the time of the pictures, which begins at the first one", () => {
  const [player, times] = opened(true);
  assert.equal(state.type, 'video/mp4; codecs="avc3.42C01F, opus"');
  // Before the first picture there is no time.
  player.take(sound(47_040));
  player.decode(picture(1_000_000, true));
  player.take(sound(47_999));
  player.take(sound(48_000));
  player.decode(picture(1_033_333));
  player.take(sound(48_960));
  assert.deepEqual(times(), [0, 0, 33_333, 960]);
});

test("with sound, gaps keep their length, and the pictures after one begin with a keyframe", () => {
  const [player, times] = opened(true);
  let starved = 0;
  player.addEventListener("starved", () => (starved += 1));
  player.decode(picture(0, true));
  player.decode(picture(500_000));
  player.decode(picture(533_333));
  player.decode(picture(566_666, true));
  assert.deepEqual([times(), starved, player.skipped], [[0, 566_666], 1, 2]);
});

test("without sound, gaps are closed, and sound is ignored", () => {
  const [player, times] = opened(false);
  assert.equal(state.type, 'video/mp4; codecs="avc3.42C01F"');
  player.decode(picture(0, true));
  player.take(sound(0));
  player.decode(picture(500_000));
  assert.deepEqual(times(), [0, 66_666]);
});

test("the video is muted until it has sound that is wanted", () => {
  const [silent] = opened(false);
  silent.hear(true, 0.5);
  assert.equal(state.video.muted, true);
  // Another set of tracks needs another buffer.
  silent.configure(configuration, true);
  assert.deepEqual([state.video.muted, state.video.volume], [false, 0.5]);
  silent.hear(false, 0.5);
  assert.equal(state.video.muted, true);
});

test("a browser that does not play Opus in MP4 says so", () => {
  const [player] = opened(true);
  assert.equal(player.canHear, true);
  player.codec = "hev1.1.6.L93.B0";
  assert.equal(player.canHear, false);
});

test("a browser that refuses to be heard plays muted", async () => {
  const [player] = opened(true);
  player.hear(true, 1);
  let silenced = 0;
  player.addEventListener("silenced", () => (silenced += 1));
  player.refused(state.video, Object.assign(new Error(), { name: "NotAllowedError" }));
  assert.deepEqual([silenced, state.video.muted], [1, true]);
});
