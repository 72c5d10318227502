// Drives a Heliograph relay, and plays its sessions in a page. Clients/js/README.md, docs/guide/embedding.md

export { Control } from "./control.js";
export { Device } from "./device.js";
export { RelayError, WaitError } from "./errors.js";
export { Library, Recorded } from "./library.js";
export { Player } from "./player.js";
export { availablePlayers, playerNames, playsVideo } from "./players.js";
export { Relay } from "./relay.js";
export { NamedSession, Session } from "./session.js";
export { cueAt, parseStoryboard } from "./storyboard.js";
export { Stream } from "./stream.js";
export { Wall } from "./wall.js";
