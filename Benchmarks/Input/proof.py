#!/usr/bin/python3
"""Long proofs of input. Scripts/verify-input runs them."""

import argparse
import functools
import sys

import clicks
import deaths
import hostile
import photon
import text
from proving import choose, run_all

KINDS = ["sway", "mutter", "xvfb"]
PROOFS = {"clicks": clicks.prove, "text": text.prove, "photon": photon.prove, "deaths": deaths.prove, "hostile": hostile.prove}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("proofs", nargs="*", metavar="PROOF", help=f"{', '.join(PROOFS)}; default: all")
    parser.add_argument("--desktop", choices=KINDS, action="append", help="default: all three")
    parser.add_argument("--programs", required=True, help="the folder of the built programs")
    parser.add_argument("--count", type=int, help="clicks, characters, samples or deaths of each desktop")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long each desktop is attacked; default: 10")
    parser.add_argument("--seed", type=int, default=1, help="what random choices begin with")
    options = parser.parse_args()
    runs = []
    for name in choose(parser, options.proofs, PROOFS):
        arguments = {"seed": options.seed}
        if name == "hostile":
            arguments["minutes"] = options.minutes
        elif options.count:
            arguments["count"] = options.count
        for kind in options.desktop or KINDS:
            runs.append((f"{name}, {kind}", functools.partial(PROOFS[name], kind, options.programs, **arguments)))
    return run_all(runs)


if __name__ == "__main__":
    sys.exit(main())
