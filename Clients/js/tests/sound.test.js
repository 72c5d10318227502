import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.CustomEvent ??= class extends Event {
  constructor(type, { detail }) {
    super(type);
    this.detail = detail;
  }
};

const track = { id: 1, kind: "audio", codec: "opus", channels: 2, sampleRate: 48_000 };

/** What a browser has for sound, and what was done with it. */
function fakeBrowser({ mayPlay = true } = {}) {
  const done = { contexts: [], posted: [], decoders: [] };
  globalThis.document = Object.assign(new EventTarget(), { hidden: false });
  globalThis.AudioContext = class {
    constructor() {
      Object.assign(this, { state: "suspended", currentTime: 0, destination: {}, audioWorklet: { addModule: async (url) => void (done.module = String(url)) } });
      done.contexts.push(this);
    }

    async resume() {
      if (!mayPlay) return new Promise(() => {});
      this.state = "running";
    }

    async close() {
      this.state = "closed";
    }
  };
  globalThis.GainNode = class {
    constructor(_, { gain }) {
      this.gain = { value: gain, setTargetAtTime: (value) => (this.gain.value = value) };
    }

    connect() {}
  };
  globalThis.AudioWorkletNode = class {
    constructor() {
      this.port = { postMessage: (message) => done.posted.push(message) };
      done.node = this;
    }

    connect() {}
    disconnect() {}
  };
  globalThis.EncodedAudioChunk = class {
    constructor(fields) {
      Object.assign(this, fields);
    }
  };
  globalThis.AudioDecoder = class {
    static isConfigSupported = async () => ({ supported: true });
    constructor(callbacks) {
      Object.assign(this, callbacks, { state: "unconfigured", decodeQueueSize: 0, chunks: [] });
      done.decoders.push(this);
    }

    configure() {
      this.state = "configured";
    }

    decode(chunk) {
      this.chunks.push(chunk);
    }

    close() {
      this.state = "closed";
    }

    /** Returns sound for a chunk. */
    returns(timestamp) {
      this.output({ timestamp, numberOfFrames: 960, numberOfChannels: 1, copyTo: (samples, { planeIndex }) => samples.fill(planeIndex + 1), close() {} });
    }
  };
  return done;
}

/** A player of one way, whose calls are noted. */
function fakePlayer(way) {
  const calls = [];
  const player = {
    player: way,
    calls,
    stream: { sound: track, contained: undefined, repeats: true, audio: (isOn) => calls.push(`audio ${isOn}`) },
    decoder: { canHear: true, hear: (isHeard, volume) => calls.push(`hear ${isHeard} ${volume}`) },
    restart: () => {
      calls.push("restart");
      player.stream.contained = player.stream.sound;
    },
  };
  return player;
}

const { Sound } = await import("../sound.js");
const settled = () => new Promise((done) => setTimeout(done, 0));

/** Returns a sound that is on, by WebCodecs. */
async function started(player) {
  const sound = new Sound(player);
  sound.follow();
  sound.start();
  await settled();
  assert.equal(sound.state, "on");
  return sound;
}

test("nothing is opened and asked for before the start, and all is closed at the end", async () => {
  const done = fakeBrowser();
  const player = fakePlayer("webcodecs");
  const sound = new Sound(player);
  assert.equal(sound.isPossible, false);
  sound.start();
  sound.follow();
  assert.deepEqual([sound.isPossible, sound.state, sound.figures, done.contexts.length], [true, "off", null, 0]);
  sound.start();
  assert.equal(sound.state, "starting");
  await settled();
  assert.equal(sound.state, "on");
  assert.ok(done.module.endsWith("/sound-worklet.js"));
  sound.take({ track: 1, pts: 0, data: new Uint8Array(1) });
  sound.end();
  assert.deepEqual(player.calls, ["audio true", "audio false"]);
  assert.deepEqual([sound.state, done.contexts[0].state, done.decoders[0].state], ["off", "closed", "closed"]);
  assert.deepEqual(done.posted.at(-1), { type: "end" });
});

test("it pauses while the page is hidden, unless it was off", async () => {
  const done = fakeBrowser();
  const sound = await started(fakePlayer("webcodecs"));
  const see = (hidden) => {
    document.hidden = hidden;
    document.dispatchEvent(new Event("visibilitychange"));
  };
  see(true);
  assert.deepEqual([sound.state, done.contexts[0].state], ["off", "closed"]);
  see(false);
  await settled();
  assert.deepEqual([sound.state, done.contexts.length], ["on", 2]);
  sound.stop();
  see(true);
  see(false);
  assert.equal(sound.state, "off");
  sound.close();
});

test("it rests while the player pauses, and a page that is seen again does not end that", async () => {
  const done = fakeBrowser();
  const player = fakePlayer("webcodecs");
  const sound = await started(player);
  const see = (hidden) => {
    document.hidden = hidden;
    document.dispatchEvent(new Event("visibilitychange"));
  };
  player.isPaused = true;
  sound.rest();
  assert.deepEqual([sound.state, sound.isPossible, done.contexts[0].state], ["off", false, "closed"]);
  see(true);
  see(false);
  assert.equal(sound.state, "off");
  player.isPaused = false;
  sound.wake();
  await settled();
  assert.equal(sound.state, "on");
  sound.stop();
  sound.rest();
  sound.wake();
  assert.equal(sound.state, "off");
});

