"""A recording that much has happened to: it plays and seeks in all players, and tells its duration and its gaps."""

import json
import random
import subprocess

from chromium import Chromium
from disk import Disk
from playing import chromium_seeks, ffmpeg_seek, in_chromium, in_ffmpeg, in_gstreamer, in_vlc
from scene import Failure
from studio import parsed, require
from take import Take, Theatre

FPS = 60
PICTURE = 1 / FPS
#: How long a packet of sound lasts, in s: the last one may end after the last picture.
PACKET = 0.02
#: The longest time between keyframes, in s: the setting, and a picture that comes late.
KEYFRAME_INTERVAL = 2.0 + 2 * PICTURE
SEEKS = 20
#: The longest time without a picture that is not a gap of the item, in s.
LONGEST_PAUSE = 0.5
#: How much later than the last picture before it a gap may begin, in s.
LATEST_GAP = 0.1


def prove_players(programs, minutes, seed=1):
    require(minutes >= 2, "the recording must have at least 2 minutes")
    choice, failed = random.Random(seed), []
    with Disk(megabytes=2048) as disk:
        with Theatre(programs, size=(640, 360), rate=FPS, library=disk.library) as studio:
            take = Take(studio, disk, FPS)
            take.run(minutes * 60)
            paths = studio.paths()
            pauses = ", ".join(f"{pause * 1000:.0f} ms" for pause in take.pauses)
            print(f"players: a viewer's longest pauses while the disk stalled: {pauses}", flush=True)
            items = [Played(studio, item, paths[item["id"]], choice) for item in studio.items()]
            # Another size and another start of the relay begin another one.
            require(len(items) >= 3, f"{len(items)} items")
            with Chromium() as browser:
                browser.open(f"http://127.0.0.1:{studio.ports['http']}/livez")
                for item in items:
                    failed += item.check(browser)
            failed += check_losses(take.losses, items)
    for failure in failed:
        print(f"players: {failure}")
    require(not failed, f"{len(failed)} shortcomings, see above")


