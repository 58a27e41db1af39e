"""The findings about the table of a problem, with what the command does about each."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import numpy as np
import polars as pl

from thetahat.evaluation.findings.check import check_table
from thetahat.evaluation.findings.drift import find_drift
from thetahat.evaluation.findings.finding import Finding, Findings, by_severity
from thetahat.evaluation.findings.seen import find_seen
from thetahat.evaluation.findings.table import CheckedTable, checked_table
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.printable import printable
from thetahat.foundation.types import Array
from thetahat.interfaces.problem import Problem
from thetahat.interfaces.splits import Asked, Splits
from thetahat.interfaces.tables.columns import ColumnFinding, retyped

MARKS = {"severe": "✖", "warning": "▲", "note": "•"}
COLORS = {"severe": "31;1", "warning": "33", "note": "36"}


def table_of(problem: Problem, asked: Asked) -> CheckedTable:
    """All columns of the problem, also those left out, but not the one that names the groups."""
    columns = pl.DataFrame([f.values for f in problem.columns if f.name != asked.group])
    target = pl.Series(problem.target, problem.y)
    table = checked_table(columns, target, task=problem.task)
    for each in table.columns:
        if each.name == asked.time and not each.is_number:
            raise ParameterError(
                f"--time {asked.time}: the column holds {each.kind} values, but must hold dates or "
                "numbers."
            )
    return replace(table, rows=problem.rows)


def further_table(problem: Problem, table: pl.DataFrame) -> CheckedTable:
    """Further rows, whose columns are read as those of the problem were."""
    notations = problem.notations
    columns = [
        retyped(table[name], kind, notations.get(name, ""))
        for name, kind in problem.kinds.items()
        if name in table.columns
    ]
    return checked_table(pl.DataFrame(columns))


def findings_of(
    problem: Problem,
    table: CheckedTable,
    asked: Asked,
    splits: Splits | None = None,
    test: CheckedTable | None = None,
) -> Findings:
    """The findings; with `splits` as seen by a comparison, else as seen by a check alone."""
    copied = None if splits is None else splits.copied
    found = check_table(table, time=asked.time, copied=copied)
    left_out = {each.name for each in problem.columns if each.kind == "drop"}
    constant = {name for each in found.of("constants") for name in each.columns}
    adapted = [
        _with_action(each, left_out, splits, asked)
        for each in found
        if not (each.check == "numbers" and constant.issuperset(each.columns))
    ]
    if test is not None:
        used = tuple(each for each in table.columns if each.name not in left_out)
        train = replace(table, columns=used)
        adapted += [*find_seen(train, test), *find_drift(train, test)]
    adapted += [each for each in map(_read_from_text, problem.columns) if each is not None]
    return replace(found, found=by_severity(adapted))


def _read_from_text(column: ColumnFinding) -> Finding | None:
    """A column of numbers that were read from text with a unit, or with gaps for words."""
    if column.kind != "numeric" or not (column.warnings or column.written):
        return None
    what = f"{column.name} holds numbers written with {column.written}."
    if column.warnings:
        what = column.warnings[0].partition(" and are treated")[0] + "."
    return Finding(
        "numbers",
        "warning" if column.warnings else "note",
        what,
        "As text, every number is a category of its own, and its order is lost.",
        "It is read as numbers"
        + (", and the other values as missing" if column.warnings else "")
        + f"; --kind {column.name}=categorical keeps the text.",
        (column.name,),
    )


def _with_action(
    finding: Finding, left_out: set[str], splits: Splits | None, asked: Asked
) -> Finding:
    """The finding with what was done about it, and how to change that."""
    names = finding.columns
    gone = bool(names) and set(names) <= left_out
    if finding.check in ("leaks", "identifiers", "constants"):
        if gone:
            action = f"{'It is' if len(names) == 1 else 'They are'} left out" + (
                f"; --keep {names[0]} keeps it." if finding.check != "constants" else "."
            )
            severity = "note" if finding.check == "identifiers" else finding.severity
            if finding.check == "leaks":
                severity = "warning"
            return replace(finding, action=action, severity=severity)
        used = [name for name in names if name not in left_out]
        known = "" if finding.check != "leaks" else " unless it is known before the target is"
        action = f"It is used. Leave it out with --kind {used[0]}=drop{known}."
        return replace(finding, action=action)
    if finding.check == "numbers":
        done = "It is left out." if gone else "It is used as categories."
        remedy = finding.action.partition(";")[0].rstrip(".")
        return replace(finding, action=f"{done} {remedy}.")
    if finding.check == "groups":
        if asked.group in names:
            return replace(finding, severity="note", action="Its groups are kept together.")
        action = (
            f"Rows of a group are not kept together. Use --group {names[0]} if new rows come from "
            "new groups."
        )
        return replace(finding, action=action)
    if finding.check == "time":
        return _about_time(finding, splits, asked)
    if finding.check == "classes" and finding.action.startswith("Use ") and splits is not None:
        return replace(finding, action=finding.action + " --scoring NAME sets the metric.")
    if finding.check == "copies" and finding.action.startswith("Remove"):
        if splits is None:
            action = "thetahat compare keeps the copies of a row in one fold."
        elif splits.copies:
            action = "The copies of a row are kept in one fold."
            if finding.severity == "severe":
                finding = replace(finding, severity="warning")
        else:
            action = "Remove the copies: the folds by --group may separate them."
        return replace(finding, action=action)
    return finding


def _about_time(finding: Finding, splits: Splits | None, asked: Asked) -> Finding:
    name = finding.columns[0]
    if asked.no_time:
        return replace(
            finding, severity="warning", action="The rows are shuffled as requested (--no-time)."
        )
    if splits is None:
        action = (
            f"thetahat compare trains on earlier rows and predicts later ones, in the order of "
            f"{name}; --no-time shuffles them."
        )
        return replace(finding, action=action)
    if splits.time == name:
        severity = "note" if asked.time else "warning"
        action = (
            f"The folds are in the order of {name}: models are trained on earlier rows and predict "
            "later ones. --no-time shuffles them."
        )
        return replace(finding, severity=severity, action=action)
    return replace(finding, action=f"Use --time {name} to train on earlier rows only.")


def with_remark(findings: Findings, splits: Splits, remark: str) -> Findings:
    """The findings, where the one that led to these folds also gives the scores of other folds."""
    reason = "time" if splits.time else "copies"
    changed = [
        replace(each, action=f"{each.action} {remark[:1].upper()}{remark[1:]}.")
        if each.check == reason and "fold" in each.action
        else each
        for each in findings
    ]
    return replace(findings, found=tuple(changed))


def lines(findings: Findings, *, color: bool = False, width: int = 96) -> list[str]:
    """The findings as lines of text; notes without the reason why they matter."""
    found = []
    for each in findings:
        mark = f"{MARKS[each.severity]} {each.severity}"
        if color:
            mark = f"\033[{COLORS[each.severity]}m{mark}\033[0m"
        head = _wrapped(f"{each.check}: {each.what}", width)
        found.append(f"{mark}{' ' * (10 - 2 - len(each.severity))} {head[0]}")
        why = [] if each.severity == "note" else _wrapped(each.why, width)
        rest = [*head[1:], *why, *_wrapped(f"→ {each.action}", width)]
        where = each.where(first_row=1)
        rest += _wrapped(where, width) if where else []
        found += [" " * 11 + line for line in rest]
    return found


def _wrapped(text: str, width: int) -> list[str]:
    indent = "  " * text.startswith("→")
    return textwrap.wrap(
        printable(text), max(20, width - 11), subsequent_indent=indent, break_on_hyphens=False
    ) or [""]


def group_of(problem: Problem, asked: Asked) -> Array | None:
    """The number of the group of every row; None if no column names groups."""
    if asked.group is None:
        return None
    values = next(each.values for each in problem.columns if each.name == asked.group)
    column = checked_table(pl.DataFrame([values])).columns[0]
    return np.asarray(column.coded[0])
