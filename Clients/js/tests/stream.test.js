import assert from "node:assert/strict";
import { test } from "node:test";

import { Relay } from "../relay.js";
import { Stream } from "../stream.js";

const video = { id: 0, kind: "video", codec: "h264" };
const sound = { id: 1, kind: "audio", codec: "opus", channels: 2, sampleRate: 48_000 };

/** Runs `body` with a stream and the sockets that it opens. */
function withStream(container, options, body) {
  const sockets = [];
  globalThis.CustomEvent ??= class extends Event {
    constructor(type, { detail }) {
      super(type);
      this.detail = detail;
    }
  };
  const former = globalThis.WebSocket;
  globalThis.WebSocket = class {
    static OPEN = 1;
    constructor(address) {
      Object.assign(this, { address, readyState: 1, sent: [] });
      sockets.push(this);
    }

    send(text) {
      this.sent.push(JSON.parse(text));
    }

    close() {}

    says(message) {
      this.onmessage({ data: message instanceof ArrayBuffer ? message : JSON.stringify(message) });
    }

    get asked() {
      return this.sent.filter(({ type }) => type === "audio").map(({ on }) => on);
    }
  };
  const stream = new Stream(new Relay("http://relay.test/").session(7), container, options);
  try {
    stream.connect();
    body(stream, sockets);
  } finally {
    stream.end();
    globalThis.WebSocket = former;
  }
}

test("the tracks come as an event after the greeting and after each change", () => {
  withStream(undefined, {}, (stream, [socket]) => {
    const told = [];
    stream.addEventListener("tracks", ({ detail }) => told.push(detail.tracks));
    socket.onopen();
    socket.says({ type: "hello", tracks: [video] });
    assert.equal(stream.sound, undefined);
    socket.says({ type: "tracks", tracks: [video, sound] });
    assert.deepEqual(stream.sound, sound);
    assert.deepEqual(told, [[video], [video, sound]]);
  });
});

test("a relay without tracks has no sound", () => {
  withStream(undefined, {}, (stream, [socket]) => {
    socket.onopen();
    socket.says({ type: "hello" });
    assert.deepEqual([stream.tracks, stream.sound], [[], undefined]);
  });
});

test("sound comes only when it was asked for, also after the connection was made again", () => {
  withStream(undefined, {}, (stream, sockets) => {
    assert.ok(!sockets[0].address.includes("audio"));
    sockets[0].onopen();
    assert.deepEqual(sockets[0].asked, []);
    stream.audio(true);
    stream.audio(false);
    stream.audio(true);
    assert.deepEqual(sockets[0].asked, [true, false, true]);
    clearInterval(stream.clockTimer);
    stream.connect();
    sockets[1].onopen();
    assert.deepEqual(sockets[1].asked, [true]);
  });
});

test("a container has sound from the start if the session has it then", () => {
  withStream("mp4", { audio: true }, (stream, [socket]) => {
    assert.equal(new URL(socket.address).search, "?container=mp4&audio=true");
    socket.onopen();
    stream.audio(false);
    socket.says({ type: "hello", tracks: [video, sound] });
    assert.deepEqual(stream.contained, sound);
    socket.says({ type: "tracks", tracks: [video] });
    assert.deepEqual([stream.contained, stream.sound], [sound, undefined]);
    assert.deepEqual(socket.asked, []);
  });
  withStream("mp4", {}, (stream, [socket]) => {
    socket.onopen();
    socket.says({ type: "hello", tracks: [video, sound] });
    assert.equal(stream.contained, undefined);
  });
});

test("a packet of sound is an event", () => {
  withStream(undefined, {}, (stream, [socket]) => {
    const packets = [];
    stream.addEventListener("sound", ({ detail }) => packets.push(detail));
    const message = new ArrayBuffer(29);
    new Uint8Array(message).set([3, 1, 0, 1]);
    socket.says(message);
    assert.deepEqual([packets[0].track, packets[0].pts, packets[0].data.length], [1, 0, 1]);
  });
});
