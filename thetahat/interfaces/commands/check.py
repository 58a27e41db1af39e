"""``thetahat check``: look for problems in a table before models are fitted."""

from __future__ import annotations

import argparse
import shutil
from typing import Any

from thetahat.interfaces.commands import options
from thetahat.interfaces.console import Console, color_wanted

FOUND_SEVERE = 1


def add(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "check",
        help="look for copies, leaks, time, identifiers and other problems in a table",
        description="Look for what makes scores wrong before models are fitted: copies of rows, "
        "columns that hold the answer, an order of time, identifiers, rare classes, gaps and more. "
        "The exit code is 1 if there is a severe finding.",
    )
    options.add_data(parser)
    options.add_columns(parser)
    options.add_order(parser)
    options.add_test(parser)
    options.add_output(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read the table, print the findings, and return the exit code."""
    from thetahat.interfaces.commands.compare import further_rows, read_problem
    from thetahat.interfaces.findings import findings_of, lines, table_of
    from thetahat.interfaces.plain import as_json

    console = Console(quiet=arguments.quiet)
    asked = options.order_asked_for(arguments)
    problem = read_problem(arguments, console)
    further = further_rows(problem, arguments)
    found = findings_of(problem, table_of(problem, asked), asked, test=further)
    if arguments.json:
        data = {
            "data": arguments.data,
            "rows": problem.n_rows,
            "target": problem.target,
            "task": problem.task,
            "severe": len(found.severe),
            "findings": [each.as_data(first_row=1) for each in found],
        }
        console.result(as_json(data))
    else:
        width = min(100, shutil.get_terminal_size((100, 20)).columns)
        console.styled(lines(found, color=color_wanted(), width=width))
        console.result(found.summary)
    return FOUND_SEVERE if found.severe else 0
