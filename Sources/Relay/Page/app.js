// Begins what the page's address asks for: the whole page, or a player alone.

import { isEmbedded } from "./site.js";

document.body.classList.toggle("embedded", isEmbedded);
const { start } = await (isEmbedded ? import("./embedded.js") : import("./page.js"));
start();
