// The relay that serves this page, and how the page was opened.

import { Relay } from "./heliograph.js";

export const relay = new Relay();

/** Whether a signed link opened the page. It then may make only the calls below that link. */
export const isLinked = /\/signed\/[^/]+\/$/.test(location.pathname);

/** Whether the page shows nothing but a player: in a frame of another page, or by a signed link. */
export const isEmbedded = isLinked || new URLSearchParams(location.search).get("view") === "player";
