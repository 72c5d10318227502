#!/usr/bin/python3
"""Long proofs of sound. Scripts/verify-sound runs them."""

import argparse
import sys
import traceback

from cost import prove_cost, prove_rest
from latency import prove_latency
from scene import Failure
from sine import prove_kills, prove_sine
from skew import prove_skew

PROOFS = ["sine", "kills", "skew", "latency", "cost", "rest"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("proofs", nargs="*", metavar="PROOF", help=f"{', '.join(PROOFS)}; default: all")
    parser.add_argument("--programs", required=True, help="the folder of the built programs")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long a sine or a skew is measured; default: 10")
    parser.add_argument("--count", type=int, default=20, help="how many agents are killed; default: 20")
    parser.add_argument("--devices", type=int, default=64, help="how many devices rest; default: 64")
    options = parser.parse_args()
    unknown = [name for name in options.proofs if name not in PROOFS]
    if unknown:
        parser.error(f"unknown proof '{unknown[0]}'; allowed: {', '.join(PROOFS)}")
    runs = {
        "sine": [lambda: prove_sine(options.programs, options.minutes)],
        "kills": [lambda: prove_kills(options.programs, options.count)],
        "skew": [lambda kind=kind: prove_skew(kind, options.programs, options.minutes) for kind in ("sway", "mutter")],
        "latency": [lambda: prove_latency(options.programs)],
        "cost": [lambda: prove_cost(options.programs)],
        "rest": [lambda: prove_rest(options.programs, options.devices)],
    }
    failures = 0
    for name in options.proofs or PROOFS:
        for run in runs[name]:
            try:
                run()
            except Failure as failure:
                print(f"FAILED: {name}: {failure}")
                failures += 1
            except Exception:
                print(f"FAILED: {name}:")
                traceback.print_exc(file=sys.stdout)
                failures += 1
            sys.stdout.flush()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
