"""HLS of recordings and of running sessions: players play it without a message, and a loader measures its delay."""

import http.client
import re
import time
from datetime import datetime
from urllib.parse import urljoin

from chromium import Chromium
from playing import in_chromium, in_ffmpeg, in_gstreamer, in_vlc
from scene import Failure, percentile
from studio import MOVING, STATIC, Studio, require

#: The most delay of live pictures, in s: from their capture until they can be decoded.
MOST_MEDIAN, MOST_P99 = 0.85, 1.1
FPS = 30
#: What ffmpeg says of another size's initialization segment, which it does not need.
DUPLICATE = "Found duplicated MOOV Atom"
#: How long each size is recorded before the live stream is measured, in s.
TIME_OF_SIZE = 20.0


def prove_hls(programs, minutes):
    with Studio(programs, sound=True) as studio:
        moving = studio.record(MOVING, fps=FPS)
        sessions = [moving, studio.record(STATIC)]
        for session in sessions:
            studio.wait_until_written(session)
        time.sleep(TIME_OF_SIZE)
        # Another size is another file of the recording.
        studio.answer("PATCH", f"/v1/sessions/{moving}", {"width": 640, "height": 360})
        time.sleep(TIME_OF_SIZE)
        delays = Loader(studio.ports["http"], f"/v1/sessions/{moving}/live.m3u8").run(minutes * 60)
        print(
            f"hls: live for {minutes:g} min: {len(delays)} parts, from capture until decodable: p50 "
            f"{percentile(delays, 0.5):.3f} s, goal {MOST_MEDIAN:g}, p99 {percentile(delays, 0.99):.3f}, goal {MOST_P99:g}",
            flush=True,
        )
        for session in sessions:
            studio.answer("POST", f"/v1/sessions/{session}/record/stop")
        failed = play_all(studio)
        for failure in failed:
            print(f"hls: {failure}")
        require(not failed, f"{len(failed)} shortcomings, see above")
        require(percentile(delays, 0.5) <= MOST_MEDIAN, "live pictures come too late at p50")
        require(percentile(delays, 0.99) <= MOST_P99, "live pictures come too late at p99")


def play_all(studio):
    """Plays the recording of each device in all players. Returns what fails."""
    failed, base = [], f"http://127.0.0.1:{studio.ports['http']}"
    with Chromium() as browser:
        browser.open(f"{base}/livez")
        for device in (MOVING, STATIC):
            items = [item for item in studio.items() if item["device"] == device]
            folder = f"{base}/v1/library/{items[0]['id']}/hls"
            address = f"{folder}/index.m3u8"
            seconds = sum(item["seconds"] for item in items)
            plays = [
                lambda: in_ffmpeg(address, DUPLICATE),
                lambda: in_gstreamer(address),
                lambda: check_duration(in_chromium(browser, address, seconds), seconds),
                lambda: in_ffmpeg(f"{folder}/opus/index.m3u8"),
                lambda: in_ffmpeg(f"{folder}/aac/index.m3u8"),
            ]
            # VLC 3 loses the initialization segment of another size.
            if len({(item["width"], item["height"]) for item in items}) == 1:
                # On a static screen its threads would each hold a picture back for seconds.
                plays.append(lambda: in_vlc(address, seconds, rate=1, options=["--avcodec-threads=1"]))
            for play in plays:
                try:
                    play()
                except Failure as failure:
                    failed.append(f"{device}: {failure}")
    return failed


def check_duration(played, seconds):
    """A recording of several files may have pauses between them, which Chromium leaves out or not."""
    require(abs(played - seconds) < 1, f"the files last {seconds:.3f} s, in Chromium {played:.3f}")


class Loader:
    """A client of low-latency HLS: it waits for each part, loads it, and notes how old its first picture is."""

    PART = re.compile(r"#EXT-X-PART:DURATION=([0-9.]+),URI=\"([^\"]+)\"")
    DATE = re.compile(r"#EXT-X-PROGRAM-DATE-TIME:(\S+)")

    def __init__(self, port, path):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self._path = path
        self._known = set()
        self._delays = []

    def run(self, seconds):
        """Plays for this long. Returns the delays of all parts in s."""
        query, end = "", time.monotonic() + seconds
        while time.monotonic() < end:
            query = self._load(self._get(self._path + query).decode())
        return self._delays

    def _load(self, text):
        """Loads the new parts of a playlist. Returns the query for the next one."""
        segment, parts, is_first = int(re.search(r"#EXT-X-MEDIA-SEQUENCE:(\d+)", text)[1]), 0, not self._known
        for line in text.splitlines():
            if date := self.DATE.match(line):
                begin = datetime.fromisoformat(date[1].replace("Z", "+00:00")).timestamp()
            elif part := self.PART.match(line):
                parts += 1
                if part[2] not in self._known:
                    self._known.add(part[2])
                    require(self._get(urljoin(self._path, part[2])), f"{part[2]} is empty")
                    # Those of the first playlist are older.
                    self._delays += [] if is_first else [time.time() - begin]
                begin += float(part[1])
            elif line.startswith("#EXTINF"):
                segment, parts = segment + 1, 0
        return f"?_HLS_msn={segment}&_HLS_part={parts}"

    def _get(self, path):
        self._connection.request("GET", path)
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise Failure(f"GET {path}: {answer.status} {body[:200]}")
        return body
