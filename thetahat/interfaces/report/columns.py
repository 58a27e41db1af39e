"""What the columns mean to a model: importances, contributions, effects, coefficients."""

from __future__ import annotations

from html import escape

import numpy as np

from thetahat.evaluation.contributions.result import numbers_of
from thetahat.foundation.types import Array
from thetahat.interfaces.console import signed
from thetahat.interfaces.explanation import Explanation
from thetahat.interfaces.report import pictures
from thetahat.interfaces.report.cells import figures, quiet, shown_value, table, tidy
from thetahat.interfaces.report.svg import bar_row, interval_row, shortened, swarm_row
from thetahat.interfaces.scoring import metric_name
from thetahat.interfaces.singles import SHOWN, SingleRow, Singles
from thetahat.interfaces.trial import UNITS

MOST_IMPORTANCES = 15
MOST_COEFFICIENTS = 20
MOST_SWARMS = 12
SHADES = 5


def columns_section(found: Explanation, metric: str, rows_are: str = "held-out rows") -> str:
    """Importances, contributions, effects and coefficients."""
    drawn = [
        (str(each.column), f"mean {each.response}, other columns fixed", pictures.effect(each))
        for each in found.effects
    ]
    effects = f"<h3>Effects of single columns</h3>{figures(drawn)}" if drawn else ""
    return (
        _importances(found, metric, rows_are)
        + effects
        + ("" if found.singles is None else _summary(found.singles) + _rows(found.singles))
        + _coefficients(found)
    )


def _importances(found: Explanation, metric: str, rows_are: str) -> str:
    scale, unit = UNITS.get(metric, (1.0, ""))
    shown = list(found.importances.intervals.items())[:MOST_IMPORTANCES]
    span = (min(0.0, *(each.low for _, each in shown)), max(each.high for _, each in shown))
    rows = [
        [
            escape(shortened(str(name), 40)),
            interval_row(each.low, each.estimate, each.high, span),
            f"{tidy(scale * each.estimate)}{unit}",
            f"{tidy(scale * each.low)} to {tidy(scale * each.high)}",
        ]
        for name, each in shown
    ]
    heads = ["column", "", f"loss of {metric_name(metric)}", "95% interval"]
    return table(heads, rows, "tpnN") + quiet(
        f"Loss of score on {rows_are} when the column is shuffled. If two columns carry the same "
        "information, both losses are small."
    )


def _summary(found: Singles) -> str:
    """The contributions of all rows: dots, or their mean size if there are several classes."""
    summary, sizes = found.summary, found.sizes
    names = [str(each) for each in summary.columns]
    shown = list(sizes)[:MOST_SWARMS]
    named = summary.response
    if len(summary.outputs) > 2:
        top = max(sizes.values()) or 1.0
        rows = [
            [
                escape(shortened(name, 40)),
                bar_row(sizes[name], (0.0, top), "bar"),
                tidy(sizes[name]),
            ]
            for name in shown
        ]
        caption = f"Mean size of the contributions to the {named}, summed over the classes."
        return f"<h3>Contributions</h3>{table(['column', '', 'mean size'], rows, 'tpn')}" + quiet(
            caption
        )
    values = summary.values
    if summary.outputs:
        values, named = values[:, :, 1], f"{named} of {summary.outputs[1]}"
    span = (min(0.0, float(values.min())), max(0.0, float(values.max())))
    rows = []
    for name in shown:
        j = names.index(name)
        shades = _shades(summary.X[:, j])
        rows.append(
            [
                escape(shortened(name, 40)),
                swarm_row(values[:, j].tolist(), shades, span),
                tidy(sizes[name]),
            ]
        )
    return f"<h3>Contributions</h3>{table(['column', '', 'mean size'], rows, 'tpn')}" + (
        '<p class="quiet">Each dot is a row: what the column adds to the '
        f"{escape(named)} of this row, from {tidy(span[0])} to {tidy(span[1])} (Shapley values). "
        'Its value in the row is <span class="key v0">small</span> to '
        '<span class="key v4">large</span>; <span class="key v5">text</span> has no order.</p>'
    )


def _shades(column: Array) -> list[int]:
    """0 for the smallest values to 4 for the largest; 5 where there is no order."""
    if any(isinstance(value, str) for value in column):
        return [SHADES] * len(column)
    values = numbers_of(column)
    order = np.searchsorted(np.sort(values), values)  # equal values get the same shade
    shades = np.minimum(SHADES * order // max(1, len(order)), SHADES - 1)
    return [SHADES if value != value else int(s) for value, s in zip(values, shades, strict=True)]


def _rows(found: Singles) -> str:
    parts = "".join(map(_row, found.rows))
    return f'<h3>Five rows explained</h3><div class="grid2">{parts}</div>' + quiet(
        "Each bar is what a column adds to the prediction of this row, in comparison with other "
        "rows. Contributions describe the model, not causes."
        + " Each row is predicted by a model that was fitted without it."
        * found.held_out
    )


def _row(each: SingleRow) -> str:
    parts = each.parts[:SHOWN]
    rest = sum(part for _, _, part in each.parts[SHOWN:])
    ends = [part for _, _, part in parts] + [rest, 0.0]
    span = (min(ends), max(ends))
    rows = [
        [
            f"{escape(shortened(name, 24))} <span class='quiet'>{escape(shown_value(value))}"
            "</span>",
            bar_row(part, span),
            _signed(part),
        ]
        for name, value, part in parts
    ]
    if len(each.parts) > SHOWN:
        rows.append(
            [
                f"{len(each.parts) - SHOWN} other columns",
                bar_row(rest, span),
                signed(rest).replace("-", "−"),
            ]
        )
    return (
        f"<figure><h3>Row {each.row:,}: {escape(each.why)}</h3><figcaption>"
        f"{escape(each.response)} {tidy(each.total)}, on average {tidy(each.base)}; true value "
        f"{escape(shown_value(each.true))}</figcaption>{table(['', '', ''], rows, 'tpn')}</figure>"
    )


def _signed(value: float) -> str:
    return signed(value).replace("-", "−")


def _coefficients(found: Explanation) -> str:
    if not found.coefficients:
        return ""
    shown = list(found.coefficients.items())[:MOST_COEFFICIENTS]
    rows = [
        [
            escape(shortened(name, 40)),
            tidy(each.estimate),
            "–" if each.low != each.low else f"{tidy(each.low)} to {tidy(each.high)}",
        ]
        for name, each in shown
    ]
    more = len(found.coefficients) - len(shown)
    rest = f" {more:,} smaller ones are not shown." if more > 0 else ""
    return (
        f"<h3>Coefficients</h3>{table(['column', 'value', '95% interval'], rows, 'tnn')}"
        + quiet(
            "Numeric columns are scaled to standard deviation 1. The intervals are from bootstrap "
            f"refits.{rest}"
        )
    )
