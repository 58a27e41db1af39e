"""The comparison of two models in words."""

from __future__ import annotations

import numpy as np

from thetahat.evaluation.statistics.outcome import HypothesisTest, Interval

NAMES = {"r2": "R²", "roc_auc": "ROC AUC"}
"""Names of metrics in sentences, where the words of scikit-learn's names do not suffice."""
IN_POINTS = ("accuracy", "balanced_accuracy", "precision", "recall", "top_k_accuracy")
"""Prefixes of the names of metrics that are shares of rows, whose differences are in points."""


def remarks(a: str, b: str, metric: str, pooled: tuple[float, float] | None, by_ranks: bool) -> str:
    """Why the direction of a test can differ from that of the mean scores; empty if it does not.

    `pooled` are the scores of both models over all held-out rows where these differ from the means
    over the folds. `by_ranks` is whether a is ahead by signed ranks although its mean score is
    smaller.
    """
    text = ""
    if pooled is not None:
        text += (
            f" This test compares the {in_words(metric)} over all held-out rows together, which is "
            f"{number(pooled[0])} for {a} and {number(pooled[1])} for {b}; the means over the "
            "folds differ from that, as the folds have unequal sizes."
        )
    if by_ranks:
        text += (
            f" This test ranks the differences of the folds, and {a} is ahead by their ranks, "
            f"while the mean over the folds is greater for {b}, because of a few large differences."
        )
    return text


def sentence_of(
    a: str,
    b: str,
    test: HypothesisTest,
    difference: Interval,
    margin: float,
    equivalence: float,
    metric: str,
    known: str | None,
    pairs: int,
    least_p: float,
) -> str:
    """What the difference, its interval and the two tests mean.

    `least_p` is the smallest p-value that the test can give here.
    """
    unit, scale = unit_of(metric, known)
    gap, low, high, most = (
        number(scale * value)
        for value in (difference.estimate, difference.low, difference.high, margin)
    )
    within = f"{100 * difference.level:.3g}% interval {low} to {high}"
    p = f"p = {test.p:.2g}" if test.p >= 1e-16 else "p < 1e-16"
    if pairs > 1:
        p += f", both adjusted for {pairs} pairs"
    same = equivalence < test.significance
    if test.rejects:
        text = f"{a} is better than {b} by {gap}{unit}, {within} ({p})"
        if same:
            text += f"; the two are practically equal, as the margin is {most}{unit}"
        return f"{text}."
    if same:
        return (
            f"{a} and {b} are practically equal: the difference of {gap}{unit}, {within}, is "
            f"smaller than the margin of {most}{unit} ({p})."
        )
    if any("spread" in each for each in test.assumptions if each.startswith("broken")):
        return (
            f"{a} and {b} cannot be distinguished with this much data: the difference of "
            f"{gap}{unit} has an unknown spread, so use more folds or another test."
        )
    if least_p >= test.significance:
        more = f"this test cannot give p below {least_p:.2g} here, so use more folds"
    else:
        more = _what_is_possible(difference, margin, unit, scale)
    return (
        f"{a} and {b} cannot be distinguished with this much data (difference {gap}{unit}, "
        f"{within}, {p}); {more}."
    )


def _what_is_possible(difference: Interval, margin: float, unit: str, scale: float) -> str:
    farthest = max(abs(difference.low), abs(difference.high))
    if not np.isfinite(farthest):
        return "use more folds or another test"
    if margin == 0:
        possible = (
            f"they may differ by up to {number(scale * farthest)}{unit}, and " if farthest else ""
        )
        return f"{possible}a margin of 0 counts no models as practically equal"
    return (
        f"they may differ by up to {number(scale * farthest)}{unit}, which is more than the margin "
        f"of {number(scale * margin)}{unit}"
    )


def unit_of(metric: str, known: str | None) -> tuple[str, float]:
    """The unit of a difference and its scale: points for shares of rows, or that of the metric."""
    if (known or "").startswith(IN_POINTS):
        return " points", 100.0
    return f" in {in_words(metric)}", 1.0


def in_words(metric: str) -> str:
    """A metric as words: "neg_mean_absolute_error" is the mean absolute error."""
    return NAMES.get(metric, metric.removeprefix("neg_").replace("_", " "))


def number(value: float) -> str:
    """Three digits of a number, with a minus sign instead of a hyphen."""
    return f"{value:.3g}".replace("-", "−")
