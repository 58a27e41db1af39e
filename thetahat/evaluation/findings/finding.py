"""A finding about data, and all findings of a check by severity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SEVERITIES = ("severe", "warning", "note")
ROWS_KEPT = 1000
ROWS_SHOWN, COLUMNS_SHOWN = 8, 8


@dataclass(frozen=True)
class Finding:
    """One finding about a table: what was found, where, why it matters, and what to do.

    Formula: none; every finder states its own rule in `why`. Cost: O(1).

    Attributes
    ----------
    check : str
        The name of the finder, such as "copies" or "leaks".
    severity : {"severe", "warning", "note"}
        How much the finding matters. Scores should not be trusted if there is a severe one.
    what : str
        One sentence that says what was found, with numbers.
    why : str
        One sentence that says why it matters.
    action : str
        What to do about it, or what was done about it.
    columns : tuple of str
        The names of the columns concerned.
    rows : tuple of int
        The first of the rows concerned, counted from 0.
    n_rows : int
        The number of all rows concerned.

    Examples
    --------
    >>> import thetahat as th
    >>> found = th.check([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]], names=["size", "unit"])
    >>> found[0].check, found[0].columns
    ('constants', ('unit',))
    """

    check: str
    severity: str
    what: str
    why: str
    action: str
    columns: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    n_rows: int = 0

    def as_data(self, *, first_row: int = 0) -> dict[str, Any]:
        """The finding as plain values, for JSON. Cost: O(rows).

        Parameters
        ----------
        first_row : int, default=0
            The number that the first row of the table gets, 0 or 1.

        Returns
        -------
        dict
        """
        return {
            "check": self.check,
            "severity": self.severity,
            "what": self.what,
            "why": self.why,
            "action": self.action,
            "columns": list(self.columns),
            "rows": [row + first_row for row in self.rows],
            "n_rows": self.n_rows,
        }

    def where(self, *, first_row: int = 0) -> str:
        """The columns and rows concerned, in words; "" if there are none. Cost: O(1).

        Parameters
        ----------
        first_row : int, default=0
            The number that the first row of the table gets, 0 or 1.

        Returns
        -------
        str
        """
        parts = []
        if self.columns:
            one = "column " if len(self.columns) == 1 else "columns "
            parts.append(one + listed(self.columns, COLUMNS_SHOWN))
        if self.n_rows:
            rows = [f"{row + first_row:,}" for row in self.rows]
            one = "row " if self.n_rows == 1 else "rows "
            parts.append(one + listed(rows, ROWS_SHOWN, self.n_rows))
        return "; ".join(parts)

    def __str__(self) -> str:
        where = self.where()
        return f"{self.severity}: {self.what}\n  {self.why}\n  {self.action}" + (
            f"\n  ({where})" if where else ""
        )

    __repr__ = __str__


@dataclass(frozen=True)
class Findings:
    """All findings of `check`, the severe ones first; prints as a list.

    Formula: sorted by severity, then in the order of the finders. Cost: O(findings).

    Attributes
    ----------
    found : tuple of Finding
        The findings, the severe ones first.
    n_rows, n_columns : int
        The size of the table that was checked.
    task : str or None
        The task for the target, "classification" or "regression". None without a target.
    severe, warnings, notes : tuple of Finding
        The findings of each severity, in the same order.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(200, 3, noise=1.0, random_state=0)
    >>> len(th.check(data.X, data.y).severe)
    0
    """

    found: tuple[Finding, ...]
    n_rows: int
    n_columns: int
    task: str | None = None

    @property
    def severe(self) -> tuple[Finding, ...]:
        """The findings because of which a score should not be trusted."""
        return self._of("severe")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that may change a score."""
        return self._of("warning")

    @property
    def notes(self) -> tuple[Finding, ...]:
        """The findings that are good to know."""
        return self._of("note")

    def _of(self, severity: str) -> tuple[Finding, ...]:
        return tuple(each for each in self.found if each.severity == severity)

    def of(self, check: str) -> tuple[Finding, ...]:
        """The findings of one finder. Cost: O(findings).

        Parameters
        ----------
        check : str
            The name of the finder, such as "copies" or "leaks".

        Returns
        -------
        tuple of Finding
        """
        return tuple(each for each in self.found if each.check == check)

    @property
    def summary(self) -> str:
        """The number of findings of each severity, in words."""
        counts = [
            f"{len(some)} {one if len(some) == 1 else many}"
            for some, one, many in (
                (self.severe, "severe finding", "severe findings"),
                (self.warnings, "warning", "warnings"),
                (self.notes, "note", "notes"),
            )
            if some
        ]
        return ", ".join(counts) or "nothing found"

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.found)

    def __getitem__(self, place: int) -> Finding:
        return self.found[place]

    def __str__(self) -> str:
        return "\n".join([self.summary, *map(str, self.found)])

    __repr__ = __str__


def by_severity(found: list[Finding]) -> tuple[Finding, ...]:
    """The findings, severe ones first, otherwise in their order."""
    return tuple(sorted(found, key=lambda each: SEVERITIES.index(each.severity)))


def listed(names: Any, most: int, total: int | None = None) -> str:
    """The first few names, and how many more there are."""
    total = len(names) if total is None else total
    shown = ", ".join(str(each) for each in names[:most])
    more = total - min(most, len(names))
    return f"{shown}, … ({more:,} more)" if more > 0 else shown


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number and its noun: "1 row", "2,000 rows"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
