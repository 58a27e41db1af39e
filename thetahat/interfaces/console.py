"""Output of the command line: tables and progress on a terminal, plain lines in a pipe."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any, TextIO

from thetahat.foundation.printable import printable

Progress = Callable[[int, int, str], None]
PERIOD = 10.0
"""Seconds between two lines of progress where there is no terminal."""
LARGEST_WHOLE = 1e9
"""Numbers from 1,000 to this one are shown as a whole."""


@dataclass(frozen=True)
class Console:
    """Results go to standard output, everything else to standard error."""

    quiet: bool = False

    def result(self, text: str = "") -> None:
        """Print a result."""
        print(printable(text, keep="\n\t"))

    def say(self, text: str = "") -> None:
        """Print further information."""
        if not self.quiet:
            print(printable(text, keep="\n\t"), file=sys.stderr)

    def warn(self, text: str) -> None:
        """Print a warning, also if only results are wanted."""
        print(printable(text), file=sys.stderr)

    def styled(self, lines: Sequence[str], *, aside: bool = False) -> None:
        """Print lines with their colours, as results, or aside as further information.

        Text from files in them must have passed `printable`.
        """
        if not (aside and self.quiet):
            for line in lines:
                print(line, file=sys.stderr if aside else sys.stdout)

    def table(
        self, headers: Sequence[str], rows: Sequence[Sequence[str]], *, best: int = -1
    ) -> None:
        """Print a table: drawn on a terminal, aligned text elsewhere; row `best` is highlighted."""
        rows = [[printable(cell) for cell in row] for row in rows]
        if _rich_on(sys.stdout):
            _rich_table(headers, rows, best)
        else:
            print(aligned(headers, rows))

    @contextmanager
    def progress(self, what: str) -> Iterator[Progress]:
        """A function that reports progress, called with the steps done and their total."""
        if self.quiet:
            yield lambda done, total, name: None
        elif not sys.stderr.isatty():
            with _lines_of_progress(what) as report:
                yield report
        elif _rich_on(sys.stderr):
            with _rich_progress(what) as report:
                yield report
        else:
            yield _PlainProgress(what)
            print(file=sys.stderr)


def aligned(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Aligned columns of text; the first to the left, the others to the right."""
    table = [list(headers), *map(list, rows)]
    widths = [max(len(row[place]) for row in table) for place in range(len(headers))]
    lines = [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
    return "\n".join([lines[0], "─" * max(map(len, lines)), *lines[1:]])


def tidy(value: float, digits: int = 3) -> str:
    """Some digits, or whole with separators of thousands; 0 for rounding errors."""
    if value != value:
        return "–"
    if abs(value) < 1e-14:
        return "0"
    if 1000 <= abs(value) < LARGEST_WHOLE:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}".replace("e+", "e")


def signed(value: float) -> str:
    """The same with a sign, also of a positive number."""
    return f"+{tidy(value)}" if value > 1e-14 else tidy(value)


def color_wanted(stream: TextIO | None = None) -> bool:
    """Whether to use colours: on a terminal, unless NO_COLOR is set."""
    return (stream or sys.stdout).isatty() and not os.environ.get("NO_COLOR")


def _rich_on(stream: TextIO) -> bool:
    if not color_wanted(stream):
        return False
    try:
        import rich  # noqa: F401
    except ImportError:
        return False
    return True


def _rich_table(headers: Sequence[str], rows: Sequence[Sequence[str]], best: int) -> None:
    from rich.console import Console as Terminal
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, header in enumerate(headers):
        table.add_column(header, justify="left" if place == 0 else "right")
    for number, row in enumerate(rows):
        table.add_row(*(Text(cell) for cell in row), style="bold green" if number == best else "")
    Terminal().print(table)


@contextmanager
def _rich_progress(what: str) -> Iterator[Progress]:
    from rich.console import Console as Terminal
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns: list[Any] = [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    ]
    with Bar(*columns, console=Terminal(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def report(done: int, total: int, name: str) -> None:
            bar.update(task, completed=done, total=total, description=f"{what} {name}")

        yield report


@contextmanager
def _lines_of_progress(what: str) -> Iterator[Progress]:
    """A line every ten seconds, also if no step was finished since the last one."""
    begun, state, ended = time.monotonic(), ["begun"], Event()

    def report(done: int, total: int, name: str) -> None:
        state[0] = f"{done} of {total} done, last {name}"

    def tick() -> None:
        while not ended.wait(PERIOD):
            spent = time.monotonic() - begun
            print(printable(f"{what}: {state[0]}, {spent:.0f} s"), file=sys.stderr, flush=True)

    ticker = Thread(target=tick, daemon=True)
    ticker.start()
    try:
        yield report
    finally:
        ended.set()
        ticker.join()


class _PlainProgress:
    """One line that is overwritten, with the remaining time."""

    def __init__(self, what: str) -> None:
        self._what, self._begun = what, time.monotonic()

    def __call__(self, done: int, total: int, name: str) -> None:
        spent = time.monotonic() - self._begun
        left = spent / max(done, 1) * (total - done)
        line = f"{self._what} {done}/{total}, about {left:.0f} s left"
        print(f"\r{line:<60}", end="", file=sys.stderr, flush=True)
