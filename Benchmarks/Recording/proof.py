#!/usr/bin/python3
"""Long proofs of recordings. Scripts/verify-recording runs them."""

import argparse
import sys

from hour import prove_hour
from kills import prove_kills
from load import prove_load
from proving import choose, run_all

PROOFS = ["kills", "load", "hour"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("proofs", nargs="*", metavar="PROOF", help=f"{', '.join(PROOFS)}; default: all")
    parser.add_argument("--programs", required=True, help="the folder of the built programs")
    parser.add_argument("--count", type=int, default=200, help="how often the relay is killed; default: 200")
    parser.add_argument("--minutes", type=float, default=60.0, help="how long an hour is; default: 60")
    options = parser.parse_args()
    runs = {
        "kills": lambda: prove_kills(options.programs, options.count),
        "load": lambda: prove_load(options.programs),
        "hour": lambda: prove_hour(options.programs, options.minutes),
    }
    return run_all([(name, runs[name]) for name in choose(parser, options.proofs, PROOFS)])


if __name__ == "__main__":
    sys.exit(main())
