"""The HTML page of ``thetahat explain``: quality on the given rows, and what the columns mean."""

from __future__ import annotations

from html import escape
from typing import Any

from thetahat.foundation.atomic_file import atomic_file
from thetahat.interfaces.explanation import Explanation
from thetahat.interfaces.quality import ClassQuality, Held, quality
from thetahat.interfaces.report.cells import document, sentence, tidy
from thetahat.interfaces.report.classes import classes_section
from thetahat.interfaces.report.columns import columns_section
from thetahat.interfaces.report.numbers import numbers_section
from thetahat.interfaces.report.page import style
from thetahat.interfaces.scoring import metric_name


def write_page(
    path: str,
    model: str,
    data: str,
    target: str,
    X: Any,
    held: Held,
    found: Explanation,
    warning: str,
) -> None:
    """Write the page, completely or not at all."""
    name = "standard input" if data == "-" else data.rpartition("/")[2]
    metric = found.importances.metric
    caution = f'<p class="caution">{escape(sentence(warning))}</p>' if warning else ""
    header = (
        f"<header><h1>{escape(target)} <span class='quiet'>by {escape(model.rpartition('/')[2])}"
        f"</span></h1><p class='facts'>{len(held.y):,} rows of {escape(name)}</p>"
        f'<p class="verdict">{escape(sentence(metric_name(metric)))} '
        f"{tidy(found.importances.score, 4)} on these rows.</p>{caution}</header>"
    )
    judged = quality(held)
    if isinstance(judged, ClassQuality):
        good = classes_section(judged)
    else:
        good = numbers_section(judged, target, X, found.most_important)
    body = (
        f"{header}<h2>Columns that matter</h2>{columns_section(found, metric, 'these rows')}"
        f"<h2>How good are the predictions?</h2>{good}"
    )
    with atomic_file(path) as file:
        file.write(document(f"{target} in {name}", style(), body).encode())
