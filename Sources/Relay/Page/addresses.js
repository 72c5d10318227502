// The addresses of a session for other players and programs.

import { copyButton } from "./copy.js";
import { element } from "./dom.js";
import { relay } from "./site.js";

/** Returns what people copy, and what it is for. */
function rows({ id, device, name, codec, port }, wantsKeys) {
  // A name means the session that has it, also after the present one has ended.
  const session = name ? relay.device(device).session(name) : relay.session(id);
  const key = wantsKeys ? '-H "Authorization: Bearer $HELIOGRAPH_KEY" ' : "";
  const bare = session.address(`stream.${codec}`);
  return [
    ["ffplay", `curl -sN ${key}${bare} | ffplay -f ${codec === "h265" ? "hevc" : "h264"} -`],
    ["MPEG-TS", session.address("stream.ts")],
    ["MP4", session.address("stream.mp4")],
    ["HLS", session.address("live.m3u8")],
    ["MJPEG", session.address("stream.mjpeg")],
    ["Snapshot", session.address("snapshot.png")],
    ["Bare stream", bare],
    ["WebSocket", session.address("ws")],
    ["TCP", `tcp://${location.hostname}:${port}`, "Tunnels and proxies do not pass it on."],
  ];
}

export class Addresses {
  constructor() {
    this.list = element("dl", { class: "addresses" });
    this.root = element("details", {}, element("summary", { text: "Watch elsewhere" }), this.list);
  }

  update(session, wantsKeys) {
    const entries = rows(session, wantsKeys);
    const texts = JSON.stringify(entries);
    if (texts === this.texts) return;
    this.texts = texts;
    this.list.replaceChildren(...entries.flatMap(([name, text, hint]) => {
      const code = element("code", { text });
      const copy = copyButton(code, `the address: ${name}`);
      return [element("dt", { text: name }), element("dd", {}, code, copy, hint ? element("small", { text: hint }) : null)];
    }));
  }
}
