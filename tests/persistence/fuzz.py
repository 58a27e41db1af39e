"""Mutated models of every estimator, loaded and used: ``python -m tests.persistence.fuzz``.

    python -m tests.persistence.fuzz [name ...] [--count 10000] [--seed 0]

Half of the mutants are pickles in which arrays, numbers, keys or types were changed; the others are
model files, most of them with a valid digest around changed content. A worker process loads each
mutant and asks the model for all its answers. The parent notes mutants that end the worker by a
signal or that take too long, and starts another worker. Prints a table, and ends with an error if
a mutant ended in

- a signal, or more than `SECONDS` of time,
- more memory than 3 × its size + 64 MB,
- for model files: an error that is not one of `th.errors` (or scikit-learn's NotFittedError), code
  that ran, or a file that was written. A pickle may also end in an ordinary Python exception.

Objects of NumPy's random module inside of pickles are left as they are: NumPy restores them.
"""

import argparse
import json
import os
import select
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import thetahat as th
from tests.persistence.fuzz_worker import KINDS, VARIANTS, tasks, work
from thetahat.catalog import estimators

SECONDS = 20


def run(names, count, seed, report=print):
    """All mutants of these models; returns the table and the list of what must not happen."""
    todo = tasks(names, count)
    results, faults = [], []
    start = 0
    with tempfile.TemporaryDirectory() as folder:
        while start < len(todo):
            start = _one_worker(folder, names, count, seed, start, results, faults)
    for fault in faults:
        report(json.dumps(fault))
    return results, faults


def worker_command(folder, names, count, seed, start):
    command = ["-m", "tests.persistence.fuzz", "--work", folder, str(start)]
    return [*command, "--count", str(count), "--seed", str(seed), *names]


def _one_worker(folder, names, count, seed, start, results, faults):
    """Run until the worker ends; returns the number of the next task."""
    todo = tasks(names, count)
    root = Path(__file__).parents[2]
    with (
        (Path(folder) / "errors.txt").open("w+b") as errors,
        subprocess.Popen(
            [sys.executable, *worker_command(folder, names, count, seed, start)],
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, "PYTHONPATH": str(root)},
        ) as worker,
    ):
        running, hangs = _follow(worker, todo, results)
        if hangs:
            worker.kill()
        ended = "hang" if hangs else f"signal {-worker.wait()}"
        errors.seek(0)
        said = errors.read().decode()[-1500:]
    faults += [each for each in results if _is_fault(each) and each not in faults]
    if worker.returncode == 0:
        return len(todo)
    if running is None:
        raise RuntimeError(f"The worker ended between two mutants ({ended}): {said}")
    name, kind, k = todo[running]
    fault = {"name": name, "kind": kind, "k": k, "outcome": ended, "memory": 0, "detail": said}
    results.append(fault)
    faults.append(fault)
    return running + 1


def _follow(worker, todo, results):
    """Collect the results of a worker; returns the task it did not end, and whether it hangs."""
    running, buffer, said = None, b"", []
    while True:
        seconds = 180 if running is None else SECONDS
        if not select.select([worker.stdout], [], [], seconds)[0]:
            return running, True
        piece = os.read(worker.stdout.fileno(), 1 << 16)
        if not piece:
            return running, False
        *lines, buffer = (buffer + piece).split(b"\n")
        for line in lines:
            if not line.startswith(b"{"):
                said.append(line.decode()[:300])
                continue
            found = json.loads(line)
            if "start" in found:
                running = found["start"]
                continue
            name, kind, k = todo[found["number"]]
            results.append({**found, "name": name, "kind": kind, "k": k, "said": said})
            running, said = None, []


def _is_fault(found):
    """Whether a mutant that ended did so in a way that it must not."""
    if found["outcome"].startswith(("signal", "hang")):
        return False  # noted already
    too_much = found["memory"] > found["allowed"]
    return too_much or found["forbidden"] > 0 or found["outcome"].endswith("(raw)")


def table(results):
    """One line per model: mutants, answers, errors, signals, hangs, largest memory."""
    lines = [
        f"{'model':34}{'mutants':>8}{'answers':>8}{'ours':>7}{'raw':>6}{'signal':>7}{'hang':>5}"
        f"{'MB':>7}"
    ]
    names = list(dict.fromkeys(each["name"] for each in results))
    for name in [*names, None]:
        rows = [each for each in results if name in (each["name"], None)]
        ends = Counter(_group(each["outcome"]) for each in rows)
        most = max(each["memory"] for each in rows) / 2**20
        lines.append(
            f"{name or 'all':34}{len(rows):8}{ends['answer']:8}{ends['ours']:7}{ends['raw']:6}"
            f"{ends['signal']:7}{ends['hang']:5}{most:7.1f}"
        )
    for kind in KINDS:
        ends = Counter(each["outcome"] for each in results if each["kind"] == kind)
        lines.append(f"{kind}: " + ", ".join(f"{end} {n}" for end, n in ends.most_common()))
    return "\n".join(lines)


def _group(ended):
    if ended == "answer" or ended == "hang":
        return ended
    if ended.startswith("signal"):
        return "signal"
    known = [*th.errors.__all__, "NotFittedError", "other width"]
    return "ours" if ended.split(": ")[1] in known else "raw"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", nargs=2)
    given = parser.parse_args()
    names = given.names or [*estimators(), *VARIANTS]
    if given.work:
        folder, start = given.work
        work(folder, names, given.count, given.seed, int(start))
        return
    per_model = -(-(given.count or 10_000) // len(names))
    results, faults = run(names, per_model, given.seed)
    print(table(results))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
