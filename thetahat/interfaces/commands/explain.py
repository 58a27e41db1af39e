"""``thetahat explain``: importances, effects and coefficients of a saved model."""

from __future__ import annotations

import argparse
from datetime import date, time
from typing import Any

from thetahat.interfaces.commands import options
from thetahat.interfaces.console import Console, signed, tidy

MOST = 15
"""Largest number of columns or coefficients that are printed."""
FEW = 4
"""Largest number of contributions that are printed for a row."""


def add(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "explain",
        help="show which columns matter to a saved model, measured on rows with known targets",
        description="Explain a saved model on a table that contains the target: how much the score "
        "falls when a column is shuffled, how predictions depend on the most important columns, "
        "the contributions of the columns to single predictions, and the coefficients of linear "
        "models. Use rows that the model was not trained on.",
    )
    parser.add_argument("model", help="a file written by thetahat fit")
    options.add_data(parser, target=False)
    parser.add_argument("--target", "-t", help="the target column (default: as in training)")
    parser.add_argument("--scoring", help="name of a scikit-learn metric")
    parser.add_argument("--report", metavar="FILE", help="write an HTML page to this file")
    options.add_output(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Load the model, read the table, and print the explanation."""
    from thetahat.foundation.errors import DataError, ParameterError
    from thetahat.interfaces.explanation import explain
    from thetahat.interfaces.notes import saved_kinds, saved_notations, saved_target, saved_task
    from thetahat.interfaces.plain import as_json
    from thetahat.interfaces.plotted import plotted
    from thetahat.interfaces.prediction import UnknownValues, as_seen, require_names
    from thetahat.interfaces.problem import require_target
    from thetahat.interfaces.quality import quality
    from thetahat.interfaces.scoring import require_scoring
    from thetahat.interfaces.tables.reading import read_table
    from thetahat.interfaces.threshold import decided
    from thetahat.interfaces.truth import known_targets
    from thetahat.persistence.description import describe_file
    from thetahat.persistence.model_file import load

    console = Console(quiet=arguments.quiet)
    if arguments.report:
        files = {arguments.model: "the model", arguments.data: "the table"}
        options.require_output(arguments.report, files)
    notes = describe_file(arguments.model).notes
    saved_task(notes)  # refused if it was altered
    model = decided(load(arguments.model), notes)
    kinds = saved_kinds(model, notes)
    target = arguments.target or saved_target(notes)
    if target is None:
        raise DataError("The file does not name the target of the model. Use --target COLUMN.")
    if target in kinds:
        raise ParameterError(
            f"--target {target}: the model uses this column to predict. Name another column."
        )
    table = read_table(arguments.data, delimiter=arguments.delimiter, encoding=arguments.encoding)
    require_names(kinds, table.columns, arguments.data)
    require_target(table, target)
    truth = known_targets(table[target], model)
    rows = table[truth.rows]
    unknown = UnknownValues()
    X = as_seen(rows, kinds, saved_notations(notes, kinds), model, unknown)
    for line in unknown.lines():
        console.say(f"note: {line}")
    scoring = arguments.scoring or ("accuracy" if truth.task == "classification" else "r2")
    require_scoring(scoring, truth.task, truth.y)
    seen = _warning(arguments.data, notes)
    if seen:
        console.warn(f"warning: {seen}")
    held = _held(model, X, truth)
    found = explain(model, X, truth.y, scoring=scoring, held=held, file_rows=truth.rows)
    if arguments.report:
        from thetahat.interfaces.report.explain_page import write_page

        write_page(arguments.report, arguments.model, arguments.data, target, X, held, found, seen)
    if arguments.json:
        judged = quality(held)
        drawn = plotted(judged, X, found.most_important, truth.rows)
        data = {
            "data": arguments.data,
            "target": target,
            "rows": truth.n_rows,
            "warning": seen or None,
            **found.as_data(),
            "quality": {**judged.as_data(), "plotted": drawn},
            "report": arguments.report,
        }
        console.result(as_json(data))
        return
    console.result(f"{scoring} {found.importances.score:.4g} on {truth.n_rows:,} rows of {target}")
    _print(found, scoring, console)
    if arguments.report:
        console.result(f"\nreport: {arguments.report}")


def _print(found: Any, scoring: str, console: Console) -> None:
    """Importances, effects, explained rows and coefficients as text."""
    console.result()
    rows_shown = [
        [str(name), *_cells(each)] for name, each in list(found.importances.intervals.items())
    ]
    console.table(["column", f"loss of {scoring} if shuffled", "95% interval"], rows_shown[:MOST])
    for effect in found.effects:
        low, high = int(effect.mean.argmin()), int(effect.mean.argmax())
        console.result(
            f"\n{effect.column}: the {effect.response} is lowest, {tidy(effect.mean[low], 4)}, at "
            f"{_value(effect.values[low])}, and highest, {tidy(effect.mean[high], 4)}, at "
            f"{_value(effect.values[high])}"
        )
    if found.singles is not None:
        _print_singles(found.singles, console)
    if found.coefficients:
        console.result()
        console.table(
            ["coefficient (columns scaled to standard deviation 1)", "value", "95% interval"],
            [[name, *_cells(each)] for name, each in found.coefficients.items()][:MOST],
        )


def _cells(each: Any) -> list[str]:
    return [tidy(each.estimate), f"{tidy(each.low)} to {tidy(each.high)}"]


def _held(model: Any, X: Any, truth: Any) -> Any:
    """The predictions of the rows."""
    import numpy as np

    from thetahat.interfaces.quality import Held, class_probabilities

    rows, predicted = np.arange(truth.n_rows), np.asarray(model.predict(X))
    if truth.task != "classification":
        return Held(rows, truth.y, predicted)
    classes = np.asarray(model.classes_)
    return Held(rows, truth.y, predicted, class_probabilities(model, X, classes), classes)


def _warning(data: str, notes: dict[str, Any]) -> str:
    """A warning if the rows are those of the training; "" otherwise."""
    from thetahat.interfaces.tables.reading import digest_of

    origin = notes.get("origin")
    if not isinstance(origin, dict) or digest_of(data) != origin.get("sha256"):
        return ""
    return (
        f"the model was trained on {data}. On its training rows a model seems better than it is, "
        "and columns that it memorised seem important. Use rows that it has not seen."
    )


def _print_singles(found: Any, console: Console) -> None:
    """The rows that are explained, one line each."""
    console.result("\ncontributions of the columns to single predictions (Shapley values):")
    for each in found.rows:
        parts = ", ".join(f"{name} {signed(part)}" for name, _, part in each.parts[:FEW])
        console.result(
            f"  row {each.row} ({each.why}): {each.response} {tidy(each.total, 4)}, on average "
            f"{tidy(each.base, 4)}; {parts}"
        )


def _value(value: Any) -> str:
    if isinstance(value, date | time):
        return value.isoformat()
    return tidy(value, 4) if isinstance(value, float) else repr(value)
