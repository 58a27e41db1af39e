"""Results as one aligned table for people, and as JSON for comparison over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.harness import OURS, Finding, Judged, Measurement, Result

HEADER = (
    "case",
    "contender",
    "import",
    "cold",
    "warm",
    "memory",
    "quality",
    "/thetahat",
    "/limit",
)


def race_table(results: Sequence[Result]) -> str:
    """One row per case and contender, the limit as a row of its own."""
    rows: list[Sequence[str]] = []
    for result in results:
        label = result.case.name
        for measurement in result.measurements:
            rows.append((label, *_cells(result, measurement)))
            label = ""
        if result.limit_seconds is not None:
            share = result.ratio(result.ours, "limit")
            relative = count(1 / share) if share else ""
            limit = ("", f"limit: {result.case.limit_name}", "", "", seconds(result.limit_seconds))
            rows.append((*limit, "", "", relative, count(1.0)))
        note = f"quality: {result.case.quality_name}"
        if result.quality_holds is False:
            note += "   ✗ WORSE THAN THE BEST PEER"
        rows.append(("", note))
        if not result.was_quiet:
            others = f"{result.cores_of_others:.1f} cores"
            rows.append(("", f"✗ BUSY: other programs used {others}; these times prove nothing"))
        rows.append(())
    return aligned(HEADER, rows, left=2)


def _cells(result: Result, measurement: Measurement) -> tuple[str, ...]:
    if measurement.error:
        return (measurement.contender, f"failed: {measurement.error}")
    return (
        measurement.contender,
        seconds(measurement.import_seconds),
        seconds(measurement.cold_seconds),
        seconds(measurement.warm_seconds),
        size(measurement.peak_bytes),
        "" if measurement.quality is None else f"{measurement.quality:.10g}",
        count(result.ratio(measurement, OURS)),
        count(result.ratio(measurement, "limit")),
    )


def finding_table(finding: Finding) -> str:
    """The rows of a study."""
    header = tuple(finding.rows[0]) if finding.rows else ()
    rows = [
        tuple(finding.show.get(column, str)(value) for column, value in row.items())
        for row in finding.rows
    ]
    return aligned(header, rows, left=1)


def bar_lines(bars: Sequence[Judged]) -> str:
    """Each bar with its mark and the value measured."""
    width = max((len(text) for text, _, _ in bars), default=0)
    marks = {True: "✓", False: "✗", None: "?"}
    lines = []
    for text, value, holds in bars:
        measured = "not measured" if value is None else f"{value:.3g}"
        reason = "  (not judged: the machine was busy)" if holds is None else ""
        lines.append(f"  {marks[holds]} {text:<{width}}  {measured}{reason}")
    return "\n".join(lines)


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    """Columns of equal width: the first `left` to the left, numbers to the right.

    A row of fewer cells than the header is a note: its last cell may run over the columns.
    """
    widths = [len(cell) for cell in header]
    for row in rows:
        for i, cell in enumerate(row if len(row) == len(header) else row[:-1]):
            widths[i] = max(widths[i], len(cell))
    lines = []
    for row in (header, tuple("-" * width for width in widths), *rows):
        cells = [
            cell.ljust(width) if i < left or len(row) < len(header) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def seconds(value: float | None) -> str:
    """Three digits in the unit that fits."""
    if value is None:
        return ""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def size(value: int | None) -> str:
    """Bytes in MiB."""
    return "" if value is None else f"{value / 2**20:.1f} MiB"


def count(value: float | None) -> str:
    """A ratio."""
    return "" if value is None else f"{value:.2f}×" if value < 100 else f"{value:.0f}×"


def result_as_data(result: Result) -> dict[str, Any]:
    """One case, as kept in JSON."""
    return {
        "case": result.case.name,
        "quality_name": result.case.quality_name,
        "quality_holds": result.quality_holds,
        "limit": result.case.limit_name,
        "limit_seconds": result.limit_seconds,
        "cores_of_others": result.cores_of_others,
        "ratio_to_fastest_peer": result.ratio(result.ours, "fastest peer"),
        "ratio_to_limit": result.ratio(result.ours, "limit"),
        "measurements": [asdict(measurement) for measurement in result.measurements],
        "bars": bars_as_data(result.bars()),
    }


def bars_as_data(bars: Sequence[Judged]) -> list[dict[str, Any]]:
    return [{"bar": text, "measured": value, "holds": holds} for text, value, holds in bars]
