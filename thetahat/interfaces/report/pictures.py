"""The figures of a report: quality of the best model, effects of columns, distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.evaluation.curves.calibration import CalibrationCurve
from thetahat.evaluation.curves.precision_recall import PrecisionRecallCurve
from thetahat.evaluation.curves.roc import RocCurve
from thetahat.evaluation.dependence import PartialDependence
from thetahat.foundation.types import Array
from thetahat.interfaces import plotted
from thetahat.interfaces.report.svg import Frame

UNIT = (0.0, 1.0)


def roc(curve: RocCurve) -> str:
    """True positive rate against false positive rate, with its band."""
    words = ("false positive rate", "true positive rate", "ROC curve with its band")
    frame = Frame(UNIT, UNIT, *words, square=True)
    frame.band(curve.grid.tolist(), curve.low.tolist(), curve.high.tolist())
    frame.line(UNIT, UNIT, "reference")
    xs, ys = plotted.thinned(curve.fpr, curve.tpr)
    frame.line(xs, ys)
    return str(frame)


def precision_recall(curve: PrecisionRecallCurve) -> str:
    """Precision against recall, with its band and the share of positives."""
    words = ("recall", "precision", "Precision-recall curve with its band")
    frame = Frame(UNIT, UNIT, *words, square=True)
    frame.band(curve.grid.tolist(), curve.low.tolist(), curve.high.tolist())
    frame.line(UNIT, (curve.share, curve.share), "reference")
    xs, ys = plotted.thinned(curve.recall, curve.precision)
    frame.line(xs, ys)
    return str(frame)


def calibration(curve: CalibrationCurve) -> str:
    """Observed shares against predicted probabilities."""
    words = ("predicted probability", "observed share", "Calibration with intervals")
    frame = Frame(UNIT, UNIT, *words, square=True)
    frame.line(UNIT, UNIT, "reference")
    low = [each.low for each in curve.observed]
    high = [each.high for each in curve.observed]
    frame.whiskers(curve.predicted, low, high)
    frame.points(curve.predicted, [each.estimate for each in curve.observed])
    return str(frame)


def thresholds(roc_curve: RocCurve, precisions: PrecisionRecallCurve) -> str:
    """Recall, precision and F₁ against the threshold."""
    at = precisions.thresholds
    recall, precision = precisions.recall, precisions.precision
    both = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    probabilities = at.min() >= 0 and at.max() <= 1
    ends = UNIT if probabilities else _padded(at)
    words = ("threshold", "share", "Recall, precision and F1 against the threshold")
    frame = Frame(ends, UNIT, *words, square=True)
    for values, kind in ((recall, "line"), (precision, "line second"), (both, "line third")):
        xs, ys = plotted.thinned(at[::-1], values[::-1])
        frame.line(xs, ys, kind)
    return str(frame)


def predicted_against_true(y: Array, predicted: Array, target: str) -> str:
    """One dot per row, or a sample of the rows if there are many."""
    rows = plotted.some_rows(len(y))
    ends = _padded(np.concatenate([y[rows], predicted[rows]]))
    words = (f"predicted {target}", f"true {target}", "Predicted against true values")
    frame = Frame(ends, ends, *words, square=True)
    frame.line(ends, ends, "reference")
    frame.points(predicted[rows], y[rows], 2.0)
    return str(frame)


def residuals(off: Array, target: str) -> str:
    """Histogram of the errors of the predictions."""
    counts, edges = plotted.error_counts(off)
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


def errors_along(values: Array, off: Array, name: str) -> str:
    """Errors against a number, with their quantiles in groups of rows: 10, 50 and 90%."""
    known = np.isfinite(values)
    values, off = values[known], off[known]
    rows = plotted.some_rows(len(off))
    low, high = np.quantile(off, [0.005, 0.995])
    ends = _padded(np.clip(np.append(off, 0.0), low, high))
    span = np.quantile(values, [0.005, 0.995])
    across = _padded(np.clip(values, *span), 0.02)
    frame = Frame(across, ends, name, "predicted − true", f"Errors against {name}")
    at, quantiles = plotted.quantiles_along(values, off)
    if len(at) > 1:
        bounded = np.clip(quantiles, *ends)
        frame.band(at, bounded[:, 0].tolist(), bounded[:, 2].tolist())
    frame.line(across, (0.0, 0.0), "reference")
    frame.points(np.clip(values[rows], *across), np.clip(off[rows], *ends), 1.6, "dot faint")
    if len(at) > 1:
        frame.line(at, np.clip(quantiles[:, 1], *ends).tolist())
    return str(frame)


def errors_by_category(values: list[Any], off: Array, name: str) -> str:
    """Median and 10 to 90% quantiles of the errors for the most frequent categories."""
    kept, found = plotted.quantiles_by_category(values, off)
    ends = _padded(np.append(found, 0.0))
    frame = Frame(
        (-0.5, len(kept) - 0.5),
        ends,
        name,
        "predicted − true",
        f"Errors for each {name}",
        x_names=kept,
    )
    frame.line((-0.5, len(kept) - 0.5), (0.0, 0.0), "reference")
    frame.whiskers(range(len(kept)), found[:, 0], found[:, 2])
    frame.points(range(len(kept)), found[:, 1])
    return str(frame)


def effect(found: PartialDependence) -> str:
    """The mean prediction as a function of one column."""
    low, high = found.low, found.high
    bounded = found.response.startswith(("probability", "share"))
    if bounded:
        low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    ends = _padded(np.concatenate([low, high]))
    if bounded:
        ends = max(0.0, ends[0]), min(1.0, ends[1])
    words = (str(found.column), found.response, f"Effect of {found.column}")
    if found.is_numeric:
        values = [float(each) for each in found.values]
        frame = Frame((min(values), max(values)), ends, *words)
        frame.band(values, low.tolist(), high.tolist())
        frame.line(values, found.mean)
        return str(frame)
    few = min(plotted.CATEGORIES, len(found.values))
    names = [str(each) for each in found.values[:few]]
    frame = Frame((-0.5, few - 0.5), ends, *words, x_names=names)
    frame.whiskers(range(few), low[:few], high[:few])
    frame.points(range(few), found.mean[:few])
    return str(frame)


def heat(counts: Array, title: str) -> str:
    """A confusion matrix of many classes: the darker, the larger the share of the true class."""
    size = len(counts)
    cell = 400 / size
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    cells = "".join(
        f'<rect class="{"hit" if a == b else "miss"}" x="{b * cell:.2f}" y="{a * cell:.2f}" '
        f'width="{cell:.2f}" height="{cell:.2f}" opacity="{max(0.08, shares[a, b] ** 0.5):.2f}"/>'
        for a, b in zip(*np.nonzero(counts), strict=True)
    )
    return (
        f'<svg class="heat" viewBox="-1 -1 402 402" role="img" aria-label="{title}">'
        f'<rect class="edge" x="0" y="0" width="400" height="400"/>{cells}</svg>'
    )


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


def _padded(values: Array, share: float = 0.05) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    space = share * (high - low) or 0.05 * abs(high) or 0.5
    return low - space, high + space
