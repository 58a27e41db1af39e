"""What evaluation costs beyond its fits, and how often intervals and tests are right.

`compare` should cost no more than its fits, spread over the cores it uses. Coverage and errors of
the first kind are counted over simulated experiments whose truth is known.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from benchmarks.harness import Finding, Judged, Study

CASES: tuple[Any, ...] = ()
MOST_OVER_FITS = 1.1


class Fits:
    """Six models on five folds of 20k × 30, each fitted on one thread."""

    def __init__(self, quick: bool) -> None:
        import thetahat as th
        from thetahat.evaluation.folds import folds_of

        n, random = 1000 if quick else 20_000, np.random.default_rng(0)
        self.X = random.standard_normal((n, 30))
        y = self.X @ random.standard_normal(30) + random.standard_normal(n)
        self.labels = (y > 0).astype(int)
        self.models = {
            "logistic": th.LogisticRegression(),
            "logistic, L1": th.LogisticRegression(l1_ratio=1.0, solver="saga"),
            "ridge": th.RidgeClassifier(),
            "support vectors": th.LinearSVC(),
            "hinge": th.LinearSVC(loss="hinge", max_iter=10_000),
            "folds for C": th.LogisticRegressionCV(use_legacy_attributes=False),
        }
        self._folds = folds_of(5, self.X, self.labels, classifier=True)

    def alone(self) -> float:
        """Seconds of all fits, one after another."""
        import thetahat as th

        total = 0.0
        with th.config(threads=1):
            for model in self.models.values():
                for train, test in self._folds:
                    rows, targets, held = self.X[train], self.labels[train], self.X[test]
                    begun = time.perf_counter()
                    model.fit(rows, targets)
                    total += time.perf_counter() - begun
                    model.predict(held)
        return total

    def compared(self) -> float:
        """Seconds of one comparison."""
        import thetahat as th

        begun = time.perf_counter()
        th.compare(self.models, self.X, self.labels)
        return time.perf_counter() - begun


def _alone_beside_others(quick: bool, rounds: int, together: Any, seconds: Any) -> None:
    fits = Fits(quick)
    fits.alone()
    for _ in range(rounds):
        together.wait()
        seconds.put(fits.alone())


def what_cores_give(quick: bool, rounds: int, cores: int) -> float:
    """Seconds of all fits in one process while every other core has a process that does the same.

    Cores that share a cache, or are one core in truth, slow each other: no comparison can be faster
    than that.
    """
    fresh = multiprocessing.get_context("spawn")
    together, seconds = fresh.Barrier(cores), fresh.Queue()
    arguments = (quick, rounds, together, seconds)
    processes = [fresh.Process(target=_alone_beside_others, args=arguments) for _ in range(cores)]
    for process in processes:
        process.start()
    found = [seconds.get() for _ in range(rounds * cores)]
    for process in processes:
        process.join()
    return min(found)


def cost_of_comparison(quick: bool, say: Callable[[str], None]) -> Finding:
    """A comparison against the sum of its fits one after another, spread over the cores."""
    from thetahat.foundation.threads import n_threads

    fits, cores, rounds = Fits(quick), n_threads(), 1 if quick else 15
    say("the first compare of this process, then later ones and the same fits alone, in turn")
    first = fits.compared()
    on_threads = [(fits.alone(), fits.compared()) for _ in range(rounds)]
    say("the same fits alone in as many processes as there are cores")
    given = what_cores_give(quick, rounds, cores)
    # The least of as many runs on either side, taken in turn.
    alone, compared = (min(each) for each in zip(*on_threads, strict=True))
    rows = [
        {
            "compare": how,
            "fits alone (s)": without,
            "cores": cores,
            "compare (s)": seconds,
            "compare / (fits / cores)": seconds / (without / cores),
        }
        for how, without, seconds in (
            ("no comparison: what the cores give", alone, given / cores),
            ("first", alone, first),
            ("later", alone, compared),
        )
    ]
    bars: list[Judged] = [
        (
            f"compare {row['compare']}: at most {MOST_OVER_FITS}× its fits over the cores",
            row["compare / (fits / cores)"],
            row["compare / (fits / cores)"] <= MOST_OVER_FITS,
        )
        for row in rows[2:]
    ]
    show = dict.fromkeys(("fits alone (s)", "compare (s)"), "{:.3f}".format)
    return Finding(rows, {**show, "compare / (fits / cores)": "{:.2f}".format}, bars)


OVER_FOLDS = {
    "area over 5 folds, 30 and 30 rows": (30, 30, "roc_auc", "auto"),
    "area over 5 folds, 100 and 100 rows": (100, 100, "roc_auc", "auto"),
    "area over 5 folds, few positives (5 of 100)": (5, 95, "roc_auc", "auto"),
    "accuracy over 5 folds, weak signal (60 rows)": (30, 30, "accuracy", "auto"),
    "accuracy over 5 folds, cautious bootstrap (100 rows)": (50, 50, "accuracy", "bootstrap"),
}
"""Classes, metric and interval of nearest means in ten columns."""
NOT_JUDGED = ("plain", "Clopper", "few positives", "weak signal", "cautious")
"""Intervals that are known to cover less or more than they say; told, not judged."""


def coverage(quick: bool, say: Callable[[str], None]) -> Finding:
    """How often 95% intervals hold the truth, over simulated experiments."""
    from scipy import stats

    import thetahat as th
    from thetahat.evaluation.score_intervals import fold_interval

    random, repetitions = np.random.default_rng(0), 200 if quick else 2000
    hits: dict[str, list[bool]] = {}

    def note(name: str, hit: bool) -> None:
        hits.setdefault(name, []).append(bool(hit))

    say("coverage of intervals")
    area, beta = stats.norm.cdf(1 / np.sqrt(2)), np.array([1.0, -0.5])
    fold_scores = []
    for _ in range(repetitions):
        right = int(random.binomial(150, 0.85))
        note("accuracy, Wilson", 0.85 in th.statistics.proportion_interval(right, 150))
        exact = th.statistics.proportion_interval(right, 150, method="clopper_pearson")
        note("accuracy, Clopper-Pearson", 0.85 in exact)
        y = np.repeat([0, 1], 60)
        scores = y + random.standard_normal(120)
        note("area under the ROC curve, DeLong", area in th.statistics.auc_interval(y, scores))
        X = random.standard_normal((40, 2))
        model = th.LinearRegression().fit(X, X @ beta + random.standard_normal(40))
        slope = model.summary().coefficients[1]
        note("coefficient of least squares", slope.low <= 1.0 <= slope.high)
        new = random.standard_normal((1, 2))
        low, high = model.predict_interval(new)
        note(
            "prediction of least squares",
            low[0] <= new[0] @ beta + random.standard_normal() <= high[0],
        )
        fold_scores.append(_split_scores(random))
    for name, (positives, negatives, metric, kind) in OVER_FOLDS.items():
        say(f"coverage of {name}")
        over_folds = _over_folds(positives, negatives, metric, kind, repetitions)
        expected = float(np.mean([interval.estimate for interval in over_folds]))
        for interval in over_folds:
            note(name, expected in interval)
    truth = float(np.mean(fold_scores))
    for scores in fold_scores:
        note("mean score of 15 splits, corrected t", truth in fold_interval(scores, 0.25, 0.95))
        note("mean score of 15 splits, plain t", truth in fold_interval(scores, 0.0, 0.95))
    rows = [{"95% interval of": name, "covers": float(np.mean(hit))} for name, hit in hits.items()]
    bars: list[Judged] = [
        (f"{row['95% interval of']} covers 93 to 97%", row["covers"], 0.93 <= row["covers"] <= 0.97)
        for row in rows
        if not any(word in row["95% interval of"] for word in NOT_JUDGED)
    ]
    return Finding(rows, {"covers": "{:.1%}".format}, bars)


def _over_folds(
    positives: int, negatives: int, metric: str, kind: str, repetitions: int
) -> list[Any]:
    """Intervals of the nearest mean's score over five folds, experiment by experiment."""
    import thetahat as th
    from thetahat.evaluation.cross_fitting import cross_fit
    from thetahat.evaluation.folds import folds_of
    from thetahat.evaluation.score_intervals import score_interval

    y, found = np.repeat([1, 0], [positives, negatives]), []
    with th.config(threads=1):
        for repetition in range(repetitions):
            random = np.random.default_rng((3, repetition))
            X = random.standard_normal((y.size, 10)) + 0.35 * y[:, None]
            folds = folds_of(5, X, y, classifier=True, random_state=repetition)
            fits = cross_fit({"": _NearestMean()}, X, y, folds, {"": {"": _SCORERS[metric]}})
            interval = score_interval(
                fits, "", y, known=metric, kind=kind, level=0.95, random_state=0
            )
            found.append(interval)
    return found


