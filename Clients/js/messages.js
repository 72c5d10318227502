// The binary messages of a session's WebSocket, docs/reference/websocket.md.

/**
 * A configuration of the decoder, for the pictures after it.
 *
 * @typedef {object} Configuration
 * @property {"configuration"} type
 * @property {string} codec RFC 6381, such as `avc3.42C01F`.
 * @property {number} orientation Clockwise quarter turns that make the picture upright, 0 to 3.
 * @property {number} width Of the encoded picture.
 * @property {number} height
 * @property {Uint8Array} preamble The parameter sets, or the initialization segment of MP4.
 */

/**
 * An encoded picture. Instants are ms of `performance.now()`; those of the relay are `null` until its clock is known.
 *
 * @typedef {object} Picture
 * @property {"picture"} type
 * @property {number} pts µs.
 * @property {boolean} key Whether it is a keyframe.
 * @property {boolean} repeat Whether it repeats a frame, because the screen was static.
 * @property {boolean} skip Whether the repeat was made without the encoder.
 * @property {number} orientation
 * @property {number | null} captured When its frame was captured.
 * @property {number | null} encoded
 * @property {number | null} relayed When the relay had it.
 * @property {number} received
 * @property {Uint8Array} data Annex B, or a fragment of MP4.
 * @property {number} [geometry] What places in it mean; set by `Stream`.
 */

/**
 * A packet of sound. Instants are as for pictures.
 *
 * @typedef {object} Sound
 * @property {"sound"} type
 * @property {number} track The id of its track.
 * @property {number} pts µs, of its decoded sound. Pictures have the same time.
 * @property {boolean} silence Whether digital silence follows, until the next packet.
 * @property {boolean} gap Whether sound before it was lost.
 * @property {number | null} captured
 * @property {number | null} relayed When the relay had it.
 * @property {number} received
 * @property {Uint8Array} data A packet of Opus, or a fragment of MP4.
 */

/**
 * A track, as the relay describes it.
 *
 * @typedef {object} Track
 * @property {number} id
 * @property {"video" | "audio"} kind
 * @property {string} codec `h264`, `h265` or `opus`.
 * @property {number} [channels] Of a track of sound.
 * @property {number} [sampleRate]
 */

/**
 * Takes a binary message apart.
 *
 * @param {ArrayBuffer} message
 * @param {import("./clock.js").RelayClock} clock
 * @param {number} received When it came.
 * @returns {Configuration | Picture | Sound | null} `null` if this module does not know its kind.
 */
export function parseMessage(message, clock, received) {
  const [view, bytes] = [new DataView(message), new Uint8Array(message)];
  switch (view.getUint8(0)) {
    case 1: return configuration(view, bytes);
    case 2: return picture(view, bytes, clock, received);
    case 3: return sound(view, bytes, clock, received);
    default: return null;
  }
}

function configuration(view, bytes) {
  const end = 14 + view.getUint16(12);
  return {
    type: "configuration",
    codec: String.fromCharCode(...bytes.subarray(14, end)),
    orientation: view.getUint8(2),
    width: view.getUint32(4),
    height: view.getUint32(8),
    preamble: bytes.subarray(end),
  };
}

function picture(view, bytes, clock, received) {
  const flags = view.getUint8(1);
  return {
    type: "picture",
    pts: Number(view.getBigInt64(4)),
    key: (flags & 1) !== 0,
    repeat: (flags & 2) !== 0,
    skip: (flags & 4) !== 0,
    orientation: view.getUint8(2),
    captured: clock.local(view.getBigUint64(12)),
    encoded: clock.local(view.getBigUint64(20)),
    relayed: clock.local(view.getBigUint64(28)),
    received,
    data: bytes.subarray(36),
  };
}

function sound(view, bytes, clock, received) {
  const flags = view.getUint8(1);
  return {
    type: "sound",
    track: view.getUint16(2),
    pts: Number(view.getBigInt64(4)),
    silence: (flags & 8) !== 0,
    gap: (flags & 16) !== 0,
    captured: clock.local(view.getBigUint64(12)),
    relayed: clock.local(view.getBigUint64(20)),
    received,
    data: bytes.subarray(28),
  };
}
