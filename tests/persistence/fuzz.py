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
import io
import json
import os
import pickle
import re
import resource
import select
import struct
import subprocess
import sys
import tempfile
import time
import warnings
import zlib
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import thetahat as th
from tests.persistence import golden_files, mutations
from thetahat.catalog import estimators
from thetahat.persistence import container

SECONDS = 20
ALLOWED = 64 * 2**20
ADDRESSES = 4 * 2**30
"""Address space above that at the start, so that a mutant cannot fill the memory of the machine."""
KINDS = ("pickle", "file")
METHODS = ("predict", "predict_proba", "decision_function", "transform", "log_density")
OTHER_WIDTH = re.compile(r"X has 3 features, but \w+ is expecting \d+ features as input")
X, Y = golden_files.X, golden_files.Y


def _labelled(model):
    return model.fit(X, np.where(Y > 5, "yes", "no"))


def _labelled_sparse(model):
    return model.fit(csr_array(X), np.where(Y > 5, "yes", "no"))


def _of_three_classes(model):
    return model.fit(X, np.digitize(Y, [4, 7]))


VARIANTS = {
    "oblique tree": lambda: _labelled(th.DecisionTreeClassifier(oblique=4, random_state=0)),
    "categorical boosting": lambda: th.HistGradientBoostingRegressor(
        max_iter=3, categorical_features=[0]
    ).fit(np.column_stack([np.arange(60) % 5, X[:, 1:]]), Y),
    "forest of two targets": lambda: th.RandomForestRegressor(3, random_state=0).fit(
        X, np.column_stack([Y, X[:, 0]])
    ),
    "forest of medians": lambda: th.RandomForestRegressor(
        3, criterion="absolute_error", random_state=0
    ).fit(X, Y),
    "boosting of three classes": lambda: _of_three_classes(
        th.HistGradientBoostingClassifier(max_iter=3)
    ),
    "neighbours of sparse rows": lambda: _labelled_sparse(th.KNeighborsClassifier(3)),
    "machine of sparse rows": lambda: _labelled_sparse(th.SVC()),
    "sparse coefficients": lambda: _labelled_sparse(th.LogisticRegression()).sparsify(),
    "logistic of three classes": lambda: _of_three_classes(th.LogisticRegression()),
    "many trees": lambda: _labelled(
        th.AdaBoostClassifier(n_estimators=20, random_state=np.random.default_rng(0))
    ),
    "gaussian density": lambda: th.DensityTree(leaf="gaussian", max_leaf_nodes=5).fit(X),
    "pipeline": lambda: _labelled(make_pipeline(StandardScaler(), th.LogisticRegression())),
}


def fitted(name):
    return VARIANTS[name]() if name in VARIANTS else golden_files.fitted(name)


# Mutants -----------------------------------------------------------------------------------------

NUMBERS = (0, 1, -1, 2, 255, 2**31 - 1, -(2**31), 2**40, 2**63, 0.5, -1e-300, 1e308)
SPECIAL = (np.nan, np.inf, -np.inf)
OTHERS = (None, True, "", "text", b"", (), [], {}, object, [[]], np.float64(1.0), np.zeros(0))
DTYPES = ("<f4", ">f8", "<f8", ">i4", "<i4", "<i8", ">i8", "u1", "?", "<u4", "<U3", "O", "<c16")


def mutated_array(array, random):
    """An array of another type, byte order or shape, or with a number out of range."""
    kind = random.integers(8)
    if kind == 0 and array.dtype.kind in "biuf":
        with np.errstate(all="ignore"):
            return array.astype(DTYPES[random.integers(len(DTYPES))])
    if kind == 1:
        return array.astype(array.dtype.newbyteorder())
    if kind == 2:
        return array.ravel()[: random.integers(array.size + 1)]
    if kind == 3:
        return np.concatenate([array.ravel(), array.ravel()[:1]])
    if kind == 4:
        return array[..., None] if random.random() < 0.5 else np.stack([array, array])
    if kind == 5 and array.ndim:
        return array[::-1] if random.random() < 0.5 else np.asfortranarray(array)
    array = array.copy()
    if array.size == 0 or array.dtype.kind not in "biufV":
        return array
    place = random.integers(array.size)
    fields = [array[name] for name in array.dtype.names] if array.dtype.names else [array]
    field = fields[random.integers(len(fields))]
    pool = NUMBERS + (SPECIAL if field.dtype.kind == "f" else ())
    with np.errstate(all="ignore"):
        number = np.asarray(pool[random.integers(len(pool))])
        field.reshape(-1)[place : place + 1] = number.astype(field.dtype)
        if random.random() < 0.3:
            field[...] = field.reshape(-1)[place]
    return array


