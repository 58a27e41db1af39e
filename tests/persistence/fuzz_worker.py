"""A process that loads mutants, asks the models for all answers, and prints how each ended."""

import json
import pickle
import re
import resource
import time
import warnings
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import thetahat as th
from tests.persistence import golden_files, mutations
from tests.persistence.mutants import mutated_file, mutated_pickle

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
