#!/usr/bin/python3
"""Long proofs of recordings. Scripts/verify-recording runs them."""

import argparse
import sys

from disks import prove_disks
from hls import prove_hls
from hour import prove_hour
from kills import prove_kills
from load import prove_load
from players import prove_players
from proxy import prove_proxy
from proving import choose, run_all

PROOFS = ["kills", "disks", "players", "hls", "proxy", "load", "hour"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("proofs", nargs="*", metavar="PROOF", help=f"{', '.join(PROOFS)}; default: all")
    parser.add_argument("--programs", required=True, help="the folder of the built programs")
    parser.add_argument("--count", type=int, default=200, help="how often the relay is killed; default: 200")
    parser.add_argument("--faults", type=int, default=20, help="how often a disk fails; default: 20")
    parser.add_argument("--minutes", type=float, help="how long hour, players and hls take; default: 60, 10 and 30")
    options = parser.parse_args()
    runs = {
        "kills": lambda: prove_kills(options.programs, options.count),
        "disks": lambda: prove_disks(options.programs, options.faults),
        "players": lambda: prove_players(options.programs, options.minutes or 10),
        "hls": lambda: prove_hls(options.programs, options.minutes or 30),
        "proxy": lambda: prove_proxy(options.programs),
        "load": lambda: prove_load(options.programs),
        "hour": lambda: prove_hour(options.programs, options.minutes or 60),
    }
    return run_all([(name, runs[name]) for name in choose(parser, options.proofs, PROOFS)])


if __name__ == "__main__":
    sys.exit(main())
