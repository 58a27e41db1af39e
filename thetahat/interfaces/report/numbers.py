"""How good predictions of numbers are: errors, their quantiles, errors against columns."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from thetahat.evaluation.statistics.outcome import Interval
from thetahat.interfaces.plotted import numbers_along
from thetahat.interfaces.quality import NumberQuality
from thetahat.interfaces.report import pictures
from thetahat.interfaces.report.cells import Figure, between, figures, quiet, table, tidy


def numbers_section(found: NumberQuality, target: str, X: Any, columns: Sequence[str]) -> str:
    """All that is known about predictions of numbers; errors against the given columns of X."""
    held, sizes = found.held, found.size_quantiles
    typical = (
        f"Half of the predictions are within {tidy(sizes[0.5])} of the true {target}, and "
        f"90% within {tidy(sizes[0.9])}."
    )
    drawn: list[Figure] = [
        (
            "Predicted and true values",
            "Each dot is a held-out row. On the line, the prediction is exact.",
            pictures.predicted_against_true(held.y, held.predicted, target),
        ),
        ("Errors", typical, pictures.residuals(found.off, target)),
        (
            "Errors against the prediction",
            "The line is the median of the errors, the band holds 80% of them. A good model has a "
            "line at 0.",
            pictures.errors_along(held.predicted, found.off, f"predicted {target}"),
        ),
        *(_against(found, X, name) for name in columns),
    ]
    return figures(drawn) + _table(found, target)


def _against(found: NumberQuality, X: Any, name: str) -> Figure:
    values = X[name][found.held.rows]
    caption = "Median and 80% of the errors, for rows with similar values."
    title = f"Errors against {name}"
    numbers = numbers_along(values)
    if numbers is not None:
        return title, caption, pictures.errors_along(numbers, found.off, name)
    caption = "Median and 80% of the errors, for the most frequent values."
    return title, caption, pictures.errors_by_category(values.to_list(), found.off, name)


def _table(found: NumberQuality, target: str) -> str:
    errors = found.errors
    measures = [
        ["root mean squared error", _with_ends(errors.rmse)],
        ["mean absolute error", _with_ends(errors.mae)],
        ["R²", tidy(errors.r2, 4)],
        ["mean error (bias)", tidy(float(found.off.mean()), 4)],
    ]
    quantiles = [
        [f"{share:.0%}", tidy(found.error_quantiles[share], 4)] for share in found.error_quantiles
    ]
    sizes = [
        [f"{share:.0%}", tidy(found.size_quantiles[share], 4)] for share in found.size_quantiles
    ]
    name = escape(target)
    return (
        f"<h3>Errors of {name}</h3>{table(['', 'value, 95% interval'], measures, 'tn')}"
        '<div class="grid2"><div>'
        f"<h3>Quantiles of predicted − true</h3>{table(['share below', 'error'], quantiles, 'tn')}"
        "</div><div>"
        f"<h3>Quantiles of the size</h3>{table(['share below', 'size of error'], sizes, 'tn')}"
        "</div></div>" + quiet("All on held-out rows, taken together.")
    )


def _with_ends(interval: Interval) -> str:
    """An estimate, with its interval below it."""
    return f'{tidy(interval.estimate, 4)}<br><span class="quiet">{between(interval, 4)}</span>'
