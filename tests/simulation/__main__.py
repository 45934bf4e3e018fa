"""`python -m tests.simulation --seeds N [--start K]`, or `--seed X -v` to see one world's events."""

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from tests.simulation.explore import explore, outcome_of


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=2000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("-v", "--verbose", action="store_true")
    arguments = parser.parse_args()
    if arguments.seed is not None:
        outcome = outcome_of(arguments.seed)
        if arguments.verbose or outcome.failure:
            print("\n".join(outcome.trace))
        print(f"seed {outcome.seed}: {outcome.failure or 'ok'} (trace {outcome.digest[:16]})")
        return outcome.failure is not None
    began_s = time.monotonic()
    with ProcessPoolExecutor(arguments.processes) as pool:
        failures = explore(pool, range(arguments.start, arguments.start + arguments.seeds))
    for failure in failures[:20]:
        print(f"seed {failure.seed}: {failure.failure}")
    if failures:
        print("\n".join(failures[0].trace))
        print(f"seed {failures[0].seed}: {failures[0].failure}")
        print(f"replay: python -m tests.simulation --seed {failures[0].seed} -v")
    elapsed_s = time.monotonic() - began_s
    print(f"{arguments.seeds} seeds, {len(failures)} failed, {elapsed_s:.0f} s, {arguments.seeds / elapsed_s:.0f}/s")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
