// The binary messages that act on a screen, docs/reference/websocket.md#acting-on-the-screen.

/** The longest text of a message, in bytes. */
const longestText = 4092;
const encoder = new TextEncoder();

/**
 * A place in an encoded picture.
 *
 * @typedef {object} Place
 * @property {number} x In pixels, from the left edge.
 * @property {number} y From the top edge.
 * @property {number} geometry Of the picture that is shown; 0 for where the pointer is.
 */

/** Returns a message of `size` bytes. */
function message(size, kind, first = 0, second = 0) {
  const view = new DataView(new ArrayBuffer(size));
  view.setUint8(0, kind);
  view.setUint8(1, first);
  view.setUint8(2, second);
  return view;
}

/** Writes two fixed-point numbers. */
function writePair(view, offset, x, y) {
  view.setInt32(offset, Math.round(x * 65536));
  view.setInt32(offset + 4, Math.round(y * 65536));
}

/** @param {Place} place */
function writePlace(view, { x, y, geometry }) {
  view.setUint32(4, geometry);
  writePair(view, 8, x, y);
}

/** Makes the messages. Each method returns an ArrayBuffer. */
export const input = {
  leave: () => message(4, 1, 0).buffer,
  /** @param {boolean} takes Whether control may be taken from another caller. */
  claim: (takes) => message(4, 1, takes ? 2 : 1).buffer,
  beat: () => message(4, 2).buffer,

  /** @param {Place} place */
  move(place) {
    const view = message(16, 3);
    writePlace(view, place);
    return view.buffer;
  },

  motion(dx, dy) {
    const view = message(12, 4);
    writePair(view, 4, dx, dy);
    return view.buffer;
  },

  /** @param {number} button As in `MouseEvent.button`. */
  button(button, isDown, place) {
    const view = message(16, 5, button, isDown ? 1 : 0);
    writePlace(view, place);
    return view.buffer;
  },

  scroll(dx, dy, place) {
    const view = message(24, 6);
    writePlace(view, place);
    writePair(view, 16, dx, dy);
    return view.buffer;
  },

  /** @param {{ id: number, phase: "down" | "move" | "up" | "cancel", x: number, y: number }[]} contacts At most 10. */
  touch(contacts, geometry) {
    const view = message(8 + 12 * contacts.length, 7, contacts.length);
    view.setUint32(4, geometry);
    contacts.forEach(({ id, phase, x, y }, number) => {
      const offset = 8 + 12 * number;
      view.setUint8(offset, id);
      view.setUint8(offset + 1, ["down", "move", "up", "cancel"].indexOf(phase) + 1);
      writePair(view, offset + 4, x, y);
    });
    return view.buffer;
  },

  key(keysym, isDown) {
    const view = message(8, 8, isDown ? 1 : 0);
    view.setUint32(4, keysym);
    return view.buffer;
  },

  /** Returns the messages that type a text, in order. */
  text(text) {
    const messages = [];
    let part = "";
    let size = 0;
    const end = () => {
      const bytes = encoder.encode(part);
      const whole = new Uint8Array(4 + bytes.length);
      whole[0] = 9;
      whole.set(bytes, 4);
      messages.push(whole.buffer);
      [part, size] = ["", 0];
    };
    for (const character of text) {
      const length = encoder.encode(character).length;
      if (size + length > longestText) end();
      part += character;
      size += length;
    }
    if (part !== "") end();
    return messages;
  },

  release: () => message(4, 10).buffer,
};

/**
 * Returns where a point of an upright picture is in the encoded one.
 *
 * @param {number} across The size of the upright picture.
 * @param {number} down
 * @param {number} orientation The clockwise quarter turns that made it upright.
 */
export function encodedPoint(u, v, across, down, orientation) {
  switch (orientation) {
    case 1: return { x: v, y: across - u };
    case 2: return { x: across - u, y: down - v };
    case 3: return { x: down - v, y: u };
    default: return { x: u, y: v };
  }
}

/** Returns the same for a distance. */
export function encodedDistance(du, dv, orientation) {
  switch (orientation) {
    case 1: return { dx: dv, dy: -du };
    case 2: return { dx: -du, dy: -dv };
    case 3: return { dx: -dv, dy: du };
    default: return { dx: du, dy: dv };
  }
}
