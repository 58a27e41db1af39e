"""The command ``thetahat``.

Exit codes: 0 done; 1 refused, the reason on stderr; 2 wrong usage; 141 the reader of the output
went away (what a shell reports for a program that writes into a closed pipe).

Commands import what they need when they run, so that the light ones start at once.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Mapping, Sequence

import thetahat
from thetahat.foundation.errors import ParameterError, ThetahatError

CLOSED_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line on `argv` (default: the process's own); returns the exit code."""
    arguments = _parser().parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(
            errors="replace"
        )  # a terminal without θ shows "?" instead of failing
    try:
        arguments.run(arguments)
        sys.stdout.flush()
    except ThetahatError as refusal:
        print(f"thetahat {arguments.command}: {refusal}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Python flushes stdout once more at exit; give it somewhere to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="thetahat",
        description="Machine learning as one line: a function class, a loss, a penalty, a solver.",
    )
    parser.add_argument("--version", action="version", version=f"thetahat {thetahat.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    methods = commands.add_parser(
        "methods",
        help="the methods thetahat sets out to serve, and how many are served today",
        description="List the methods by area, with the public names that serve each.",
    )
    methods.add_argument(
        "--area", metavar="NAME", help="only this area: its letter, or a part of its title"
    )
    methods.add_argument("--json", action="store_true", help="print JSON instead of a list")
    methods.set_defaults(run=_methods)
    return parser


def _methods(arguments: argparse.Namespace) -> None:
    from thetahat import registry

    chosen = registry.rows()
    if arguments.area is not None:
        letters = _matching_areas(arguments.area, registry.areas())
        chosen = tuple(row for row in chosen if row.area in letters)
    if arguments.json:
        print(json.dumps(registry.as_data(chosen), indent=2, ensure_ascii=False))
    else:
        print(registry.report(chosen, color=_color_wanted()))


def _matching_areas(name: str, areas: Mapping[str, str]) -> set[str]:
    if name.upper() in areas:
        return {name.upper()}
    letters = {letter for letter, title in areas.items() if name.lower() in title.lower()}
    if not letters:
        raise ParameterError(
            f"no area is called {name!r}. Areas: "
            + "; ".join(f"{letter} {title}" for letter, title in areas.items())
        )
    return letters


def _color_wanted() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
