"""The figures of a report: quality of the best model, effects of columns, distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.evaluation.curves.calibration import CalibrationCurve
from thetahat.evaluation.curves.roc import RocCurve
from thetahat.evaluation.dependence import PartialDependence
from thetahat.foundation.types import Array
from thetahat.interfaces.report.svg import Frame

MOST_POINTS = 600
BINS = 24


def roc(curve: RocCurve) -> str:
    """True positive rate against false positive rate, with its band."""
    frame = Frame(
        (0, 1),
        (0, 1),
        "false positive rate",
        "true positive rate",
        "ROC curve with its band",
        square=True,
    )
    frame.band(curve.grid.tolist(), curve.low.tolist(), curve.high.tolist())
    frame.line([0, 1], [0, 1], "reference")
    frame.line(*_thinned(curve.fpr, curve.tpr))
    return str(frame)


def calibration(curve: CalibrationCurve) -> str:
    """Observed shares against predicted probabilities."""
    frame = Frame(
        (0, 1),
        (0, 1),
        "predicted probability",
        "observed share",
        "Calibration with intervals",
        square=True,
    )
    frame.line([0, 1], [0, 1], "reference")
    low = [each.low for each in curve.observed]
    high = [each.high for each in curve.observed]
    frame.whiskers(curve.predicted, low, high)
    frame.points(curve.predicted, [each.estimate for each in curve.observed])
    return str(frame)


def predicted_against_true(y: Array, predicted: Array, target: str) -> str:
    """One dot per row, or a sample of the rows if there are many."""
    rows = np.random.default_rng(0).permutation(len(y))[:MOST_POINTS]
    ends = _padded(np.concatenate([y[rows], predicted[rows]]))
    frame = Frame(
        ends,
        ends,
        f"predicted {target}",
        f"true {target}",
        "Predicted against true values",
        square=True,
    )
    frame.line(ends, ends, "reference")
    frame.points(predicted[rows], y[rows], 2.0)
    return str(frame)


def residuals(y: Array, predicted: Array, target: str) -> str:
    """Histogram of the errors of the predictions."""
    off = predicted - y
    ends = np.quantile(off, [0.005, 0.995])
    counts, edges = np.histogram(np.clip(off, *ends), bins=BINS)
    frame = Frame(
        (float(edges[0]), float(edges[-1])),
        (0, float(counts.max())),
        f"predicted − true {target}",
        "rows",
        "Histogram of the errors",
        square=True,
    )
    frame.bars(edges.tolist(), counts.tolist())
    return str(frame)


def effect(found: PartialDependence) -> str:
    """The mean prediction as a function of one column."""
    ends = _padded(np.concatenate([found.low, found.high]))
    if found.is_numeric:
        values = [float(each) for each in found.values]
        frame = Frame(
            (min(values), max(values)),
            ends,
            str(found.column),
            found.response,
            f"Effect of {found.column}",
        )
        frame.band(values, found.low.tolist(), found.high.tolist())
        frame.line(values, found.mean)
        return str(frame)
    few = min(6, len(found.values))
    names = [_short(str(each)) for each in found.values[:few]]
    frame = Frame(
        (-0.5, few - 0.5),
        ends,
        str(found.column),
        found.response,
        f"Effect of {found.column}",
        x_names=names,
    )
    frame.whiskers(range(few), found.low[:few], found.high[:few])
    frame.points(range(few), found.mean[:few])
    return str(frame)


def distribution(values: Any) -> list[float]:
    """Heights of a small histogram: bins of numbers, or counts of the most frequent values."""
    present = values.drop_nulls()
    if not len(present):
        return []
    if present.dtype.is_temporal():
        present = present.to_physical()
    if present.dtype.is_numeric():
        numbers = present.to_numpy().astype(float)
        numbers = numbers[np.isfinite(numbers)]
        if not numbers.size:
            return []
        ends = np.quantile(numbers, [0.005, 0.995])
        return np.histogram(np.clip(numbers, *ends), bins=20)[0].astype(float).tolist()
    counts = present.value_counts(sort=True)["count"].head(20)
    return [float(each) for each in counts]


def _thinned(xs: Array, ys: Array) -> tuple[list[float], list[float]]:
    """A curve with thousands of steps, reduced to some hundreds."""
    keep = np.unique(np.linspace(0, len(xs) - 1, MOST_POINTS).round().astype(int))
    return xs[keep].tolist(), ys[keep].tolist()


def _padded(values: Array) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    space = 0.05 * (high - low) or 0.5
    return low - space, high + space


def _short(text: str, most: int = 9) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
