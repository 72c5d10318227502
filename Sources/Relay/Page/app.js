// The page: asks the relay how things are, and shows either the list or one session.

import { api } from "./api.js";
import { isTyping, setText } from "./dom.js";
import { Overview } from "./overview.js";
import { Player } from "./player.js";

const interval = 2000;
const place = document.getElementById("view");
const notice = document.getElementById("notice");
const relay = document.getElementById("relay");
const shortcuts = document.getElementById("shortcuts");

let view;
let known;
let timer;

function show() {
  const session = /^#\/session\/(\d+)$/.exec(location.hash)?.[1];
  view?.end();
  view = session ? new Player(Number(session)) : new Overview(refresh);
  place.replaceChildren(view.root);
  if (known) view.update(known);
  refresh();
}

async function refresh() {
  clearTimeout(timer);
  try {
    const [broadcasts, sessions, release] = await Promise.all([api.broadcasts(), api.sessions(), api.release()]);
    known = { broadcasts, sessions };
    notice.hidden = true;
    setText(relay, `Relay ${release} at ${location.host}`);
    view.update(known);
    missing();
  } catch (error) {
    setText(notice, `${error.message} Trying again.`);
    notice.hidden = false;
    setText(relay, "");
  }
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(refresh, interval);
}

/** A player whose session is not there says so. */
function missing() {
  if (view instanceof Player && !view.session) view.say("There is no such session. It may have ended.");
}

document.getElementById("help").addEventListener("click", () => shortcuts.showModal());
document.addEventListener("keydown", (event) => {
  if (event.key === "?" && !isTyping(event)) shortcuts.showModal();
});
document.addEventListener("visibilitychange", refresh);
addEventListener("hashchange", () => {
  show();
  // The beginning of what is new, for eyes and for screen readers.
  place.focus({ preventScroll: true });
  scrollTo(0, 0);
});
show();
