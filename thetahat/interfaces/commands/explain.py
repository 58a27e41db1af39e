"""``thetahat explain``: importances, effects and coefficients of a saved model."""

from __future__ import annotations

import argparse
import json
from datetime import date, time
from typing import Any

from thetahat.interfaces.commands import options
from thetahat.interfaces.console import Console

MOST = 15
"""Largest number of columns or coefficients that are printed."""


def add(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "explain",
        help="show which columns matter to a saved model, measured on rows with known targets",
        description="Explain a saved model on a table that contains the target: how much the score "
        "falls when a column is shuffled, how predictions depend on the most important columns, "
        "and the coefficients of linear models, all with confidence intervals.",
    )
    parser.add_argument("model", help="a file written by thetahat fit")
    options.add_data(parser, target=False)
    parser.add_argument("--target", "-t", help="the target column (default: as in training)")
    parser.add_argument("--scoring", help="name of a scikit-learn metric")
    options.add_output(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Load the model, read the table, and print the explanation."""
    from thetahat.foundation.errors import DataError, ParameterError
    from thetahat.interfaces.explanation import explain
    from thetahat.interfaces.prediction import (
        UnknownValues,
        as_seen,
        require_names,
        saved_kinds,
        saved_notations,
    )
    from thetahat.interfaces.problem import pose, require_target
    from thetahat.interfaces.scoring import require_scoring
    from thetahat.interfaces.tables.reading import read_table
    from thetahat.persistence.description import describe_file
    from thetahat.persistence.model_file import load

    console = Console(quiet=arguments.quiet)
    notes = describe_file(arguments.model).notes
    model = load(arguments.model)
    kinds = saved_kinds(model, notes)
    target = arguments.target or notes.get("predicts")
    if target is None:
        raise DataError("The file does not name the target of the model. Use --target COLUMN.")
    if target in kinds:
        raise ParameterError(
            f"--target {target}: the model uses this column to predict. Name another column."
        )
    table = read_table(arguments.data, delimiter=arguments.delimiter, encoding=arguments.encoding)
    require_names(kinds, table.columns, arguments.data)
    require_target(table, target)
    task = str(notes.get("task", "auto"))
    problem = pose(table.select(*kinds, target), target, task=task, keep=tuple(kinds))
    rows = table.filter(table[target].is_not_null())
    if rows.height != problem.n_rows:
        raise DataError(
            f"Some rows of {arguments.data} cannot be used: {'; '.join(problem.notes)}. Remove "
            "these rows."
        )
    unknown = UnknownValues()
    X = as_seen(rows, kinds, saved_notations(notes), model, unknown)
    for line in unknown.lines():
        console.say(f"note: {line}")
    scoring = arguments.scoring or ("accuracy" if problem.task == "classification" else "r2")
    require_scoring(scoring, problem.task, problem.y)
    found = explain(model, X, problem.y, scoring=scoring)
    if arguments.json:
        console.result(json.dumps(as_data(found), indent=2, ensure_ascii=False))
        return
    console.result(
        f"{scoring} {found.importances.score:.4g} on {problem.n_rows:,} rows of {target}"
    )
    console.result()
    rows_shown = [
        [str(name), f"{each.estimate:.3g}", f"{each.low:.3g} to {each.high:.3g}"]
        for name, each in list(found.importances.intervals.items())[:MOST]
    ]
    console.table(["column", f"loss of {scoring} if shuffled", "95% interval"], rows_shown)
    for effect in found.effects:
        low, high = int(effect.mean.argmin()), int(effect.mean.argmax())
        console.result(
            f"\n{effect.column}: the {effect.response} is lowest, {effect.mean[low]:.4g}, at "
            f"{_value(effect.values[low])}, and highest, {effect.mean[high]:.4g}, at "
            f"{_value(effect.values[high])}"
        )
    if found.coefficients:
        console.result()
        console.table(
            ["coefficient (columns scaled to standard deviation 1)", "value", "95% interval"],
            [
                [name, f"{each.estimate:.3g}", f"{each.low:.3g} to {each.high:.3g}"]
                for name, each in list(found.coefficients.items())[:MOST]
            ],
        )


def as_data(found: Any) -> dict[str, Any]:
    """The explanation as plain values."""

    def plain(interval: Any) -> dict[str, float]:
        return {"value": interval.estimate, "low": interval.low, "high": interval.high}

    return {
        "score": found.importances.score,
        "metric": found.importances.metric,
        "importances": {str(k): plain(v) for k, v in found.importances.intervals.items()},
        "effects": [
            {
                "column": str(each.column),
                "response": each.response,
                "values": [_plain_value(value) for value in each.values],
                "mean": each.mean.tolist(),
                "low": each.low.tolist(),
                "high": each.high.tolist(),
            }
            for each in found.effects
        ],
        "coefficients": found.coefficients
        and {name: plain(each) for name, each in found.coefficients.items()},
    }


def _plain_value(value: Any) -> Any:
    """A value that JSON can represent: dates and times as ISO text."""
    if isinstance(value, date | time):
        return value.isoformat()
    return value if isinstance(value, int | float | str | None) else str(value)


def _value(value: Any) -> str:
    if isinstance(value, date | time):
        return value.isoformat()
    return f"{value:.4g}" if isinstance(value, float) else repr(value)
