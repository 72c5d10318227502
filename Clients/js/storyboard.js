// Small pictures of a recording, and when each one shows it.

/** The most cues that are read. */
const MOST = 10_000;
/** The longest side of a JPEG, in pixels. */
const LONGEST = 65_535;

/** A cue's times: hours, which may be absent, minutes, seconds, milliseconds; twice. */
const TIMES = /^\s*(?:(\d{2,6}):)?([0-5]\d):([0-5]\d)\.(\d{3})\s+-->\s+(?:(\d{2,6}):)?([0-5]\d):([0-5]\d)\.(\d{3})(?:\s|$)/;
/** A relative address below the storyboard's folder, and a rectangle. No part of the path begins with a dot. */
const PLACE = /^((?:[\w-][\w.-]*\/)*[\w-][\w.-]*)#xywh=(?:pixel:)?(\d{1,5}),(\d{1,5}),(\d{1,5}),(\d{1,5})$/;

const seconds = ([hours = "0", minutes, whole, milliseconds]) =>
  Number(hours) * 3600 + Number(minutes) * 60 + Number(whole) + Number(milliseconds) / 1000;

/**
 * Reads a storyboard: a WebVTT file whose cues each name a sheet of pictures and a rectangle in it.
 *
 * Other cues are left out: those that are not later than the one before, have no rectangle, or whose sheet is not below
 * the folder of the storyboard's own address. At most 10,000 cues are read.
 *
 * @param {string} text
 * @param {string} address The absolute address that the text is from.
 * @returns {StoryboardCue[]} In the order of time.
 */
export function parseStoryboard(text, address) {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
  if (!/^WEBVTT(?:[ \t]|$)/.test(lines[0])) return [];
  const cues = [];
  for (let line = 1; line < lines.length && cues.length < MOST; line += 1) {
    const times = TIMES.exec(lines[line]);
    if (!times) continue;
    const cue = cueOf(times, lines[line + 1]?.trim() ?? "", address);
    if (cue && cue.start >= (cues.at(-1)?.start ?? 0)) cues.push(cue);
  }
  return cues;
}

function cueOf(times, text, address) {
  const place = PLACE.exec(text);
  if (!place) return undefined;
  const [start, end] = [seconds(times.slice(1, 5)), seconds(times.slice(5, 9))];
  const [x, y, width, height] = place.slice(2).map(Number);
  const isInside = width > 0 && height > 0 && x + width <= LONGEST && y + height <= LONGEST;
  return end > start && isInside ? { start, end, sheet: new URL(place[1], address).href, x, y, width, height } : undefined;
}

/**
 * Returns the cue that shows a time: the last one that has begun by then, or the first one before that.
 *
 * @param {StoryboardCue[]} cues In the order of time.
 * @param {number} time In s from the item's beginning.
 * @returns {StoryboardCue | undefined} `undefined` if there is none at all.
 */
export function cueAt(cues, time) {
  let [first, last] = [0, cues.length];
  while (last - first > 1) {
    const middle = (first + last) >> 1;
    if (cues[middle].start <= time) first = middle;
    else last = middle;
  }
  return cues[first];
}

/**
 * @typedef {object} StoryboardCue
 * @property {number} start From when on the picture shows the item, in s from the item's beginning.
 * @property {number} end
 * @property {string} sheet The absolute address of the JPEG that has the picture, below the item's own address.
 * @property {number} x Where the picture is in the sheet, in pixels.
 * @property {number} y
 * @property {number} width
 * @property {number} height
 */
