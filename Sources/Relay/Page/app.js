// Begins what the page's address asks for: the whole page, or a player alone.

import { isEmbedded } from "./site.js";

document.body.classList.toggle("embedded", isEmbedded);
const { start } = await import(isEmbedded ? "./embedded.js" : "./page.js");
start();
