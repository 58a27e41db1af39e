"""``thetahat inspect``: what a model file holds, without loading the model."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from thetahat.interfaces.console import Console


def add(commands: Any) -> None:
    """The options of the command."""
    parser = commands.add_parser(
        "inspect",
        help="what a model file holds; runs nothing of it",
        description="Say what a model file holds: the model, its parameters, the columns it was "
        "trained on, its size. Nothing in the file is run.",
    )
    parser.add_argument("model", help="a file written by thetahat fit or th.save")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the description."""
    from thetahat.persistence.description import describe_file

    found = describe_file(arguments.model)
    text = json.dumps(asdict(found), indent=2, ensure_ascii=False) if arguments.json else str(found)
    Console().result(text)
