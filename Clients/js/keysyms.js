// The X keysyms (X11/keysymdef.h) of a browser's keys (W3C, UI Events KeyboardEvent key Values).

const named = {
  Backspace: 0xff08, Tab: 0xff09, Clear: 0xff0b, Enter: 0xff0d, Pause: 0xff13, Escape: 0xff1b, Delete: 0xffff,
  Home: 0xff50, ArrowLeft: 0xff51, ArrowUp: 0xff52, ArrowRight: 0xff53, ArrowDown: 0xff54, PageUp: 0xff55,
  PageDown: 0xff56, End: 0xff57, Select: 0xff60, PrintScreen: 0xff61, Execute: 0xff62, Insert: 0xff63, Undo: 0xff65,
  Redo: 0xff66, ContextMenu: 0xff67, Find: 0xff68, Cancel: 0xff69, Help: 0xff6a,
  Convert: 0xff23, NonConvert: 0xff22, KanaMode: 0xff2d, HiraganaKatakana: 0xff27, Hiragana: 0xff25, Katakana: 0xff26,
  ZenkakuHankaku: 0xff2a, HangulMode: 0xff31, HanjaMode: 0xff34, Eisu: 0xff30,
  AudioVolumeDown: 0x1008ff11, AudioVolumeMute: 0x1008ff12, AudioVolumeUp: 0x1008ff13, MediaPlayPause: 0x1008ff14,
  MediaStop: 0x1008ff15, MediaTrackPrevious: 0x1008ff16, MediaTrackNext: 0x1008ff17, BrowserBack: 0x1008ff26,
  BrowserForward: 0x1008ff27, BrowserRefresh: 0x1008ff29, BrowserSearch: 0x1008ff1b, BrowserHome: 0x1008ff18,
  BrightnessUp: 0x1008ff02, BrightnessDown: 0x1008ff03,
};

/** Keys that keyboards have on the left and on the right. */
const sided = {
  Shift: [0xffe1, 0xffe2],
  Control: [0xffe3, 0xffe4],
  Alt: [0xffe9, 0xffea],
  Meta: [0xffeb, 0xffec],
  OS: [0xffeb, 0xffec],
};

/** Returns the keysym of a character, a string of one code point. */
export function characterKeysym(character) {
  const point = character.codePointAt(0);
  const isLatin1 = (point >= 0x20 && point < 0x7f) || (point >= 0xa0 && point < 0x100);
  return isLatin1 ? point : 0x01000000 + point;
}

/**
 * Returns the keysym of a key, or `undefined` if it has none: dead keys, locks, keys of an input method.
 *
 * Locks are this machine's own: their effect is in the characters already.
 *
 * @param {string} key As in `KeyboardEvent.key`.
 * @param {number} [location] As in `KeyboardEvent.location`.
 * @returns {number | undefined}
 */
export function keysym(key, location = 0) {
  if (key === "Enter" && location === 3) return 0xff8d;
  if (Object.hasOwn(named, key)) return named[key];
  if (Object.hasOwn(sided, key)) return sided[key][location === 2 ? 1 : 0];
  const number = /^F([1-9]|[12]\d|3[0-5])$/.exec(key)?.[1];
  if (number) return 0xffbd + Number(number);
  return [...key].length === 1 ? characterKeysym(key) : undefined;
}
