// The relay that serves this page.

import { Relay } from "./heliograph.js";

export const relay = new Relay();
