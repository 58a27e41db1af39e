"""Tables of estimates with their standard errors, for the terminal and for notebooks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Coefficient:
    """One line of a summary: an estimate with its standard error, test and interval."""

    name: str
    estimate: float
    standard_error: float
    t: float
    p: float
    low: float
    high: float


class CoefficientTable(ABC):
    """A summary that prints as a table: one line per coefficient, then the quality of the fit.

    The columns are those of t tests; summaries with other columns override `_header` and `_rows`.
    """

    coefficients: tuple[Any, ...]
    level: float

    def _header(self) -> tuple[str, ...]:
        """The names of the columns; the first one, above the coefficient names, is empty."""
        percent = f"{100 * self.level:g}%"
        return ("", "estimate", "std. error", "t", "p", f"{percent} from", "to")

    def _rows(self) -> list[tuple[str, ...]]:
        """One line for each coefficient."""
        return [
            (
                c.name,
                f"{c.estimate:.6g}",
                f"{c.standard_error:.4g}",
                f"{c.t:.2f}",
                p_value(c.p),
                f"{c.low:.5g}",
                f"{c.high:.5g}",
            )
            for c in self.coefficients
        ]

    @abstractmethod
    def _footer(self) -> list[str]:
        """Lines below the table."""

    def __getitem__(self, name: str) -> Any:
        for coefficient in self.coefficients:
            if coefficient.name == name:
                return coefficient
        raise KeyError(name)

    def __str__(self) -> str:
        rows = [self._header(), *self._rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        rule = "─" * max(len(line) for line in lines)
        return "\n".join([lines[0], rule, *lines[1:], rule, *self._footer()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(cell)}</th>" for cell in self._header())
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._rows()
        )
        foot = "<br>".join(escape(line) for line in self._footer())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{foot}</p>"


def p_value(p: float) -> str:
    """A p-value with three digits, or "<1e-16" if it is smaller."""
    return "nan" if np.isnan(p) else "<1e-16" if p < 1e-16 else f"{p:.3g}"


def p_sign(p: float) -> str:
    """A p-value with its relation, to follow the letter p: "= 0.02" or "< 1e-16"."""
    shown = p_value(p)
    return f"< {shown[1:]}" if shown.startswith("<") else f"= {shown}"
