"""Commands that are refused, run many times: ``python -m tests.interfaces.refusals --times 200``.

A thread that is still alive when the interpreter ends can abort the process, now and then. Each
command must therefore end with exit code 1 every time. Prints how often each ended how.
"""

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

ROWS = 20_000


def commands(folder):
    """Refused commands by what is wrong with them, as (arguments, standard input)."""
    random = np.random.default_rng(0)
    a, b = random.standard_normal((2, ROWS)).round(3)
    whole, lacking = folder / "whole.csv", folder / "lacking.csv"
    rows = [f"{i},{j},{i + j:.3f}" for i, j in zip(a, b, strict=True)]
    whole.write_text("a,b,y\n" + "\n".join(rows[:500]) + "\n")
    lacking.write_text("a,c,y\n" + "\n".join(rows) + "\n")
    model = folder / "model.theta"
    run(
        ["fit", str(whole), "--target", "y", "--model", "Ridge", "--output", str(model)], check=True
    )
    return {
        "explain, columns lacking": (["explain", str(model), str(lacking)], None),
        "explain, another encoding": (
            ["explain", str(model), str(lacking), "--encoding", "latin-1"],
            None,
        ),
        "predict, columns lacking": (["predict", str(model), str(lacking)], None),
        "predict, columns lacking in a pipe": (["predict", str(model), "-"], lacking.read_bytes()),
        "compare, target lacking": (["compare", str(lacking), "--target", "z"], None),
    }


def run(arguments, given=None, check=False):
    return subprocess.run(
        [sys.executable, "-m", "thetahat", *arguments],
        input=given,
        capture_output=True,
        timeout=120,
        check=check,
    )


def ends(arguments, given, times):
    """Exit codes of a command, with the last output of those that are not 1."""
    codes, said = Counter(), ""
    for _ in range(times):
        found = run(arguments, given)
        codes[found.returncode] += 1
        if found.returncode != 1:
            said = found.stderr.decode()[-500:]
    return codes, said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=200)
    times = parser.parse_args().times
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name, (arguments, given) in commands(Path(folder)).items():
            codes, said = ends(arguments, given, times)
            failed |= set(codes) != {1}
            print(f"{name:36} {dict(codes)} {said}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
