"""What recording 20 static and 4 moving sessions of 1280x720 costs: the delay of live pictures, and processor time."""

import subprocess
import time

from scene import eventually, percentile
from studio import MOVING, STATIC, Studio, require

#: The most delay at p99 with recordings: as a ratio to that without, or this much more in ms.
MOST_RATIO, MOST_MORE = 1.1, 0.2
#: The most processor time of the recorders, of the encoders' time.
MOST_SHARE = 0.03
STATIC_SESSIONS, MOVING_SESSIONS = 20, 4


def prove_load(programs, rounds=6, seconds=12.0):
    with Studio(programs) as studio:
        moving = [studio.record(MOVING, fps=30) for _ in range(MOVING_SESSIONS)]
        sessions = moving + [studio.record(STATIC) for _ in range(STATIC_SESSIONS)]
        address = f"http://127.0.0.1:{studio.ports['http']}/v1/sessions"
        words = ["curl", "--no-progress-meter", "--output", "/dev/null"]
        viewers = [subprocess.Popen(words + [f"{address}/{session}/stream.h264"]) for session in moving]
        try:
            delays, shares = {True: [], False: []}, []
            relay = studio.ports["pid"]
            for _ in range(rounds):
                spent = {}
                for records in (True, False):
                    for session in sessions:
                        studio.answer("PATCH", f"/v1/sessions/{session}", {"record": records})
                    # The figures are those of the last 10 s.
                    time.sleep(2)
                    before = processor_time(relay), encoding_time(studio)
                    time.sleep(seconds)
                    after = processor_time(relay), encoding_time(studio)
                    spent[records] = [last - first for first, last in zip(before, after)]
                    for session in moving:
                        delays[records].append(studio.answer("GET", f"/v1/sessions/{session}")["latency"]["handover"]["p99Ms"])
                shares.append((spent[True][0] - spent[False][0]) / spent[True][1])
        finally:
            for viewer in viewers:
                viewer.kill()
                viewer.wait()
    recorded, bare = (percentile(delays[records], 0.5) for records in (True, False))
    share = percentile(shares, 0.5)
    print(
        f"load: {rounds} rounds: live p99 {recorded:.3f} ms while {STATIC_SESSIONS + MOVING_SESSIONS} sessions are recorded, "
        f"{bare:.3f} without, ratio {recorded / bare:.2f}; the recorders' processor time {share:.2%} of the agents'"
    )
    require(recorded <= max(bare * MOST_RATIO, bare + MOST_MORE), "recordings delay live pictures")
    require(share <= MOST_SHARE, f"recorders take {share:.2%} of the encoders' time")


def processor_time(pid):
    """Seconds of processor time that a process has used."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def encoding_time(studio):
    """The processor time of the agents."""
    pids = [
        eventually("an agent", lambda device=device: studio.answer("GET", f"/v1/devices/{device}/broadcast")["agent"])["pid"]
        for device in (STATIC, MOVING)
    ]
    return sum(map(processor_time, pids))
