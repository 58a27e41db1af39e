"""``thetahat predict``: predict the rows of a file, one batch at a time."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from thetahat.foundation.errors import ParameterError
from thetahat.interfaces.commands import options
from thetahat.interfaces.console import Console


def add(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "predict",
        help="predict the rows of a file with a saved model",
        description="Predict every row of a file with a saved model. Columns are matched by name. "
        "Rows are read and written in batches, so the file may be larger than memory.",
    )
    parser.add_argument("model", help="a file written by thetahat fit or th.save")
    options.add_data(parser, target=False)
    parser.add_argument(
        "--output", "-o", default="-", metavar="FILE", help="CSV file to write (default: print)"
    )
    parser.add_argument(
        "--interval",
        type=float,
        metavar="LEVEL",
        help="add intervals, or sets of classes, that contain the truth for this share of new "
        "rows, such as 0.9",
    )
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="COLUMN",
        help="copy a column of the input, such as an identifier, to the output (repeatable)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print a summary as JSON; needs --output FILE"
    )
    parser.add_argument(
        "--quiet", "-q", action="store_true", help="do not report unknown categories and values"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Load the model, match the columns, and predict batch by batch."""
    from thetahat.interfaces.notes import saved_kinds, saved_notations, saved_target
    from thetahat.interfaces.plain import as_json
    from thetahat.interfaces.prediction import (
        UnknownValues,
        predicted,
        require_free_names,
        require_names,
        sureness_asked_for,
    )
    from thetahat.interfaces.tables.reading import column_names, read_batches
    from thetahat.interfaces.threshold import decided
    from thetahat.persistence.description import describe_file
    from thetahat.persistence.model_file import load

    if arguments.json and arguments.output == "-":
        raise ParameterError("--json needs --output FILE, as predictions are printed otherwise.")
    if arguments.output != "-":
        files = {arguments.model: "the model", arguments.data: "the table"}
        options.require_output(arguments.output, files)
    console = Console(quiet=arguments.quiet)
    notes = describe_file(arguments.model).notes
    model = decided(load(arguments.model), notes)
    sureness = sureness_asked_for(model, notes, arguments.interval)
    kinds, keep = saved_kinds(model, notes), list(dict.fromkeys(arguments.keep))
    notations = saved_notations(notes, kinds)
    target = saved_target(notes) or "prediction"
    require_free_names(keep, model, target, sureness)
    how = {"delimiter": arguments.delimiter, "encoding": arguments.encoding}
    columns = None
    if arguments.data != "-":
        found = column_names(arguments.data, **how)
        require_names(kinds, found, arguments.data)
        _require_kept(keep, found)
        columns = list(dict.fromkeys([*keep, *kinds]))
    batches = read_batches(arguments.data, columns=columns, **how)
    unknown = UnknownValues()
    with _output(arguments.output) as file:
        first = True
        named = _named(batches, kinds, keep)
        for table in predicted(
            model,
            named,
            kinds,
            notations,
            unknown,
            target,
            keep=keep,
            sureness=sureness,
        ):
            file.write(table.write_csv(include_header=first).encode())
            first = False
    if arguments.json:
        console.result(as_json({"file": arguments.output, **unknown.as_data()}))
        return
    for line in unknown.lines():
        console.say(f"note: {line}")
    if arguments.output != "-":
        console.say(f"{arguments.output}: {unknown.n_rows:,} predictions of {target}")


def _require_kept(keep: list[str], columns: list[str]) -> None:
    for name in keep:
        if name not in columns:
            raise ParameterError(
                f"--keep {name}: there is no column {name!r}. Columns: {', '.join(columns[:20])}."
            )


def _named(batches: Iterator[Any], kinds: dict[str, str], keep: list[str]) -> Iterator[Any]:
    """The batches, each checked to have all needed columns."""
    from thetahat.interfaces.prediction import require_names

    for batch in batches:
        require_names(kinds, batch.columns, "the input")
        _require_kept(keep, batch.columns)
        yield batch


@contextmanager
def _output(path: str) -> Iterator[BinaryIO]:
    if path == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    from thetahat.foundation.atomic_file import atomic_file

    with atomic_file(path) as file:
        yield file
