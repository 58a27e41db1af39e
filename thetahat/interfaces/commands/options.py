"""Options shared by several commands."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from thetahat.foundation.errors import ParameterError

LARGEST_SEED = 2**32 - 1
INTERRUPTED = 130
"""The exit code after Ctrl-C, also if the models that were finished are reported."""
TIME_LIMIT = "2m"
"""The time for tuning by default, chosen so that 200,000 rows of 11 columns end in 3 minutes."""

MEANT = ("target", "delimiter", "scoring", "report", "test", "positive")
"""Options whose text cannot be empty, and which would be ignored if it were."""


def add_data(parser: argparse.ArgumentParser, *, target: bool = True) -> None:
    """Add the options for the file and its format."""
    parser.add_argument(
        "data", help="CSV, TSV, Parquet, Arrow or Excel file; - reads CSV from standard input"
    )
    if target:
        parser.add_argument("--target", "-t", required=True, help="the column to predict")
    parser.add_argument("--delimiter", help="separator of fields (default: detected)")
    parser.add_argument(
        "--encoding", default="utf-8", help="encoding of a text file (default utf-8)"
    )


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Add the options for the interpretation of the columns."""
    parser.add_argument(
        "--task",
        choices=("auto", "classification", "regression"),
        default="auto",
        help="predict a class or a number (default: depends on the target)",
    )
    parser.add_argument(
        "--kind",
        action="append",
        default=[],
        metavar="COLUMN=KIND",
        help="treat a column as numeric, ordinal, categorical, text or date, "
        "or drop it (repeatable)",
    )
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="COLUMN",
        help="keep a column that would be left out as an identifier or a copy of the target "
        "(repeatable)",
    )


def add_order(parser: argparse.ArgumentParser) -> None:
    """Add the options for the order and the groups of the rows."""
    parser.add_argument(
        "--time",
        metavar="COLUMN",
        help="train on earlier rows and predict later ones, in the order of this column "
        "(default: a column of dates, if the order carries information)",
    )
    parser.add_argument(
        "--no-time", action="store_true", help="shuffle the rows even if their order matters"
    )
    parser.add_argument(
        "--group",
        metavar="COLUMN",
        help="keep rows with the same value of this column in one fold; models do not use it",
    )


def add_test(parser: argparse.ArgumentParser) -> None:
    """Add the option for further rows, which are compared with the table."""
    parser.add_argument(
        "--test", metavar="FILE", help="table of rows to predict, checked for other distributions"
    )


def order_asked_for(arguments: argparse.Namespace) -> Any:
    """What the user says about the order and the groups of the rows."""
    from thetahat.interfaces.splits import Asked

    return Asked(arguments.time, arguments.group, arguments.no_time)


def require_roles(arguments: argparse.Namespace, columns: list[str]) -> None:
    """Refuse --time, --group and --kind if they name no column, or the target."""
    for option in ("time", "group"):
        name = getattr(arguments, option)
        if name is None:
            continue
        if name == arguments.target:
            raise ParameterError(f"--{option} {name} is the target. Name another column.")
        if name not in columns:
            raise ParameterError(
                f"--{option} {name}: there is no column {name!r}. Columns: "
                f"{', '.join(columns[:20])}."
            )
    if arguments.time is not None and arguments.time == arguments.group:
        raise ParameterError(
            f"--time {arguments.time} and --group {arguments.group} name the same column. Leave "
            "out --group: rows of the same time are always in one fold."
        )
    if kinds_asked_for(arguments).get(arguments.target) == "drop":
        raise ParameterError(
            f"--kind {arguments.target}=drop: {arguments.target} is the target. Name another "
            "column."
        )


def add_tuning(parser: argparse.ArgumentParser) -> None:
    """Add the options for the tuning of the models and for decisions."""
    parser.add_argument(
        "--time-limit",
        default=TIME_LIMIT,
        metavar="TIME",
        help="time for tuning and fitting the models, such as 90s, 5m or 1h; 0 fits them without "
        f"tuning (default {TIME_LIMIT})",
    )
    parser.add_argument(
        "--cost",
        metavar="FP:FN",
        help="choose the threshold with the lowest cost, given the cost of a false positive and of "
        "a false negative, such as 1:5 (two classes)",
    )
    parser.add_argument(
        "--threshold",
        choices=("f1",),
        help="choose the threshold with the highest F1 score instead of probability 0.5 (two "
        "classes)",
    )
    parser.add_argument(
        "--positive",
        metavar="LABEL",
        help="the class that --cost and --threshold take as positive (default: the rarer one)",
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the options for the output."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--quiet", "-q", action="store_true", help="print only the result")


def require_no_empty(arguments: argparse.Namespace) -> None:
    """Refuse options with an empty text, as an unset variable of a script leaves them."""
    for option in MEANT:
        if getattr(arguments, option, None) == "":
            raise ParameterError(f"--{option} is empty. Give it a value, or leave it out.")


def names_asked_for(text: str | None, option: str) -> list[str] | None:
    """Names separated by commas; None without the option."""
    if text is None:
        return None
    names = text.split(",")
    if not all(name.strip() for name in names):
        raise ParameterError(
            f"{option} {text!r}: a name is empty. Write a name such as ridge, or leave the option "
            "out."
        )
    return names


def one_name_asked_for(text: str | None, option: str) -> list[str] | None:
    """The name of a single model; None without the option."""
    names = names_asked_for(text, option)
    if names is not None and len(names) > 1:
        raise ParameterError(
            f"{option} {text}: {len(names)} models are named. Name one, and compare several with "
            f"thetahat compare --models {text}."
        )
    return names


def require_output(path: str, inputs: Mapping[str | None, str]) -> None:
    """Refuse a file that cannot be written, or that the command reads, before any work.

    `inputs` has what each file is, by the path that was given: None or - if there is no file.
    """
    from thetahat.foundation.atomic_file import require_other_file, require_place

    if path == "-":
        raise ParameterError("- stands for standard output, which is for the result. Name a file.")
    require_place(path)
    require_other_file(path, {file: what for file, what in inputs.items() if file and file != "-"})


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add the option for the random seed."""
    parser.add_argument(
        "--seed", type=int, default=0, help="random seed for folds and models (default 0)"
    )


def require_seed(arguments: argparse.Namespace) -> None:
    """Refuse a seed that random generators do not accept."""
    seed = getattr(arguments, "seed", 0)
    if not 0 <= seed <= LARGEST_SEED:
        raise ParameterError(f"--seed {seed}: must be a whole number from 0 to {LARGEST_SEED}.")


def kinds_asked_for(arguments: argparse.Namespace) -> dict[str, str]:
    """The kinds given as COLUMN=KIND."""
    kinds = {}
    for each in arguments.kind:
        name, equals, kind = each.rpartition("=")
        if not equals:
            raise ParameterError(f"--kind {each}: write COLUMN=KIND, such as --kind age=numeric.")
        kinds[name] = kind
    return kinds
