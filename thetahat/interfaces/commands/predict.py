"""``thetahat predict``: predict the rows of a file, one batch at a time."""

from __future__ import annotations

import argparse
import json
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
        "--json", action="store_true", help="print a summary as JSON; needs --output FILE"
    )
    parser.add_argument(
        "--quiet", "-q", action="store_true", help="do not report unknown categories and values"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Load the model, match the columns, and predict batch by batch."""
    from thetahat.interfaces.prediction import (
        UnknownValues,
        predicted,
        require_names,
        saved_kinds,
        saved_notations,
    )
    from thetahat.interfaces.tables.reading import column_names, read_batches
    from thetahat.interfaces.threshold import decided
    from thetahat.persistence.description import describe_file
    from thetahat.persistence.model_file import load

    if arguments.json and arguments.output == "-":
        raise ParameterError("--json needs --output FILE, as predictions are printed otherwise.")
    console = Console(quiet=arguments.quiet)
    notes = describe_file(arguments.model).notes
    model = decided(load(arguments.model), notes)
    kinds = saved_kinds(model, notes)
    how = {"delimiter": arguments.delimiter, "encoding": arguments.encoding}
    columns = None
    if arguments.data != "-":
        require_names(kinds, column_names(arguments.data, **how), arguments.data)
        columns = list(kinds)
    batches = read_batches(arguments.data, columns=columns, **how)
    unknown = UnknownValues()
    target = str(notes.get("predicts", "prediction"))
    with _output(arguments.output) as file:
        first = True
        named = _named(batches, kinds)
        for table in predicted(model, named, kinds, saved_notations(notes), unknown, target):
            file.write(table.write_csv(include_header=first).encode())
            first = False
    if arguments.json:
        console.result(json.dumps({"file": arguments.output, **unknown.as_data()}, indent=2))
        return
    for line in unknown.lines():
        console.say(f"note: {line}")
    if arguments.output != "-":
        console.say(f"{arguments.output}: {unknown.n_rows:,} predictions of {target}")


def _named(batches: Iterator[Any], kinds: dict[str, str]) -> Iterator[Any]:
    """The batches, each checked to have all needed columns."""
    from thetahat.interfaces.prediction import require_names

    for batch in batches:
        require_names(kinds, batch.columns, "the input")
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