test("it goes on in a hidden page whose picture is in picture-in-picture", async () => {
  fakeBrowser();
  const sound = await started(fakePlayer("webcodecs"));
  Object.assign(document, { hidden: true, pictureInPictureElement: {} });
  document.dispatchEvent(new Event("visibilitychange"));
  assert.equal(sound.state, "on");
  document.pictureInPictureElement = null;
  sound.seen(false);
  assert.equal(sound.state, "off");
});

test("a browser that does not let the page play sound is told, after a while", { timeout: 10_000 }, async () => {
  const done = fakeBrowser({ mayPlay: false });
  const sound = new Sound(fakePlayer("webcodecs"));
  sound.follow();
  sound.start();
  while (sound.state !== "off") await new Promise((changed) => sound.addEventListener("change", changed, { once: true }));
  assert.match(sound.reason, /does not let/);
  assert.equal(done.contexts[0].state, "closed");
});

test("decoded sound has the time of its packet, also if the browser gives it another", async () => {
  const done = fakeBrowser();
  const sound = await started(fakePlayer("webcodecs"));
  for (const pts of [0, 20_000, 500_000, 520_000]) sound.take({ track: 1, pts, silence: pts === 520_000, gap: pts === 500_000, data: new Uint8Array(1) });
  sound.take({ track: 2, pts: 540_000, data: new Uint8Array(1) });
  const [decoder] = done.decoders;
  assert.deepEqual(decoder.chunks.map(({ timestamp }) => timestamp), [0, 20_000, 500_000, 520_000]);
  // Chromium counts on after a gap.
  for (const timestamp of [0, 20_000, 40_000, 60_000]) decoder.returns(timestamp);
  const posted = done.posted.filter(({ type }) => type === "sound");
  assert.deepEqual(posted.map(({ pts }) => pts), [0, 20_000, 500_000, 520_000]);
  assert.deepEqual([posted[2].gap, posted[3].silence, posted[3].gap], [true, true, false]);
  // Mono is played on both sides.
  assert.deepEqual([posted[0].left[0], posted[0].right[0]], [1, 1]);
  sound.close();
});

test("a decoder that failed is replaced with the next packet", async () => {
  const done = fakeBrowser();
  const sound = await started(fakePlayer("webcodecs"));
  const take = (pts) => sound.take({ track: 1, pts, data: new Uint8Array(1) });
  take(0);
  done.decoders[0].error(new Error());
  done.decoders[0].close();
  take(20_000);
  done.decoders[1].returns(20_000);
  assert.deepEqual(done.posted.filter(({ type }) => type === "sound").map(({ pts }) => pts), [20_000]);
  assert.equal(sound.figures.errors, 1);
  sound.close();
});

test("the figures are those of the worklet, and it hears of the pictures", async () => {
  const done = fakeBrowser();
  const sound = await started(fakePlayer("webcodecs"));
  const now = performance.now();
  sound.pictureDecoded(0, now - 20);
  sound.pictured(0, now - 20);
  sound.volume = 0.5;
  done.contexts[0].currentTime = 0;
  done.node.port.onmessage({ data: { pts: 0, time: 0.03, delay: 0.04, holes: 1, dropped: 2, level: 0.5 } });
  const { skew, ...figures } = sound.figures;
  assert.deepEqual(figures, { delay: 40, holes: 1, dropped: 2, errors: 0 });
  assert.ok(skew >= 50 && skew < 100, `${skew}`);
  assert.equal(sound.level, 0.25);
  const { offset } = done.posted.find(({ type }) => type === "pictures");
  assert.ok(offset <= -0.02 && offset > -0.07, `${offset}`);
  // After another connection nothing is known.
  sound.greeted();
  assert.deepEqual([sound.figures.skew, done.posted.at(-1).type], [null, "reset"]);
  sound.close();
});

test("a container is connected anew once, and then muted and heard", () => {
  fakeBrowser();
  const player = fakePlayer("mse");
  const sound = new Sound(player);
  sound.follow();
  assert.deepEqual(player.calls, []);
  sound.start();
  sound.follow();
  sound.stop();
  sound.start();
  sound.volume = 0.5;
  assert.deepEqual(player.calls, ["restart", "hear true 1", "hear false 1", "hear true 1", "hear true 0.5"]);
  assert.deepEqual([sound.state, sound.level, sound.figures.skew], ["on", null, null]);
  sound.silenced();
  assert.deepEqual([sound.state, sound.reason !== ""], ["off", true]);
  sound.close();
});

test("a container is connected anew when the session's sound vanishes and returns", () => {
  fakeBrowser();
  const player = fakePlayer("mse");
  const sound = new Sound(player);
  sound.follow();
  sound.start();
  player.calls.length = 0;
  player.stream.sound = undefined;
  sound.follow();
  assert.deepEqual(player.calls, ["restart", "hear true 1"]);
  player.stream.sound = track;
  sound.follow();
  assert.equal(player.calls.filter((call) => call === "restart").length, 2);
  sound.close();
});

test("why sound is not possible is said", () => {
  fakeBrowser();
  const player = fakePlayer("mse");
  const sound = new Sound(player);
  assert.match(sound.obstacle, /no sound/);
  sound.follow();
  player.stream.repeats = false;
  assert.match(sound.obstacle, /no repeats/);
  player.decoder.canHear = false;
  assert.match(sound.obstacle, /cannot play Opus/);
  player.player = "webcodecs";
  assert.equal(sound.obstacle, "");
  delete globalThis.AudioDecoder;
  assert.match(sound.obstacle, /WebCodecs/);
  sound.close();
});
