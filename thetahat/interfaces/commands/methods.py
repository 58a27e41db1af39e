"""``thetahat methods``: list the methods of the registry."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

from thetahat.foundation.errors import ParameterError
from thetahat.interfaces.console import color_wanted


def add(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "methods",
        help="list the methods that thetahat covers, and how many are available today",
        description="List the methods by area, with the public names that serve each.",
    )
    parser.add_argument(
        "--area", metavar="NAME", help="only this area: its letter, or a part of its title"
    )
    parser.add_argument(
        "--kinds",
        action="store_true",
        help="list the models instead: generative or discriminative, parametric or not",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a list")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the methods."""
    if arguments.kinds:
        _print_kinds(as_json=arguments.json)
        return
    from thetahat import registry

    chosen = registry.rows()
    if arguments.area is not None:
        letters = _matching_areas(arguments.area, registry.areas())
        chosen = tuple(row for row in chosen if row.area in letters)
    if arguments.json:
        print(json.dumps(registry.as_data(chosen), indent=2, ensure_ascii=False))
    else:
        print(registry.report(chosen, color=color_wanted()))


def _print_kinds(*, as_json: bool) -> None:
    from thetahat.catalog import taxonomy

    found = taxonomy()
    print(json.dumps(found.kinds, indent=2) if as_json else found)


def _matching_areas(name: str, areas: Mapping[str, str]) -> set[str]:
    if name.upper() in areas:
        return {name.upper()}
    letters = {letter for letter, title in areas.items() if name.lower() in title.lower()}
    if not letters:
        raise ParameterError(
            f"there is no area {name!r}. The areas are "
            + "; ".join(f"{letter} {title}" for letter, title in areas.items())
            + "."
        )
    return letters
