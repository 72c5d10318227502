"""Relays that are killed while their library's disk is full or read-only: live goes on, and no recording is lost."""

import random
import time

from disk import Disk
from scene import Failure, eventually, percentile
from studio import MOVING, STATIC, Studio, check_file, parsed, require
from watching import Viewer

#: What may be lost of what was recorded before the disk failed, in s.
MOST_LOST = 1.0
#: The longest time in which a viewer may see no picture while the disk fails, in s.
LONGEST_PAUSE = 1.0
#: How long a relay may take to record again when the disk is well, in s, before it is started again.
PATIENCE = 30.0
FULL, READ_ONLY = "disk_full", "disk_error"


def prove_disks(programs, count, seed=1):
    """Kills the relay ``count`` times, in turn on a full and a read-only ext4. Then a few relays outlive a full disk."""
    choice, report = random.Random(seed), Report()
    few = [FULL] * max(1, count // 10)
    for kind, least_free, faults, is_killed in (
        ("ext4", 0, [FULL, READ_ONLY] * (count // 2), True),
        ("ext4", 0, few[:], False),
        ("tmpfs", 64, few[:], False),
    ):
        while faults:
            with Disk(kind) as disk:
                flags = ["--library-free", str(least_free)]
                with Studio(programs, size=(640, 360), library=disk.library, arguments=flags) as studio:
                    rounds = Rounds(disk, studio, choice, report)
                    # A relay that does not recover is left alone, and the next one has another disk.
                    while faults and rounds.run(faults.pop(0), is_killed):
                        pass
    report.conclude()


class Report:
    """What the rounds measure, and what the relay should do and does not."""

    def __init__(self):
        self.rounds = self.kills = self.files = self.restarts = 0
        self.lost, self.pauses, self.shortcomings = [], [], []

    def add(self, shortcoming):
        print(f"disks: {shortcoming}", flush=True)
        self.shortcomings.append(shortcoming)

    def conclude(self):
        print(
            f"disks: {self.rounds} faults, {self.kills} kills, {self.files} files, lost before a fault: p50 "
            f"{percentile(self.lost, 0.5):.2f} s, most {max(self.lost):.2f} s, goal {MOST_LOST:g}; a viewer's longest "
            f"pause {max(self.pauses):.2f} s, goal {LONGEST_PAUSE:g}; {self.restarts} times the relay needed another "
            f"start; {len(self.shortcomings)} shortcomings"
        )
        require(not self.shortcomings, f"{len(self.shortcomings)} shortcomings, see above")


class Rounds:
    """What is repeated: a fault of the disk, a killed relay, the fault's end and a look at all files."""

    def __init__(self, disk, studio, choice, report):
        self._disk, self._studio, self._choice, self._report = disk, studio, choice, report
        self._moving = studio.record(MOVING, fps=30)
        self._sessions = [studio.record(STATIC), self._moving, studio.record(MOVING, fps=10)]
        self._checked = set()
        self._place = ""

    def run(self, fault, is_killed):
        """Runs a round, in which the relay is killed or not. Returns whether it has recovered."""
        self._report.rounds += 1
        self._place = f"round {self._report.rounds}, {self._disk.kind}, {fault}"
        for session in self._sessions:
            self._studio.wait_until_written(session)
        self._pause(0.5, 2.5)
        began = time.time()
        with Viewer(self._studio, self._moving) as viewer:
            viewer.wait_for(1)
            self._fail(fault, viewer)
            if is_killed:
                self._report.kills += 1
                self._studio.kill_relay()
        if is_killed:
            self._studio.restart_relay()
            self._attempt(self._look_at_relay)
        # Until it is tried again.
        self._pause(0.5, 6.0)
        self._end(fault)
        has_recovered = self._recover(is_killed)
        self._check(began)
        return has_recovered

    def _fail(self, fault, viewer):
        """Lets the disk fail while a viewer watches."""
        begin = time.monotonic()
        self._begin(fault)
        self._attempt(lambda: self._wait_for_word(fault))
        self._pause(1.0, 3.0)
        pause = viewer.longest_pause(begin, time.monotonic())
        self._report.pauses.append(pause)
        self._note(pause <= LONGEST_PAUSE, f"a viewer sees no picture for {pause:.2f} s")

    def _pause(self, least, most):
        time.sleep(self._choice.uniform(least, most))

    def _note(self, condition, shortcoming):
        if not condition:
            self._report.add(f"{self._place}: {shortcoming}")

    def _attempt(self, look):
        try:
            look()
        except Failure as failure:
            self._note(False, str(failure))

    # The fault

    def _begin(self, fault):
        if fault == FULL:
            # The library opens with 1 MiB: some relays start with it, and some without it.
            self._disk.fill(leaving=self._choice.randrange(100, 2500) << 10)
        else:
            self._disk.break_down()

    def _end(self, fault):
        if fault == FULL:
            self._disk.make_room()
        else:
            self._disk.repair()

    def _wait_for_word(self, fault):
        """Waits until the recordings say what is wrong. A static one needs no space, so a full disk does not end it."""
        static, *moving = self._sessions
        seen = {session: [] for session in (moving if fault == FULL else self._sessions)}

        def have_said():
            for session, words in seen.items():
                words.append(self._studio.recording(session)["state"])
            return all(fault in words for words in seen.values())

        try:
            eventually("the word", have_said, limit=15.0, pause=0.02)
        except Failure:
            said = "; ".join(f"session {session}: {', '.join(dict.fromkeys(words))}" for session, words in seen.items())
            raise Failure(f"the recordings do not all say {fault}, but {said}") from None

    def _look_at_relay(self):
        """Checks that a relay that was started while the disk fails answers and has live pictures."""
        require(len(self._studio.answer("GET", "/v1/sessions")["sessions"]) == len(self._sessions), "sessions are lost")
        answer = self._studio.caller.call("GET", "/v1/library")
        is_clear = answer.code == "library_unavailable" and answer.body.get("detail")
        require(answer.status == 200 or is_clear, f"the library answers {answer}")
        with Viewer(self._studio, self._moving) as viewer:
            viewer.wait_for(30)

    # After it

    def _recover(self, may_restart):
        """Waits until the relay is well again, and starts it again if it does not become so. Returns whether it is."""
        if self._is_well():
            return True
        self._note(may_restart, f"the relay does not recover by itself: {'; '.join(self._faults())}")
        self._report.restarts += 1
        self._studio.end_relay()
        self._studio.caller.close()
        self._studio.restart_relay()
        if self._is_well():
            return True
        self._note(False, f"another start does not help: {'; '.join(self._faults())}")
        log = (self._studio.directory / "relay.log").read_text().splitlines()
        for line in [line for line in log if " error " in line or " warning " in line][-12:]:
            print(f"  {line}")
        return False

    def _is_well(self):
        try:
            return eventually("a recovery", lambda: not self._faults(), PATIENCE, 0.5)
        except Failure:
            return False

    def _faults(self):
        """What is wrong with recordings and catalogue at the moment."""
        recordings = {session: self._studio.recording(session) for session in self._sessions}
        faults = [
            f"session {session} is {recording['state']}: {recording['problem']}"
            for session, recording in recordings.items()
            if recording["state"] != "recording" or not recording["bytes"]
        ]
        answer = self._studio.caller.call("GET", "/v1/library")
        if answer.status != 200:
            return faults + [f"the library answers {answer}"]
        current = {recording["item"] for recording in recordings.values()}
        faults += [
            f"item {item['id']} is {item['state']}"
            for item in self._studio.items()
            if item["id"] not in current and item["state"] != "complete"
        ]
        paths, files = set(self._studio.paths().values()), self._studio.files()
        faults += [f"{path} is not in the catalogue" for path in files - paths]
        return faults + [f"{path} is not on the disk" for path in paths - files]

    def _check(self, began):
        """Plays the new files, compares them with their items, and measures what is lost."""
        items, paths = self._studio.items(), self._studio.paths()
        for session in self._sessions:
            own = [item for item in items if item["session"] == session and parsed(item["start"]) <= began]
            ends = [parsed(item["start"]) + item["seconds"] for item in own if item["state"] != "missing"]
            lost = max(0.0, began - max(ends, default=0.0))
            self._report.lost.append(lost)
            self._note(lost <= MOST_LOST, f"session {session} has lost {lost:.2f} s")
        for item in items:
            if item["id"] not in self._checked and item["state"] not in ("recording", "missing"):
                self._checked.add(item["id"])
                self._report.files += 1
                self._attempt(lambda item=item: check_file(paths[item["id"]], item))