class Played:
    """An item, and the pictures in its file."""

    def __init__(self, studio, item, path, choice):
        self._path, self._choice = path, choice
        self._address = f"/v1/library/{item['id']}/file"
        self._item = studio.answer("GET", f"/v1/library/{item['id']}")
        self._name = f"item {item['number']}"
        self.start = parsed(item["start"])
        self.gaps = self._item["gaps"]
        self._duration, self._times, self._keyframes = pictures(path)

    def check(self, browser):
        """Runs all checks and prints the figures. Returns what fails."""
        failed, figures = [], {}
        seconds, count = self._item["seconds"], len(self._times)
        for look in (
            lambda: in_ffmpeg(self._path),
            lambda: in_vlc(self._path, seconds),
            lambda: in_gstreamer(f"file://{self._path}", count),
            lambda: figures.update(played=in_chromium(browser, self._address, seconds, count)),
            self._check_duration,
            lambda: self._check_played(figures.get("played")),
            lambda: figures.update(ffmpeg=self._check_ffmpeg_seeks()),
            lambda: figures.update(chromium=self._check_chromium_seeks(browser)),
            self._check_gaps,
        ):
            try:
                look()
            except Failure as failure:
                failed.append(f"{self._name}: {failure}")
        gaps = ", ".join(f"{gap['reason']} at {gap['start']:.3f} for {gap['seconds']:.3f} s" for gap in self.gaps)
        print(
            f"players: {self._name}: {self._item['width']}x{self._item['height']}, {seconds:.3f} s (file "
            f"{self._duration:.3f}, pictures {self._pictured:.3f}, Chromium {figures.get('played', -1):.3f}), {count} "
            f"pictures; gaps: {gaps or 'none'}; {SEEKS} seeks: at most {figures.get('ffmpeg', -1):.3f} s early in "
            f"ffmpeg, {figures.get('chromium', -1):.3f} in Chromium; {len(failed)} shortcomings",
            flush=True,
        )
        return failed

    # Durations

    @property
    def _pictured(self):
        """How long the pictures last, in s."""
        return self._times[-1] - self._times[0] + PICTURE

    def _check_duration(self):
        seconds = self._item["seconds"]
        require(abs(self._duration - seconds) <= PICTURE, f"it lasts {seconds} s, its file {self._duration} s")
        require(abs(self._pictured - seconds) <= PICTURE, f"it lasts {seconds} s, its pictures {self._pictured:.3f} s")

    def _check_played(self, played):
        seconds = self._item["seconds"]
        is_right = played and abs(played - seconds) <= max(PICTURE, PACKET)
        require(is_right, f"it lasts {seconds} s, in Chromium {played} s")

    # Seeks

    def _random_times(self):
        """Times in the item. Neighbours are different pictures, because Chromium tells only of new ones."""
        times = [0.0]
        while len(times) <= SEEKS:
            time = self._choice.uniform(0, self._times[-1])
            if last(self._times, time) != last(self._times, times[-1]):
                times.append(time)
        return times[1:]

    def _check_ffmpeg_seeks(self):
        """Seeks land on the last keyframe. Returns how much too early they land at most, in s."""
        early = []
        for time in self._random_times():
            wanted, found = last(self._keyframes, time), ffmpeg_seek(self._path, time)
            require(abs(found - wanted) < 0.001, f"ffmpeg seeks to {time:.3f} and finds {found}, not {wanted}")
            distance = time - found - self._lost(found, time)
            require(distance <= KEYFRAME_INTERVAL, f"{time:.3f} s is {distance:.3f} s after the last keyframe")
            early.append(time - found)
        return max(early)

    def _check_chromium_seeks(self, browser):
        """Seeks show the picture of their time. Returns how much too early it is at most, in s."""
        times = self._random_times()
        found = chromium_seeks(browser, self._address, times)
        for time, shown in zip(times, found):
            wanted = last(self._times, time)
            require(abs(shown - wanted) < 0.001, f"Chromium seeks to {time:.3f} and shows {shown}, not {wanted}")
        return max(time - shown for time, shown in zip(times, found))

    def _lost(self, begin, end):
        """How much of a time is in gaps, in s."""
        return sum(max(0.0, min(end, gap["start"] + gap["seconds"]) - max(begin, gap["start"])) for gap in self.gaps)

    # Gaps

    def _check_gaps(self):
        """Gaps are where pictures are missing, and nowhere else."""
        faults = [fault for gap in self.gaps for fault in self._faults(gap)]
        told = [self._around(gap) for gap in self.gaps]
        faults += [
            f"there is no picture from {before:.3f} to {after:.3f} s, and no gap"
            for before, after in zip(self._times, self._times[1:])
            if after - before > LONGEST_PAUSE and (before, after) not in told
        ]
        require(not faults, "; ".join(faults))

    def _around(self, gap):
        """The times of the pictures around a gap."""
        return last(self._times, gap["start"]), first(self._times, gap["start"] + 1e-4)

    def _faults(self, gap):
        """What is wrong with a gap."""
        start, end = gap["start"], gap["start"] + gap["seconds"]
        before, after = self._around(gap)
        name = f"the gap {gap['reason']} from {start:.3f} to {end:.3f} s"
        if after - before <= 1.5 * PICTURE:
            yield f"{name} misses no picture: there are some at {before:.3f} and {after:.3f}"
        elif start - before > LATEST_GAP or abs(end - after) > 0.001:
            yield f"{name} should be from {before:.3f} to {after:.3f}"


def check_losses(losses, items):
    """Compares the gaps with what was done. Returns what fails."""
    found = [
        (gap["reason"], item.start + gap["start"], item.start + gap["start"] + gap["seconds"])
        for item in items
        for gap in item.gaps
    ]
    failed = []
    for reason, begin, end in found:
        # Times in the catalogue are from another clock, which a pause of the machine delays.
        if not any(word == reason and start - 0.5 <= begin and end <= stop + 0.5 for word, start, stop, _ in losses):
            failed.append(f"a gap {reason} that nothing has caused")
    for word, start, stop, is_sure in losses:
        if is_sure and not any(reason == word and begin < stop and end > start for reason, begin, end in found):
            failed.append(f"no gap {word} is told")
    return failed


def pictures(path):
    """The duration of a movie in s, and the times of its pictures and of its keyframes in s."""
    words = ["ffprobe", "-v", "error", "-of", "json", "-show_entries", "format=duration:packet=pts_time,flags"]
    run = subprocess.run(
        words + ["-select_streams", "v", str(path)], check=True, stdout=subprocess.PIPE, text=True
    )
    found = json.loads(run.stdout)
    times = [(float(packet["pts_time"]), "K" in packet["flags"]) for packet in found["packets"]]
    return float(found["format"]["duration"]), [time for time, _ in times], [time for time, is_key in times if is_key]


def last(times, moment):
    """The last of the times that is not after a moment."""
    return max(time for time in times if time <= moment)


def first(times, moment):
    """The first of the times that is not before a moment."""
    return min((time for time in times if time >= moment), default=times[-1])
