#!/usr/bin/env node
// A web server with a page that plays a screen: serves index.html, and passes /relay/ on to a relay. So the page and
// the relay have one origin.
//
//   HELIOGRAPH_RELAY=http://127.0.0.1:8420 PORT=8500 Examples/embed/server.mjs
//
// If the relay wants a key, set HELIOGRAPH_KEY to a viewer's. Every visitor then watches with it, so this server
// listens on this machine only.

import { readFile } from "node:fs/promises";
import http from "node:http";
import https from "node:https";

const relay = new URL(process.env.HELIOGRAPH_RELAY ?? "http://127.0.0.1:8420");
const key = process.env.HELIOGRAPH_KEY;

/** Passes a request on. `Host` and `Origin` stay as they are: they show the relay that the page has its origin. */
function ask({ method, url, headers }) {
  // A connection of its own, because a WebSocket must be the first request on its connection.
  const request = { method, path: url.slice("/relay".length), headers: { ...headers }, agent: false };
  if (key) request.headers.authorization = `Bearer ${key}`;
  return (relay.protocol === "https:" ? https : http).request(relay, request);
}

const server = http.createServer(async (request, response) => {
  if (!request.url.startsWith("/relay/")) {
    const page = new URL("index.html", import.meta.url);
    return response.setHeader("Content-Type", "text/html; charset=utf-8").end(await readFile(page));
  }
  const asked = ask(request);
  asked.on("response", (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  asked.on("error", () => response.destroy());
  // A viewer that leaves must leave the relay, too.
  response.on("close", () => asked.destroy());
  request.pipe(asked);
});

/** Writes the head of an answer that `http` leaves to its caller. */
const head = ({ statusCode, statusMessage, rawHeaders }) => {
  const fields = rawHeaders.map((text, place) => (place % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${fields.join("")}\r\n`;
};

// WebSockets
server.on("upgrade", (request, viewer, early) => {
  const asked = ask(request);
  asked.on("upgrade", (answer, socket, first) => {
    viewer.write(head(answer));
    viewer.write(first);
    socket.write(early);
    socket.pipe(viewer).pipe(socket);
    socket.on("error", () => viewer.destroy());
    socket.on("close", () => viewer.destroy());
    viewer.on("close", () => socket.destroy());
  });
  asked.on("response", (answer) => {
    viewer.write(head(answer));
    answer.pipe(viewer);
  });
  asked.on("error", () => viewer.destroy());
  viewer.on("error", () => asked.destroy());
  asked.end();
});

server.listen(Number(process.env.PORT ?? 8500), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}/`);
});
