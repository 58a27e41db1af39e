"""The command ``thetahat``.

Exit codes: 0 success; 1 error, with the reason on stderr in one line, or a severe finding of
``check``; 2 wrong usage; 3 nothing was learned (``fit``); 130 interrupted; 141 the output was
closed (the code that shells report for a program that writes into a closed pipe).

Commands import what they need when they run, so that simple ones start quickly.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

import thetahat
from thetahat.foundation.errors import ThetahatError
from thetahat.foundation.printable import printable
from thetahat.interfaces.commands import (
    bound,
    check,
    compare,
    explain,
    fit,
    inspect,
    lab,
    methods,
    options,
    predict,
)

CLOSED_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line on `argv` (default: that of the process), and return the exit code."""
    arguments = _parser().parse_args(argv)
    if not _has_streams(arguments):
        return 1
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without θ shows "?" instead
    try:
        options.require_no_empty(arguments)
        code = arguments.run(arguments)
        sys.stdout.flush()
    except ThetahatError as refusal:
        reason = printable(" ".join(str(refusal).split()))
        print(f"thetahat {arguments.command}: {reason}", file=sys.stderr)
        return 1
    except MemoryError:
        print(
            f"thetahat {arguments.command}: not enough memory. Use fewer rows or columns.",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        print(f"thetahat {arguments.command}: interrupted", file=sys.stderr)
        return options.INTERRUPTED
    except BrokenPipeError:
        _let_go_of_output()
        return CLOSED_PIPE
    except OSError as failure:
        reason = printable(failure.strerror or str(failure))
        print(f"thetahat {arguments.command}: cannot write or read: {reason}.", file=sys.stderr)
        _let_go_of_output()
        return 1
    except Exception as fault:
        if os.environ.get("THETAHAT_TRACEBACK"):
            raise
        reason = printable(" ".join(str(fault).split()))
        print(
            f"thetahat {arguments.command}: {type(fault).__name__}: {reason} (unexpected error: "
            "set THETAHAT_TRACEBACK=1 to see the traceback)",
            file=sys.stderr,
        )
        return 1
    return int(code or 0)


def _has_streams(arguments: argparse.Namespace) -> bool:
    """Open closed streams (`>&-`), whose text is lost; False if the result would be lost."""
    closed = sys.stdout is None
    sys.stdout = sys.stdout or open(os.devnull, "w")
    sys.stderr = sys.stderr or open(os.devnull, "w")
    if closed and getattr(arguments, "output", None) == "-":
        print(
            f"thetahat {arguments.command}: standard output is closed. Use --output FILE.",
            file=sys.stderr,
        )
        return False
    return True


def _let_go_of_output() -> None:
    """Redirect stdout, as Python flushes it once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="thetahat", description="Train, compare and explain machine learning models on tables."
    )
    parser.add_argument("--version", action="version", version=f"thetahat {thetahat.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in (compare, check, fit, predict, inspect, explain, methods, bound, lab):
        command.add(commands)
    return parser
