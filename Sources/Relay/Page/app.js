// The page. It asks the relay for its state, and shows the list, one session, the library, one recording, or who may
// call.

import { AccessView } from "./access-view.js";
import { isTyping, setText } from "./dom.js";
import { askForKey } from "./forms.js";
import { ItemView } from "./item-view.js";
import { LibraryView } from "./library-view.js";
import { Overview } from "./overview.js";
import { SessionView } from "./session-view.js";
import { relay } from "./site.js";
import { tunnelText } from "./words.js";

const interval = 2000;
const place = document.getElementById("view");
const notice = document.getElementById("notice");
const caption = document.getElementById("relay");
const shortcuts = document.getElementById("shortcuts");
const places = document.querySelectorAll(".places a");
const login = document.getElementById("login");

let view;
let known;
let timer;

/** Returns the view that the page's address names. */
function named() {
  const [, kind, id] = /^#\/(session|library)(?:\/(\d+))?$/.exec(location.hash) ?? [];
  if (kind === "session" && id) return new SessionView(Number(id));
  if (kind === "library") return id ? new ItemView(Number(id)) : new LibraryView();
  if (location.hash === "#/access") return new AccessView(refresh);
  return new Overview(refresh);
}

function show() {
  view?.end();
  view = named();
  place.replaceChildren(view.root);
  const current = ["#/library", "#/access"].find((hash) => location.hash.startsWith(hash)) ?? "#/";
  for (const link of places) {
    if (link.hash === current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (known) view.update(known);
  refresh();
}

async function refresh() {
  clearTimeout(timer);
  try {
    const [broadcasts, sessions, who] = await Promise.all([relay.devices(), relay.sessions(), relay.who()]);
    const [mayLook, mayRecord, mayDelete] = ["look", "record", "delete"].map((right) => who.library.includes(right));
    known = { broadcasts, sessions, mayChange: who.role === "operator", mayLook, mayRecord, mayDelete, wantsKeys: who.access, fingerprint: who.tls?.fingerprint };
    delete login.dataset.asked;
    notice.hidden = true;
    place.classList.remove("outdated");
    const caller = who.name ? `, as ${who.name} (${who.role})` : "";
    setText(caption, `Relay ${who.release} at ${location.host}${caller}${tunnelText(who.tunnel)}`);
    allow(known);
    setText(login, "Log out");
    login.hidden = !who.access;
    view.update(known);
    missing();
  } catch (error) {
    if (error.status === 401) return logInFirst();
    setText(notice, `${error.message} Showing the last known state. Reconnecting…`);
    notice.hidden = false;
    place.classList.add("outdated");
    view.unreachable?.();
    setText(caption, "");
  }
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(refresh, interval);
}

/** Hides the actions that the caller may not do. */
function allow({ mayChange = false, mayRecord = false, mayDelete = false }) {
  const { classList } = document.body;
  classList.toggle("looks-only", !mayChange);
  classList.toggle("may-not-record", !mayRecord);
  classList.toggle("may-not-delete", !mayDelete);
}

/** Asks for the key that the relay needs. It opens the dialog once; after that the user does. */
function logInFirst() {
  allow({});
  setText(notice, "This relay requires a key.");
  notice.hidden = false;
  setText(caption, "");
  setText(login, "Log in");
  if (login.hidden || login.dataset.asked !== "yes") askForKey(refresh);
  login.dataset.asked = "yes";
  login.hidden = false;
}

login.addEventListener("click", async () => {
  if (login.textContent === "Log in") return askForKey(refresh);
  await relay.logOut().catch(() => {});
  // The old contents belong to the user who has logged out.
  known = undefined;
  show();
});

/** Reports in the player that its session does not exist. */
function missing() {
  if (view instanceof SessionView && !view.session) view.say("There is no such session. It may have ended.");
}

document.getElementById("help").addEventListener("click", () => shortcuts.showModal());
document.addEventListener("keydown", (event) => {
  if (event.key === "?" && !isTyping(event)) shortcuts.showModal();
});
document.addEventListener("visibilitychange", refresh);
addEventListener("hashchange", () => {
  show();
  // Go to the top of the new contents, for eyes and for screen readers.
  place.focus({ preventScroll: true });
  scrollTo(0, 0);
});
show();
