// The ways to play a session in a browser.

import { playsFragments } from "./fragments.js";

/** What they are called, the best first. @type {Record<PlayerName, string>} */
export const playerNames = { webcodecs: "WebCodecs", mse: "Media Source Extensions", mjpeg: "JPEG pictures" };

/** Codec strings such as sessions have, by their chroma. */
const examples = {
  420: { h264: "avc3.42C01F", h265: "hev1.1.6.L93.B0" },
  444: { h264: "avc3.F4001F", h265: "hev1.4.10.L93.BE.08" },
};

const isAvailable = {
  async webcodecs(codec) {
    if (typeof VideoDecoder !== "function") return false;
    const { supported } = await VideoDecoder.isConfigSupported({ codec }).catch(() => ({}));
    return supported === true;
  },
  mse: (codec) => playsFragments(codec),
  mjpeg: () => true,
};

/**
 * Lists the ways that this browser has for a codec, the best first.
 *
 * @param {"h264" | "h265"} codec
 * @param {string | null} [wanted] The only one to list.
 * @param {"420" | "444"} [chroma]
 * @returns {Promise<PlayerName[]>}
 */
export async function availablePlayers(codec, wanted, chroma = "420") {
  const found = [];
  for (const name of Object.keys(playerNames)) {
    if ((wanted ?? name) === name && (await isAvailable[name](examples[chroma][codec]))) found.push(name);
  }
  return found;
}

/**
 * Returns whether this browser plays a codec as video.
 *
 * @param {"h264" | "h265"} codec
 * @param {"420" | "444"} chroma
 * @returns {Promise<boolean>}
 */
export async function playsVideo(codec, chroma) {
  const [best] = await availablePlayers(codec, undefined, chroma);
  return best !== undefined && best !== "mjpeg";
}

/** @typedef {"webcodecs" | "mse" | "mjpeg"} PlayerName */
