"""Rows in order of time: which column is the time, and whether the order carries information.

Residuals of a linear model of the other columns are put in order of time. If neighbours are alike
(autocorrelation), or if a model can separate early rows from late ones by the other columns, then
shuffled folds predict each row from its own past and future.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from thetahat.evaluation.findings.adversarial import separability
from thetahat.evaluation.findings.design import linear_residuals, plain_matrix
from thetahat.evaluation.findings.finding import Finding
from thetahat.evaluation.findings.identifiers import is_identifier
from thetahat.evaluation.findings.names import PROPERTY_WORDS, TIME_WORDS, name_words
from thetahat.evaluation.findings.table import CheckedColumn, CheckedTable
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array

LEAST_ROWS = 30
LEAST_TIMES = 10
MOST_ROWS = 5000
ALIKE = 0.1
"""Autocorrelation of residuals from which the order carries information."""
SURE = 4.0
"""Its number of standard errors."""
VERY_ALIKE = 0.5
LEAST_IN_SERIES = 5
"""Mean number of rows of a series."""
SERIES_DISTINCT = 0.95
"""Share of rows whose time is the only one of its kind in its series."""
MOST_SERIES = 20
"""Number of columns that are tried as names of series."""
APART = 0.8
"""Area under the ROC curve from which early and late rows count as different."""


@dataclass(frozen=True)
class TimeOrder:
    """A column of times, and what its order says about the target."""

    column: CheckedColumn
    autocorrelation: float
    sure: bool
    """Whether the autocorrelation is significant."""
    apart: float
    """How well early and late rows can be distinguished: an area under the ROC curve."""
    series: str = ""
    """The column that names the series whose rows follow each other; "" for all rows together."""

    @property
    def is_informative(self) -> bool:
        return (self.sure and self.autocorrelation >= ALIKE) or self.apart >= APART


def is_time(column: CheckedColumn) -> bool:
    """Whether a column holds the times of the rows: a date, or rising numbers of such a name."""
    if column.n_distinct < LEAST_TIMES or PROPERTY_WORDS & set(name_words(column.name)):
        return False
    if column.kind == "date":
        return True
    named = column.name == "t" or bool(TIME_WORDS & set(name_words(column.name)))
    return named and column.is_number and rises(column)


def rises(column: CheckedColumn) -> bool:
    """Whether the values never fall, or never rise, from row to row."""
    values = column.values[~column.missing]
    if values.size < LEAST_ROWS or values.size < 0.9 * len(column.values):
        return False
    return bool((values[1:] >= values[:-1]).all() or (values[1:] <= values[:-1]).all())


def time_order(table: CheckedTable, named: str | None = None) -> TimeOrder | None:
    """The column of times whose order says most, or the one that is `named`."""
    if named is not None:
        column = next((each for each in table.columns if each.name == named), None)
        if column is None:
            raise ParameterError(
                f"time={named!r}: there is no such column. Columns: "
                f"{', '.join(each.name for each in table.columns[:20])}."
            )
        if not column.is_number:
            raise ParameterError(
                f"time={named!r}: the column holds {column.kind} values, but must hold dates or "
                "numbers."
            )
        return _order(table, column)
    if table.target is None or table.n_rows < LEAST_ROWS:
        return None
    times = [_order(table, column) for column in table.columns if is_time(column)]
    return max(times, key=lambda each: (each.is_informative, each.autocorrelation), default=None)


def _order(table: CheckedTable, column: CheckedColumn) -> TimeOrder:
    known = np.flatnonzero(~column.missing)
    order = _sampled(known[np.argsort(column.values[known], kind="stable")])
    if order.size < LEAST_ROWS or table.target is None:
        return TimeOrder(column, 0.0, False, 0.5)
    place = np.arange(order.size)
    others = [
        each
        for each in table.columns
        if each is not column
        and not is_time(each)
        and not is_identifier(each)
        and not _follows(each.values[order], place)
    ]
    X = plain_matrix(others, order)
    X = X[:, : order.size // 3]
    residuals = linear_residuals(X, table.response[order])
    alike = max(_autocorrelation(each, np.zeros_like(place)) for each in residuals.T)
    middle = order.size // 2
    apart = separability(X[:middle], X[middle:])
    found = TimeOrder(column, alike, alike * np.sqrt(order.size) > SURE, apart)
    named = [each for each in others if _may_name_series(each, column)][:MOST_SERIES]
    among = [_order_in_series(table, found, each, others) for each in named]
    best = max(among, key=lambda each: each.autocorrelation, default=found)
    return best if best.sure and best.autocorrelation > found.autocorrelation + ALIKE else found


def _sampled(order: Array) -> Array:
    """Some thousand rows; neighbours must stay neighbours: blocks, evenly spread over time."""
    if order.size <= MOST_ROWS:
        return order
    block = 50
    starts = np.linspace(0, order.size - block, MOST_ROWS // block).astype(np.int64)
    return np.asarray(order[(starts[:, None] + np.arange(block)).ravel()])


def _may_name_series(column: CheckedColumn, time: CheckedColumn) -> bool:
    """Whether a column may name series of rows, such as the shops whose days a table holds.

    Categories may; numbers must give every time once in every series.
    """
    n = len(column.values)
    if not 2 <= column.n_distinct <= n / LEAST_IN_SERIES or column.kind == "date":
        return False
    if not column.is_number:
        return True
    if time.n_distinct > n / 2:
        return False
    (codes, _), (times, n_times) = column.coded, time.coded
    return np.unique(codes.astype(np.int64) * n_times + times).size >= SERIES_DISTINCT * n


def _order_in_series(
    table: CheckedTable, found: TimeOrder, series: CheckedColumn, others: list[CheckedColumn]
) -> TimeOrder:
    """The same within series, whose own levels are not alike because of time."""
    codes = series.coded[0]
    known = np.flatnonzero(~found.column.missing)
    order = _sampled(known[np.lexsort((found.column.values[known], codes[known]))])
    X = plain_matrix(others, order)
    residuals = linear_residuals(X[:, : order.size // 3], table.response[order])
    alike = max(_autocorrelation(each, codes[order]) for each in residuals.T)
    sure = alike * np.sqrt(order.size) > SURE
    return replace(found, autocorrelation=alike, sure=sure, series=series.name)


def _follows(values: Array, place: Array) -> bool:
    """Whether a column rises or falls with time so closely that it is a time itself."""
    finite = np.isfinite(values)
    if finite.sum() < 3:
        return False
    ranks = np.argsort(np.argsort(values[finite], kind="stable"), kind="stable")
    spread = ranks.std() * place[finite].std()
    return bool(abs(np.cov(ranks, place[finite], bias=True)[0, 1]) > 0.97 * spread)


def _autocorrelation(residual: Array, series: Array) -> float:
    """The correlation of neighbours within series, around the mean of each."""
    _, series = np.unique(series, return_inverse=True)
    residual = residual - (np.bincount(series, residual) / np.bincount(series))[series]
    total = float(residual @ residual)
    follows = series[1:] == series[:-1]
    return float((residual[1:] * residual[:-1])[follows].sum()) / total if total > 0 else 0.0


def find_time(table: CheckedTable, named: str | None = None) -> list[Finding]:
    """The column of times, if the order of the rows carries information."""
    found = time_order(table, named)
    if found is None or table.target is None:
        return []
    name = found.column.name
    if not found.is_informative:
        return []
    within = f"of the same {found.series} " if found.series else ""
    seen = []
    if found.sure and found.autocorrelation >= ALIKE:
        seen.append(
            f"rows {within}that follow each other in {name} have similar {table.target.name} "
            f"(autocorrelation {found.autocorrelation:.2f})"
        )
    if found.apart >= APART:
        seen.append(
            f"early and late rows of {name} differ in the other columns (a model separates them "
            f"with AUC {found.apart:.2f})"
        )
    strong = found.autocorrelation >= VERY_ALIKE and named is None
    return [
        Finding(
            "time",
            "note" if named is not None else "severe" if strong else "warning",
            _sentence("; ".join(seen)) + ".",
            "Shuffled folds predict a row from rows before and after it, so their score is higher "
            "than that of predictions for the future.",
            "Use folds in the order of time: train on earlier rows and predict later ones.",
            (name,),
        )
    ]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