def mutated_value(value, random):
    """Another value in the place of a number, a text or a list."""
    if isinstance(value, np.ndarray):
        return mutated_array(value, random)
    draw = random.random()
    if isinstance(value, list | tuple) and value and draw < 0.6:
        items = list(value)
        place = random.integers(len(items))
        if draw < 0.2:
            del items[place]
        elif draw < 0.3:
            items.append(items[place])
        else:
            items[place] = mutated_value(items[place], random)
        return type(value)(items) if type(value) in (list, tuple) else items
    if isinstance(value, dict) and value and draw < 0.6:
        return mutated_state(value, random)
    if isinstance(value, int | float | np.number) and draw < 0.7:
        pool = NUMBERS + SPECIAL
        return pool[random.integers(len(pool))]
    pool = OTHERS + NUMBERS
    return pool[random.integers(len(pool))]


def mutated_state(state, random):
    """A dictionary with one entry changed or lost, or with the values of two entries exchanged."""
    state = dict(state)
    keys = list(state)
    key = keys[random.integers(len(keys))]
    kind = random.integers(8)
    if kind == 0:
        del state[key]
    elif kind == 1:
        other = keys[random.integers(len(keys))]
        state[key], state[other] = state[other], state[key]
    else:
        state[key] = mutated_value(state[key], random)
    return state


class MutatingPickler(pickle.Pickler):
    """Pickles a model with the state of some of its objects changed."""

    def __init__(self, file, random, chosen):
        super().__init__(file, protocol=5)
        self.random, self.chosen, self.count = random, chosen, 0

    def reducer_override(self, thing):
        kind = type(thing)
        if isinstance(thing, type) or kind.__module__.startswith("numpy.random"):
            return NotImplemented
        if not isinstance(thing, np.ndarray) and not hasattr(thing, "__dict__"):
            return NotImplemented
        if isinstance(thing, np.ufunc) or kind.__module__ in ("builtins", "functools"):
            return NotImplemented
        self.count += 1
        if self.count - 1 not in self.chosen:
            return NotImplemented
        if isinstance(thing, np.ndarray):
            return mutated_array(thing, self.random).__reduce_ex__(4)
        made = thing.__reduce_ex__(4)
        if isinstance(made, str):  # the name of a global object
            return made
        made = list(made)
        if len(made) > 2 and isinstance(made[2], dict) and made[2]:
            made[2] = mutated_state(made[2], self.random)
        return tuple(made)


def mutated_pickle(model, random):
    counter = MutatingPickler(io.BytesIO(), random, ())
    counter.dump(model)
    size = 1 if random.random() < 0.8 else 2
    file = io.BytesIO()
    MutatingPickler(file, random, set(random.integers(counter.count, size=size).tolist())).dump(
        model
    )
    return file.getvalue()


def mutated_header(raw, random):
    """A file whose header gives an array another shape, dtype or place; the digest matches."""
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    names = [name for name in header if name != "__metadata__"]
    if not names:
        return raw
    entry = header[names[random.integers(len(names))]]
    key = ("dtype", "shape", "data_offsets")[random.integers(3)]
    if key == "dtype":
        entry[key] = ("F64", "F32", "I64", "I32", "U8", "BOOL", "BF16", "F8_E4M3")[
            random.integers(8)
        ]
    else:
        sizes = (0, 1, -1, 2**31, 2**62, 2**63, 1.5, None, *entry[key])
        place = random.integers(len(entry[key]) + 1)
        entry[key][place:] = [sizes[random.integers(len(sizes))]]
    return _sealed(header, raw[8 + length :])


def _sealed(header, data):
    """The file with its digest computed again, where the arrays can be read at all."""
    from safetensors.numpy import load

    def frame():
        text = json.dumps(header).encode()
        return struct.pack("<Q", len(text)) + text + data

    try:
        arrays = load(frame())
        ordered = [arrays[str(place)] for place in range(len(arrays))]
        header["__metadata__"]["digest"] = container.digest(
            header["__metadata__"]["manifest"], ordered
        )
    except BaseException:  # the reader of safetensors may also panic
        pass
    return frame()


