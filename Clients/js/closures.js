// Why the relay closed a viewer's connection, in words. docs/reference/websocket.md

/** By the reason of the Close: what happened, and what helps. */
const closures = {
  stalled: "The relay closed the connection because this page read no pictures for too long. The page slept or hung, or the network was down.",
  slow: "The relay closed the connection because this page was too slow for too long. Try a lower bitrate or frame rate.",
  memory: "The relay closed the connection because its viewers used too much memory, and this page the most. Try a lower bitrate.",
};

/**
 * Says why a viewer's connection has ended.
 *
 * @param {number} code The Close's code.
 * @param {string} reason Its reason.
 * @returns {[text: string, isKept: boolean]} `isKept`: whether to keep the text in sight after the next connection.
 */
export function closureText(code, reason) {
  if (closures[reason]) return [closures[reason], true];
  if (code === 1001) return ["The session or the relay has ended.", false];
  if (code === 1013) return ["The session is full or has ended.", false];
  if (code >= 1002 && code <= 1009 && code !== 1006) return [`The relay did not understand this page (${code} ${reason}). Load the page again.`, true];
  return ["The connection broke off.", false];
}
