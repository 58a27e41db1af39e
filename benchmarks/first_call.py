"""One contender of one case in this new process: import, first call, peak memory, as JSON.

python -m benchmarks.first_call linear "Ridge 200k×200" scikit-learn
"""

from __future__ import annotations

import argparse
import json
import time

from benchmarks.families import family_module
from benchmarks.memory import peak_of

SETTLES = 0.3
"""Seconds between making the data and the first call. Threads of NumPy's products go on looking for
work for some 0.1 s, and would keep a core from whoever is measured."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_call", description=__doc__)
    for name in ("family", "case", "contender"):
        parser.add_argument(name)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()

    cases = family_module(arguments.family).CASES
    case = next(case for case in cases if case.name == arguments.case)
    start = time.perf_counter()
    prepare = case.contenders[arguments.contender]()
    import_seconds = time.perf_counter() - start
    call = prepare(case.data(arguments.quick))
    time.sleep(SETTLES)

    def timed() -> float:
        start = time.perf_counter()
        call()
        return time.perf_counter() - start

    cold_seconds, peak_bytes = peak_of(timed)
    print(
        json.dumps(
            {
                "import_seconds": import_seconds,
                "cold_seconds": cold_seconds,
                "peak_bytes": peak_bytes,
            }
        )
    )


if __name__ == "__main__":
    main()
