import assert from "node:assert/strict";
import { test } from "node:test";

import { cueAt, parseStoryboard, Relay } from "../heliograph.js";

const folder = "http://127.0.0.1:8420/prefix/v1/library/7";
const address = `${folder}/storyboard.vtt`;

/** A storyboard with a cue for each `[times, text]`. */
const text = (...cues) => `WEBVTT\n${cues.map(([times, place]) => `\n${times}\n${place}\n`).join("")}`;
const read = (...cues) => parseStoryboard(text(...cues), address);
const times = "00:00:00.000 --> 00:00:10.000";

/** A relay that notes the calls, and answers with a text. */
function answering(answer) {
  const relay = new Relay("http://127.0.0.1:8420/prefix/");
  const calls = [];
  relay.request = async (...call) => (calls.push(call), new Response(answer));
  return Object.assign(relay, { calls });
}

test("a storyboard says when which part of which sheet shows the item", () => {
  const cues = read([times, "storyboard/0#xywh=0,0,320,180"], ["01:02:03.004 --> 01:02:04.500", "storyboard/11#xywh=8,192,320,176"]);
  assert.deepEqual(cues, [
    { start: 0, end: 10, sheet: `${folder}/storyboard/0`, x: 0, y: 0, width: 320, height: 180 },
    { start: 3723.004, end: 3724.5, sheet: `${folder}/storyboard/11`, x: 8, y: 192, width: 320, height: 176 },
  ]);
});

test("a storyboard may have all that WebVTT allows", () => {
  const lines = [
    "\uFEFFWEBVTT - pictures", "", "NOTE", "of a screen", "", "first", "00:01.000 --> 00:02.000 align:start", "s/a.jpg#xywh=pixel:1,2,3,4", "",
    "100:00:00.000\t-->\t100:00:01.000", "b-2.jpg#xywh=0,0,1,1",
  ];
  for (const end of ["\n", "\r\n", "\r"]) {
    const cues = parseStoryboard(lines.join(end), address);
    assert.deepEqual(cues.map(({ start, sheet, x }) => [start, sheet, x]), [[1, `${folder}/s/a.jpg`, 1], [360_000, `${folder}/b-2.jpg`, 0]]);
  }
});

test("nothing outside the item's own address is a sheet", () => {
  const others = [
    "http://example.org/0", "//example.org/0", "/v1/auth", "../8/storyboard/0", "storyboard/../../8/thumbnail.jpg", "./0", "storyboard/./0",
    "storyboard/%2e%2e/%2e%2e/8/0", "storyboard\\..\\0", "data:image/png,0", "javascript:0", "storyboard/0?key=1", "storyboard//0", "", " ", "a b",
  ];
  for (const other of others) assert.deepEqual(read([times, `${other}#xywh=0,0,320,180`]), [], other);
  assert.equal(read([times, "storyboard/0#xywh=0,0,320,180"]).length, 1);
});

test("cues without a rectangle or a time in order are left out", () => {
  const places = ["storyboard/0", "storyboard/0#xywh=0,0,0,180", "storyboard/0#xywh=0,0,320,0", "storyboard/0#xywh=-1,0,320,180",
    "storyboard/0#xywh=percent:0,0,10,10", "storyboard/0#xywh=0,65500,320,180", "storyboard/0#xywh=0,0,320", "storyboard/0#xywh=0,0,320,180,5", "storyboard/0#xywh=1e3,0,1,1"];
  for (const place of places) assert.deepEqual(read([times, place]), [], place);
  const place = "storyboard/0#xywh=0,0,320,180";
  for (const wrong of ["00:00:10.000 --> 00:00:10.000", "00:00:10.000 --> 00:00:09.000", "0:0:1 --> 0:0:2", "00:61:00.000 --> 00:62:00.000", "x --> y"]) {
    assert.deepEqual(read([wrong, place]), [], wrong);
  }
  const starts = read(["00:05.000 --> 00:06.000", place], ["00:04.000 --> 00:09.000", place], ["00:06.000 --> 00:07.000", place]).map(({ start }) => start);
  assert.deepEqual(starts, [5, 6]);
  for (const other of ["", "WEBVT", "WEBVTTX\n", "<!doctype html>", "WEBVTT", `\n${text([times, place])}`, text([times, ""]), `WEBVTT\n\n${times}`]) {
    assert.deepEqual(parseStoryboard(other, address), [], other);
  }
});

test("at most 10,000 cues are read, and quickly", () => {
  const clock = (second) => `${String(Math.floor(second / 3600)).padStart(2, "0")}:${new Date((second % 3600) * 1000).toISOString().slice(14, 23)}`;
  const cues = Array.from({ length: 10_100 }, (_, place) => [`${clock(place)} --> ${clock(place + 1)}`, `storyboard/${place}#xywh=0,0,320,180`]);
  const began = performance.now();
  const read = parseStoryboard(text(...cues), address);
  assert.deepEqual([read.length, read.at(-1).start], [10_000, 9999]);
  // A line that looks like a cue's times for long.
  assert.deepEqual(parseStoryboard(`WEBVTT\n${"0".repeat(1e6)}\n${" ".repeat(1e6)}\n00:00.000 ${"-".repeat(1e6)}\n00:00.000 --> 00:01.000\n${"a/".repeat(5e5)}`, address), []);
  assert.ok(performance.now() - began < 2000);
});

test("the cue of a time is the last one that has begun by then", () => {
  const cues = [1, 2.5, 2.5, 7].map((start, number) => ({ start, number }));
  assert.deepEqual([-1, 0, 1, 2.4, 2.5, 6.9, 7, 1e9].map((time) => cueAt(cues, time).number), [0, 0, 0, 0, 2, 2, 3, 3]);
  assert.equal(cueAt([], 0), undefined);
});

test("an item's pictures have addresses, and its storyboard is read", async () => {
  const relay = answering(text([times, "storyboard/0#xywh=0,0,320,180"]));
  const item = relay.library.item(7);
  assert.equal(item.thumbnailAddress, `${folder}/thumbnail.jpg`);
  assert.equal(item.storyboardAddress, address);
  const { signal } = new AbortController();
  assert.deepEqual((await item.storyboard({ signal })).map(({ sheet }) => sheet), [`${folder}/storyboard/0`]);
  assert.deepEqual(relay.calls, [["GET", "v1/library/7/storyboard.vtt", { signal }]]);
});
