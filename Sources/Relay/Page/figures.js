// The figures over the picture.

import { playerNames } from "./heliograph.js";
import { bitrate, milliseconds, rate } from "./words.js";

/**
 * Returns the figures of what is played: names and texts.
 *
 * @param {import("./player.js").Player | undefined} player
 * @param {object | undefined} session The session's report.
 * @returns {[name: string, text: string][]}
 */
export function figureRows(player, session) {
  const rows = [["Player", playerNames[player?.player] ?? "none"], ["Feed", session?.feed ?? "–"]];
  if (!player) return rows;
  const { figures } = player;
  rows.push(["Size", `${figures.width} × ${figures.height}`]);
  return [...rows, ...(figures.player === "mjpeg" ? reported(session) : measured(figures))];
}

/** What the relay says, where the page cannot measure. */
function reported({ rates, viewers } = {}) {
  return [
    ["Session", `${rate(rates?.pictures)} fps, ${bitrate(rates?.bitrate)}`],
    ["Viewers", String(viewers ?? "–")],
  ];
}

function measured(figures) {
  const { latency, stages, target } = figures;
  return [
    ["Arrived", `${rate(figures.fpsIn)} fps`],
    ["Presented", `${rate(figures.fpsOut)} fps`],
    ["Bitrate", bitrate(figures.bitrate)],
    ...(target ? [["As viewers' networks carry", `${bitrate(target.bitrate)}, ${target.fps} fps`]] : []),
    ["Latency p50 / p95", `${milliseconds(latency.p50)} / ${milliseconds(latency.p95)}`],
    ["to encoded", milliseconds(stages.encode)],
    ["to relay", milliseconds(stages.link)],
    ["to here", milliseconds(stages.network)],
    ["to picture", milliseconds(stages.decode)],
    ["Clock error", `± ${milliseconds(figures.clockError)}`],
    ["Repeats", String(figures.repeats)],
    ["Dropped", `${figures.dropped} by the relay, ${figures.skipped} here`],
    ["Decoder errors", String(figures.errors)],
    ["Viewers", String(figures.viewers ?? "–")],
    ...heard(figures.sound),
  ];
}

function heard(sound) {
  if (!sound) return [];
  const { skew, delay, holes, dropped } = sound;
  return [
    ["Sound after picture", skew === null ? "–" : `${Math.round(skew)} ms`],
    ["Sound waits", milliseconds(delay)],
    ["Sound holes", String(holes ?? "–")],
    ["Sound dropped", String(dropped ?? "–")],
  ];
}
