// The ways to play a session in a browser.

import { playsFragments } from "./fragments.js";

/** What they are called, the best first. @type {Record<PlayerName, string>} */
export const playerNames = { webcodecs: "WebCodecs", mse: "Media Source Extensions", mjpeg: "JPEG pictures" };

/** A codec string such as sessions have. */
const examples = { h264: "avc3.42C01F", h265: "hev1.1.6.L93.B0" };

const isAvailable = {
  async webcodecs(codec) {
    if (typeof VideoDecoder !== "function") return false;
    const { supported } = await VideoDecoder.isConfigSupported({ codec: examples[codec] }).catch(() => ({}));
    return supported === true;
  },
  mse: (codec) => playsFragments(examples[codec]),
  mjpeg: () => true,
};

/**
 * Lists the ways that this browser has for a codec, the best first.
 *
 * @param {"h264" | "h265"} codec
 * @param {string | null} [wanted] The only one to list.
 * @returns {Promise<PlayerName[]>}
 */
export async function availablePlayers(codec, wanted) {
  const found = [];
  for (const name of Object.keys(playerNames)) {
    if ((wanted ?? name) === name && (await isAvailable[name](codec))) found.push(name);
  }
  return found;
}

/** @typedef {"webcodecs" | "mse" | "mjpeg"} PlayerName */
