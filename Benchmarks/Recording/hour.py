"""An hour of a static and of a moving screen: how large the files are, and how long they take to complete."""

import time

from studio import MOVING, STATIC, Studio, decodes, probe, require

#: The most bytes of a static hour, and the longest completion of a file, in s.
MOST_BYTES, LONGEST = 1_000_000, 0.1


def prove_hour(programs, minutes):
    with Studio(programs, rate=60) as studio:
        sessions = {"static": studio.record(STATIC), "moving": studio.record(MOVING, fps=60)}
        for session in sessions.values():
            studio.wait_until_written(session)
        started = time.monotonic()
        time.sleep(minutes * 60)
        for name, session in sessions.items():
            figures = studio.recording(session)
            before = time.monotonic()
            studio.answer("POST", f"/v1/sessions/{session}/record/stop")
            took = time.monotonic() - before
            item = studio.answer("GET", f"/v1/library/{figures['item']}")
            path = studio.paths()[item["id"]]
            lasted = time.monotonic() - started
            duration, times = probe(path)
            print(
                f"hour: {name}: {item['seconds']:.3f} s (recorded for {lasted:.1f}), {len(times)} pictures, {item['bytes']} "
                f"bytes, completed in {took * 1000:.0f} ms"
            )
            require(abs(duration - item["seconds"]) < 0.001, f"the file lasts {duration}")
            require(not decodes(path), f"{path}: {decodes(path)}")
            require(took <= LONGEST, f"completing the {name} file took {took * 1000:.0f} ms")
            if name == "static":
                require(item["bytes"] <= MOST_BYTES * minutes / 60 + 200_000, f"a static hour has {item['bytes']} bytes")
