// A link under which others watch a session without a key.

import { copiedField } from "./copy.js";
import { ask, choice, field } from "./dialog.js";
import { element } from "./dom.js";
import { relay } from "./site.js";
import { localTime } from "./words.js";

const lifetimes = [[3600, "1 hour"], [86_400, "1 day"], [604_800, "1 week"]];

/** What a frame with the link may use of the visitor's browser. */
const allowed = { look: "fullscreen; picture-in-picture", act: "fullscreen; picture-in-picture; clipboard-read; gamepad; microphone" };

/** Returns where the link of a session is made. A device's link shows its session `shared`, also the next one. */
function linksPath({ id, device, name }) {
  return name === "shared" ? `v1/devices/${encodeURIComponent(device)}/links` : `v1/sessions/${id}/links`;
}

/** Asks for how long and what for, and shows the link. */
export function askToShare(session, mayAct) {
  ask(
    "Share",
    "Make a link",
    [
      field("Good for", choice("ttl", lifetimes)),
      field("Visitors may", choice("rights", mayAct ? [["look", "look"], ["act", "look and act"]] : [["look", "look"]])),
    ],
    async ({ ttl, rights }) => {
      const link = await relay.call("POST", linksPath(session), { body: { ttl: Number(ttl), act: rights === "act" } });
      showLink(session, relay.address(link.page), rights, link.expires);
    },
    `Anyone who has the link needs no key. It is for ${session.name === "shared" ? `all sessions of ${session.device}` : "this session"}, and ends early when your key is revoked.`,
  );
}

function showLink({ device }, address, rights, expires) {
  const frame = element("iframe", { src: address, width: 960, height: 540, allow: allowed[rights], title: `The screen of ${device}` });
  ask(
    "The link",
    "Done",
    [
      element("div", { class: "wide" }, element("p", { text: "Address" }), copiedField(address, "the address")),
      element("div", { class: "wide" }, element("p", { text: "For a page of yours" }), copiedField(frame.outerHTML, "the frame")),
    ],
    undefined,
    `Good until ${localTime(expires)}. Treat it like a password: the address is the key.`,
  );
}