class _NearestMean(BaseEstimator):
    """Ranks rows by how much nearer they are to the mean of class 1."""

    def fit(self, X: Any, y: Any) -> _NearestMean:
        self.classes_ = np.array([0, 1])
        self.means_ = [X[y == label].mean(axis=0) for label in (0, 1)]
        return self

    def decision_function(self, X: Any) -> Any:
        apart = [((X - mean) ** 2).sum(axis=1) for mean in self.means_]
        return apart[0] - apart[1]

    def predict(self, X: Any) -> Any:
        return (self.decision_function(X) > 0).astype(int)


def _area(model: Any, X: Any, y: Any) -> float:
    values = model.decision_function(X)
    return float(np.mean(values[y == 1][:, None] > values[y == 0]))


def _share(model: Any, X: Any, y: Any) -> float:
    return float(np.mean(model.predict(X) == y))


_SCORERS = {"roc_auc": _area, "accuracy": _share}


def _split_scores(random: np.random.Generator) -> Any:
    """Accuracies of the nearest mean on 15 random splits of 60 rows."""
    y = random.choice([-1.0, 1.0], 60)
    X = random.standard_normal((60, 10)) + 0.4 * y[:, None]
    scores = []
    for _ in range(15):
        order = random.permutation(60)
        train, test = order[12:], order[:12]
        means = [X[train][y[train] == sign].mean(axis=0) for sign in (1, -1)]
        side = (X[test] - (means[0] + means[1]) / 2) @ (means[0] - means[1])
        scores.append(np.mean(np.sign(side) == y[test]))
    return np.array(scores)


STUDIES = (
    Study("Cost of a comparison", cost_of_comparison),
    Study("Coverage of intervals", coverage),
)
