"""Runs test modules of scikit-learn with the library's classes, in a process of their own.

`python -m tests.compatibility.runner tree/tests/test_tree.py` prints what failed.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import sklearn

ROOT = Path(__file__).parents[2]
ENDINGS = (0, 1)
"""Exit codes of pytest when all tests ran, with or without failures."""
THEIRS = Path(sklearn.__file__).parent


def command(modules, outcomes, every, limit, without):
    return [
        *(sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--tb=short"),
        *(f"--rootdir={THEIRS}", f"--confcutdir={THEIRS}"),
        *("-p", "tests.compatibility.swapped", "-p", "no:cacheprovider", "-p", "no:xdist"),
        *(f"--outcomes={outcomes}", f"--every={every}", f"--limit={limit}"),
        *(f"--deselect={each}" for each in without),
        *(str(THEIRS / each) for each in modules),
    ]


def run(modules, every=1, limit=120, deadline=1800, report=subprocess.DEVNULL):
    """The last record of each test: passed, failed, skipped, or died (crash or out of time)."""
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    records = {}
    with tempfile.TemporaryDirectory() as folder:
        outcomes = Path(folder) / "outcomes"
        while True:
            outcomes.touch()
            ended = subprocess.run(
                command(modules, outcomes, every, limit, records),
                env=os.environ | {"PYTHONPATH": paths},
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=report,
                stderr=report,
                timeout=deadline,
                check=False,
            )
            for line in outcomes.read_text(encoding="utf-8").splitlines():
                record = json.loads(line)
                records[record["test"]] = record
            dead = [each for each in records.values() if each["outcome"] == "running"]
            for record in dead:
                message = f"the process ended with {ended.returncode}"
                record.update(outcome="died", message=message)
            if not dead and ended.returncode in ENDINGS:
                return records
            if not dead:
                raise RuntimeError(f"{modules}: pytest ended with {ended.returncode}")
            outcomes.unlink()


def unexpected(records, listed, sample=False, either=()):
    """What contradicts the list. A name without brackets stands for all cases of its test.

    Tests in `either` may pass or fail, but must run.
    """
    found, seen = [], set()
    for test, record in records.items():
        names = {test, test.partition("[")[0]} & set(listed)
        seen |= names
        outcome = record["outcome"]
        if names and outcome == "passed" and not names & set(either):
            found.append(f"{test} is listed and passes")
        elif outcome == "died" or (outcome == "failed" and not names):
            found.append(f"{test} {outcome}: {record['message']}")
    if not sample:
        found += [f"{each} is listed and did not run" for each in listed if each not in seen]
    return found


def main(modules):
    records = run(modules, report=None)
    for each in records.values():
        if each["outcome"] in ("failed", "died"):
            print(json.dumps(each))
    print(Counter(each["outcome"] for each in records.values()), file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
