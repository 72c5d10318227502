"""Relays that are killed while they record: every file plays, and at most a second is lost."""

import random
import time

from scene import eventually, percentile
from studio import MOVING, STATIC, Studio, check_file, parsed, require

#: What may be lost at the end of a file, in s.
MOST_LOST = 1.0


def prove_kills(programs, count, seed=1):
    """Kills the relay ``count`` times while it records two moving sessions and a static one."""
    choice = random.Random(seed)
    lost, checked = [], set()
    with Studio(programs, size=(640, 360)) as studio:
        sessions = [studio.record(STATIC), studio.record(MOVING, fps=30), studio.record(MOVING, fps=10)]
        for _ in range(count):
            for session in sessions:
                studio.wait_until_written(session)
            time.sleep(choice.uniform(0.5, 2.5))
            killed = studio.kill_relay()
            studio.restart_relay()
            items = [item for item in studio.items() if item["id"] not in checked]
            ended = [item for item in items if item["state"] != "recording"]
            require(len(ended) == len(sessions), f"{len(ended)} files of {len(sessions)} sessions: {ended}")
            paths = studio.paths()
            for item in ended:
                checked.add(item["id"])
                require(item["state"] == "complete", f"item {item['id']} is {item['state']}")
                check_file(paths[item["id"]], item)
                lost.append(killed - parsed(item["start"]) - item["seconds"])
            # A file that begins just now is on the disk a moment before it is in the catalogue.
            eventually("an agreement of catalogue and disk", lambda: set(studio.paths().values()) == studio.files())
    print(
        f"kills: {count} of the relay, {len(checked)} files play, lost at the end: p50 {percentile(lost, 0.5):.2f} s, "
        f"most {max(lost):.2f} s, goal {MOST_LOST:g}"
    )
    require(max(lost) <= MOST_LOST, f"{max(lost):.2f} s are lost")
