"""``thetahat inspect``: describe a model file, without loading the model."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from thetahat.interfaces.console import Console


def add(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "inspect",
        help="describe a model file, without running anything in it",
        description="Describe a model file: the model, its parameters, the columns of the training "
        "rows, its size. Nothing in the file is run.",
    )
    parser.add_argument("model", help="a file written by thetahat fit or th.save")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the description."""
    from thetahat.foundation.printable import printable
    from thetahat.interfaces.plain import as_json
    from thetahat.interfaces.threshold import saved_words
    from thetahat.persistence.description import describe_file

    found = describe_file(arguments.model)
    if arguments.json:
        Console().result(as_json(asdict(found)))
        return
    words = saved_words(found.notes)
    Console().result(f"{found}\n  threshold   {printable(words)}" if words else str(found))
