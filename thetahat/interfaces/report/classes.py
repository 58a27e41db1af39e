"""How good predictions of classes are: balance, curves, confusion, single classes, thresholds."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import numpy as np

from thetahat.evaluation.statistics.outcome import Interval
from thetahat.interfaces.quality import ClassQuality, Cost, OneClass
from thetahat.interfaces.report import pictures
from thetahat.interfaces.report.cells import (
    Figure,
    between,
    figures,
    folded,
    percent,
    quiet,
    table,
    tidy,
)
from thetahat.interfaces.report.svg import bar_row, shortened

MOST_CLASSES = 12
"""Largest number of classes whose confusion matrix is a table of numbers."""
MOST_SHOWN = 15
"""Number of classes that are shown at once; the others are folded away."""


def classes_section(found: ClassQuality) -> str:
    """All that is known about predictions of classes on held-out rows."""
    many = len(found.classes) > MOST_CLASSES
    return (
        figures(_curves(found))
        + _decision(found)
        + _single_classes(found)
        + (_heat(found) if many else _matrix(found))
        + _pairs(found)
        + _thresholds(found)
    )


def _curves(found: ClassQuality) -> list[Figure]:
    drawn: list[Figure] = []
    two = len(found.classes) == 2
    rest = "" if two else " against the rest; of all classes, its area is the smallest"
    if found.roc is not None:
        area = found.roc.area
        caption = (
            f"Class {found.label}{rest}: share found (true positive rate) against the false "
            f"positive rate, for all thresholds, with its 95% band. Area {area.estimate:.3f} "
            f"({between(area)})."
        )
        drawn.append(("ROC curve", caption, pictures.roc(found.roc)))
    if found.precision_recall is not None:
        average = found.precision_recall.average_precision
        caption = (
            f"Class {found.label}: share of right ones among the rows that are called so "
            f"(precision) against the share found (recall), with its 95% band. Average "
            f"precision {average.estimate:.3f} ({between(average)}); random scores "
            f"{found.precision_recall.share:.3f}."
        )
        picture = pictures.precision_recall(found.precision_recall)
        drawn.append(("Precision and recall", caption, picture))
    if found.calibration is not None:
        what = f"rows that are {found.label}" if two else "right predictions"
        which = "" if two else " of the predicted class"
        caption = (
            f"Share of {what}, for rows with predicted probability p{which}. On the line, the two "
            f"are equal. Mean distance {found.calibration.error:.3f}."
        )
        drawn.append(("Calibration", caption, pictures.calibration(found.calibration)))
    if two and found.roc is not None and found.precision_recall is not None:
        caption = (
            f"Rows with at least this {'score' if found.held.shares is None else 'probability'} "
            f"are called {found.label}: recall (solid), precision (dashed) and F₁ (dotted)."
        )
        picture = pictures.thresholds(found.roc, found.precision_recall)
        drawn.append(("Thresholds", caption, picture))
    return drawn


def _decision(found: ClassQuality) -> str:
    """The threshold that was requested."""
    if found.decision is None:
        return ""
    return f"<h3>Threshold</h3><p>{escape(found.decision.sentence)}</p>" + quiet(
        "In the sentence, each fold has the threshold of the other folds. The tables of classes "
        "and of confusion below are for the threshold of all held-out rows, which "
        "thetahat fit saves."
    )


def _single_classes(found: ClassQuality) -> str:
    """Balance, recall, precision and areas of every class; the worst first if there are many."""
    shown = found.classes
    if len(shown) > MOST_SHOWN:
        shown = sorted(shown, key=_merit)
    largest = max(each.share for each in shown)
    heads, kinds = ["class", "", "rows", "share", "recall", "precision"], "tPnNnn"
    with_area = any(each.area is not None for each in shown)
    if with_area:
        heads, kinds = [*heads, "AUC", "avg. precision", "calib. error"], kinds + "NNN"
    rows = [_class_row(each, largest, with_area) for each in shown]
    body = table(heads, rows[:MOST_SHOWN], kinds)
    if len(rows) > MOST_SHOWN:
        rest = table(heads, rows[MOST_SHOWN:], kinds)
        body += folded(f"{len(rows) - MOST_SHOWN} more classes", rest)
    order = ", the worst first" if len(rows) > MOST_SHOWN else ""
    return f"<h3>Classes{order}</h3>{body}" + quiet(
        "Recall: share of the rows of the class that are predicted so. Precision: share of the "
        "rows predicted so that are of the class. With 95% intervals."
        + (" AUC and average precision: this class against the rest." if with_area else "")
    )


def _merit(each: OneClass) -> float:
    """F₁, by which classes are sorted."""
    if each.recall is None or each.precision is None:
        return 0.0
    total = each.recall.estimate + each.precision.estimate
    return 2 * each.recall.estimate * each.precision.estimate / total if total else 0.0


def _class_row(each: OneClass, largest: float, with_area: bool) -> list[str]:
    cells = [
        escape(shortened(str(each.label), 28)),
        bar_row(each.share, (0.0, largest), "bar"),
        f"{each.count:,}",
        percent(each.share),
    ]
    for interval in (each.recall, each.precision):
        cells.append(_with_ends(interval, percent))
    if with_area:
        for interval in (each.area, each.average_precision):
            cells.append(_with_ends(interval, lambda value: f"{value:.3f}"))
        error = each.calibration_error
        cells.append("–" if error is None else f"{error:.3f}")
    return cells


def _with_ends(interval: Interval | None, shown: Callable[[float], str]) -> str:
    """An estimate, with its interval below it."""
    if interval is None:
        return "–"
    ends = f"{shown(interval.low)} to {shown(interval.high)}"
    return f'{shown(interval.estimate)}<br><span class="quiet">{ends}</span>'


def _matrix(found: ClassQuality) -> str:
    """The confusion matrix as numbers, shaded by the share of the true class."""
    matrix = found.confusion
    shares = matrix.counts / np.maximum(matrix.counts.sum(axis=1, keepdims=True), 1)
    names = [escape(shortened(str(label), 14)) for label in matrix.classes.tolist()]
    head = "".join(f"<th>{name}</th>" for name in names)
    rows = ""
    for place, name in enumerate(names):
        cells = "".join(
            f'<td class="{"hit" if place == other else "miss"}" '
            f'style="--share:{shares[place, other]:.3f}">{count:,.0f}</td>'
            for other, count in enumerate(matrix.counts[place])
        )
        rows += f"<tr><th>{name}</th>{cells}</tr>"
    return (
        '<h3>Confusion matrix</h3><div class="scroll"><table class="confusion"><thead><tr>'
        f"<th>true ╲ predicted</th>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _heat(found: ClassQuality) -> str:
    caption = (
        "One line per true class, one column per predicted class, both in alphabetical order. On "
        "the diagonal the prediction is right. The darker, the larger the share of the true class."
    )
    picture = pictures.heat(found.confusion.counts, "Confusion matrix")
    return f"<h3>Confusion</h3>{figures([('Confusion matrix', caption, picture)])}"


def _pairs(found: ClassQuality) -> str:
    pairs = found.worst_pairs
    if len(found.classes) < 3 or not pairs:
        return ""
    most = max(count for _, _, count, _ in pairs)
    rows = [
        [
            escape(shortened(str(true), 28)),
            escape(shortened(str(said), 28)),
            bar_row(float(count), (0.0, float(most)), "bar"),
            f"{count:,}",
            percent(share),
        ]
        for true, said, count, share in pairs
    ]
    heads = ["true class", "predicted as", "", "rows", "share of true class"]
    return f"<h3>Classes that are confused most</h3>{table(heads, rows, 'ttPnn')}"


def _thresholds(found: ClassQuality) -> str:
    if not found.costs:
        return ""
    rows = [_cost_row(each) for each in found.costs]
    heads = ["false positive : false negative", "threshold", "cost per row", "recall"]
    heads += ["false positive rate", "cost if none", "cost if all"]
    return (
        f"<h3>Costs and thresholds</h3>{table(heads, rows, 'tnnnNNN')}"
        + quiet(
            f"For the costs of the two kinds of error, the threshold with the smallest cost on "
            f"held-out rows: a row with at least this value is called {found.label}. "
            + (
                ""
                if found.held.folds is None
                else "Cost, recall and false positive rate are measured with each fold at the "
                "threshold of the other folds. "
            )
        )
        + quiet("The last columns are the costs if no row or every row is called so.", wide=True)
    )


def _cost_row(each: Cost) -> list[str]:
    threshold = f"{each.threshold:.3f}"
    if np.isinf(each.threshold):
        threshold = "none" if each.threshold > 0 else "all"
    return [
        f"{each.false_positive:g} : {each.false_negative:g}{' (requested)' * each.asked}",
        threshold,
        tidy(each.cost),
        percent(each.recall),
        percent(each.false_positive_rate),
        tidy(each.cost_of_none),
        tidy(each.cost_of_all),
    ]
