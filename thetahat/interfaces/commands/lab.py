"""``thetahat lab``: start the web lab, if it is installed."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from typing import Any

from thetahat.foundation.errors import MissingExtraError

LAB = "thetahat.interfaces.lab"


def add(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "lab", help="start the web lab, if installed", description="Start the web lab."
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Start the lab, or raise an error if it is not installed."""
    if find_spec(LAB) is None:
        raise MissingExtraError(
            "the web lab is not part of this installation. The other commands work without it: "
            "thetahat --help."
        )
    from importlib import import_module

    import_module(LAB).run(arguments)
