#!/usr/bin/python3
"""Long proofs of sound. Scripts/verify-sound runs them."""

import argparse
import functools
import os
import sys

from cost import prove_cost, prove_rest
from drift import prove_drift
from latency import prove_latency
from proving import choose, run_all
from sine import prove_kills, prove_sine
from skew import prove_skew
from speech import prove_speech

PROOFS = ["sine", "kills", "skew", "drift", "latency", "speech", "cost", "rest"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("proofs", nargs="*", metavar="PROOF", help=f"{', '.join(PROOFS)}; default: all")
    parser.add_argument("--programs", required=True, help="the folder of the built programs")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long a sine or a skew is measured; default: 10. A drift: three times as long")
    parser.add_argument("--count", type=int, default=20, help="how many agents are killed; default: 20")
    parser.add_argument("--devices", type=int, default=64, help="how many devices rest; default: 64")
    options = parser.parse_args()
    programs = options.programs
    # Threads of sound run in real time, as on a desktop with rtkit.
    os.environ["HELIOGRAPH_DESKTOP_REALTIME"] = "1"
    runs = {
        "sine": [lambda: prove_sine(programs, options.minutes)],
        "kills": [lambda: prove_kills(programs, options.count)],
        "skew": [functools.partial(prove_skew, kind, programs, options.minutes) for kind in ("sway", "mutter")],
        "drift": [functools.partial(prove_drift, programs, ppm, 3 * options.minutes) for ppm in (200, -200)],
        "latency": [lambda: prove_latency(programs)],
        "speech": [lambda: prove_speech(programs)],
        "cost": [lambda: prove_cost(programs)],
        "rest": [lambda: prove_rest(programs, options.devices)],
    }
    return run_all([(name, run) for name in choose(parser, options.proofs, PROOFS) for run in runs[name]])


if __name__ == "__main__":
    sys.exit(main())
