#!/usr/bin/python3
"""Long proofs of the client. Scripts/verify-client runs them."""

import argparse
import sys

from adapt import prove_adapt
from loop import prove_loop
from proving import choose, run_all
from speed import prove_speed
from view import prove_view

#: A way that takes 25 ms in each direction and loses 1 of 1000 packets.
FAR = (25, 1)
PROOFS = ["loop", "speed", "adapt-cubic", "adapt-bbr", "adapt-far-cubic", "adapt-far-bbr", "view-xvfb", "view-sway"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("proofs", nargs="*", metavar="PROOF", help=f"{', '.join(PROOFS)}; default: all")
    parser.add_argument("--programs", required=True, help="the folder of the built programs")
    parser.add_argument("--count", type=int, default=5, help="how often each rate and player is measured; default: 5")
    options = parser.parse_args()
    runs = {
        "loop": lambda: prove_loop(options.programs, options.count),
        "speed": lambda: prove_speed(options.programs, options.count),
        "adapt-cubic": lambda: prove_adapt(options.programs, "cubic"),
        "adapt-bbr": lambda: prove_adapt(options.programs, "bbr"),
        "adapt-far-cubic": lambda: prove_adapt(options.programs, "cubic", *FAR),
        "adapt-far-bbr": lambda: prove_adapt(options.programs, "bbr", *FAR),
        "view-xvfb": lambda: prove_view("xvfb", options.programs, options.count),
        "view-sway": lambda: prove_view("sway", options.programs, options.count),
    }
    return run_all([(name, runs[name]) for name in choose(parser, options.proofs, PROOFS)])


if __name__ == "__main__":
    sys.exit(main())
