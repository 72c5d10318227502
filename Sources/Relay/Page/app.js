// The page: asks the relay how things are, and shows either the list or one session.

import { api, Problem } from "./api.js";
import { isTyping, setText } from "./dom.js";
import { askForKey } from "./forms.js";
import { Overview } from "./overview.js";
import { Player } from "./player.js";

const interval = 2000;
const place = document.getElementById("view");
const notice = document.getElementById("notice");
const relay = document.getElementById("relay");
const shortcuts = document.getElementById("shortcuts");
const login = document.getElementById("login");

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
    const [broadcasts, sessions, who] = await Promise.all([api.broadcasts(), api.sessions(), api.who()]);
    known = { broadcasts, sessions, mayChange: who.role === "operator", wantsKeys: who.access };
    delete login.dataset.asked;
    notice.hidden = true;
    place.classList.remove("outdated");
    setText(relay, `Relay ${who.release} at ${location.host}${who.name ? `, as ${who.name} (${who.role})` : ""}`);
    document.body.classList.toggle("looks-only", !known.mayChange);
    setText(login, "Log out");
    login.hidden = !who.access;
    view.update(known);
    missing();
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return logInFirst();
    setText(notice, `${error.message} What is shown is from before. Trying again.`);
    notice.hidden = false;
    place.classList.add("outdated");
    view.unreachable?.();
    setText(relay, "");
  }
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(refresh, interval);
}

/** The relay wants a key: asks for it, once by itself, and waits. */
function logInFirst() {
  document.body.classList.add("looks-only");
  setText(notice, "This relay wants a key.");
  notice.hidden = false;
  setText(relay, "");
  setText(login, "Log in");
  if (login.hidden || login.dataset.asked !== "yes") askForKey(refresh);
  login.dataset.asked = "yes";
  login.hidden = false;
}

login.addEventListener("click", async () => {
  if (login.textContent === "Log in") return askForKey(refresh);
  await api.logOut().catch(() => {});
  // What was shown was for who was logged in.
  known = undefined;
  show();
});

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
