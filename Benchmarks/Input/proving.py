"""How proofs are run, one after the other."""

import sys
import traceback

from scene import Failure


def choose(parser, given, known):
    """The proofs that the command line names; all if it names none."""
    unknown = [name for name in given if name not in known]
    if unknown:
        parser.error(f"unknown proof '{unknown[0]}'; allowed: {', '.join(known)}")
    return given or list(known)


def run_all(runs):
    """Runs pairs of a name and a function, and prints what fails. Returns the program's status."""
    failures = 0
    for name, run in runs:
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