def mutated_file(path, random):
    """A damaged file, or one whose content was changed and sealed again."""
    kind = random.integers(10)
    raw = path.read_bytes()
    if kind == 0:
        return mutations.mutated_bytes(raw, random)
    if kind == 1:
        return mutated_header(raw, random)
    with container.read(path) as file:
        manifest = file.manifest
        arrays = [file.array(place) for place in range(file.n_arrays)]
    if kind < 4 and arrays:
        place = random.integers(len(arrays))
        arrays[place] = _storable(mutated_array(arrays[place], random))
    elif kind < 7:
        manifest = {**manifest, "model": mutated_leaf(manifest["model"], random)}
    else:
        rate = float(random.choice([0.1, 0.03, 0.01, 0.002]))
        plain = mutations.mutated_plain(manifest["model"], random, rate)
        manifest = {**manifest, "model": plain}
    return container.framed(json.loads(json.dumps(manifest)), arrays)


def _storable(array):
    return array if array.dtype.kind in "biuf" else np.zeros(array.shape)


JSON_VALUES = (None, True, -1, 0, 1, 2, 2**31, 2**63, 1e308, 0.5, "", "text", [], {}, [[]])


def mutated_leaf(plain, random):
    """The manifest with exactly one value somewhere inside changed, or one entry lost."""
    places = []

    def collect(holder):
        keys = holder if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            places.append((holder, key))
            if isinstance(holder[key], dict | list):
                collect(holder[key])

    plain = json.loads(json.dumps(plain))
    collect(plain)
    holder, key = places[random.integers(len(places))]
    if random.random() < 0.15:
        del holder[key]
    elif random.random() < 0.2:
        other, at = places[random.integers(len(places))]
        holder[key] = json.loads(json.dumps(other[at]))
    else:
        holder[key] = JSON_VALUES[random.integers(len(JSON_VALUES))]
    return plain


# Worker ------------------------------------------------------------------------------------------


def answers(model):
    """Everything that the model says of the rows."""
    for name in METHODS:
        if hasattr(model, name):
            getattr(model, name)(golden_files.rows(model))


def outcome(kind, data, path, inside):
    """How one mutant ends: "answer", or where and with which error."""
    where = "load"
    try:
        if kind == "pickle":
            model = pickle.loads(data)
        else:
            path.write_bytes(data)
            inside[0], where = True, "describe"
            with suppress(th.errors.ThetahatError):
                str(th.describe_file(path))
            where = "load"
            model = th.load(path)
            inside[0] = False
        where = "use"
        answers(model)
    except Exception as failure:
        inside[0] = False
        text = f"{where}: {type(failure).__name__}"
        ours = isinstance(failure, th.errors.ThetahatError | NotFittedError)
        if OTHER_WIDTH.match(str(failure)):  # the model of the file is one of fewer or more columns
            text, ours = f"{where}: other width", True
        return f"{text} (raw)" if kind == "file" and not ours else text, repr(failure)[:300]
    return "answer", ""


def _memory(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))


def tasks(names, count):
    return [(name, KINDS[k % 2], k) for name in names for k in range(count)]


def work(folder, names, count, seed, start):
    """Run the tasks from `start` on; a line of JSON before and after each."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    folder = Path(folder)
    inside, watching = [False, True, 0], False
    current, model = None, None
    for number, (name, kind, k) in enumerate(tasks(names, count)):
        if number < start:
            continue
        if name != current:
            resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
            current, model = name, fitted(name)
            original, mutant = folder / "original.theta", folder / "mutant.theta"
            th.save(model, original)
            answers(pickle.loads(pickle.dumps(model)))
            answers(th.load(original))
            if not watching:
                mutations.watch(inside)
                watching = True
            limit = _memory("VmSize") + ADDRESSES
            resource.setrlimit(resource.RLIMIT_AS, (limit, -1))
        random = np.random.default_rng([seed, zlib.crc32(name.encode()), k])
        made = mutated_pickle(model, random) if kind == "pickle" else mutated_file(original, random)
        Path("/proc/self/clear_refs").write_text("5")
        before = _memory("VmRSS")
        print(json.dumps({"start": number}), flush=True)
        began = time.monotonic()
        found, detail = outcome(kind, made, mutant, inside)
        print(
            json.dumps(
                {
                    "number": number,
                    "outcome": found,
                    "detail": detail,
                    "seconds": time.monotonic() - began,
                    "memory": max(_memory("VmHWM") - before, 0),
                    "allowed": 3 * len(made) + ALLOWED,
                    "forbidden": inside[2],
                }
            ),
            flush=True,
        )
        inside[2] = 0


# Parent ------------------------------------------------------------------------------------------


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
