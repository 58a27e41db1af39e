"""``thetahat bound``: calculators of learning theory.

The calculators are the functions of ``th.theory`` whose arguments are all numbers. Their options
are read from their signatures, so that new ones appear here automatically.
"""

from __future__ import annotations

import argparse
import inspect
import json
from collections.abc import Callable
from typing import Any

from thetahat.foundation.errors import ParameterError

NUMBERS = ("int", "float", "bool")


def add(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "bound",
        help="bounds and sample sizes of learning theory",
        description="Compute a bound: thetahat bound pac_sample_size class_size=1024 error=0.1 "
        "failure=0.05. Without a name, list the calculators.",
    )
    parser.add_argument("name", nargs="?", help="the bound; without it, all bounds are listed")
    parser.add_argument("values", nargs="*", metavar="NAME=VALUE", help="arguments of the bound")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """List the calculators, or run one."""
    known = calculators()
    if arguments.name is None:
        listed = {name: (_usage(name, each), _summary(each)) for name, each in known.items()}
        if arguments.json:
            print(json.dumps({name: usage for name, (usage, _) in listed.items()}, indent=2))
        else:
            for usage, summary in listed.values():
                print(f"{usage}\n    {summary}")
        return
    if arguments.name not in known:
        raise ParameterError(
            f"there is no bound {arguments.name!r}. The bounds are {', '.join(known)}."
        )
    function = known[arguments.name]
    values = _values(arguments.name, function, arguments.values)
    answer = function(**values)
    if arguments.json:
        print(json.dumps({"bound": arguments.name, "arguments": values, "value": answer}))
    else:
        print(f"{answer:,}" if isinstance(answer, int) else f"{answer:.6g}")


def calculators() -> dict[str, Callable[..., Any]]:
    """The functions of ``th.theory`` that take numbers and return a number."""
    from thetahat import theory

    found: dict[str, Callable[..., Any]] = {}
    for name in sorted(theory.__all__):
        function = getattr(theory, name)
        if not inspect.isfunction(function):
            continue
        signature = inspect.signature(function)
        kinds = [parameter.annotation for parameter in signature.parameters.values()]
        if all(kind in NUMBERS for kind in kinds) and signature.return_annotation in NUMBERS:
            found[name] = function
    return found


def _values(name: str, function: Callable[..., Any], given: list[str]) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters
    values: dict[str, Any] = {}
    for each in given:
        key, equals, text = each.partition("=")
        if not equals or key not in parameters:
            raise ParameterError(f"{each!r} is not an argument. Usage: {_usage(name, function)}")
        values[key] = _number(key, text, parameters[key].annotation)
    needed = [key for key, each in parameters.items() if each.default is each.empty]
    absent = [key for key in needed if key not in values]
    if absent:
        raise ParameterError(f"{', '.join(absent)} must be given. Usage: {_usage(name, function)}")
    return values


def _number(key: str, text: str, kind: str) -> Any:
    if kind == "bool":
        if text.lower() not in ("true", "false", "yes", "no"):
            raise ParameterError(f"{key}={text}: the value must be true or false.")
        return text.lower() in ("true", "yes")
    try:
        number = float(text)
    except ValueError as failure:
        raise ParameterError(f"{key}={text}: the value must be a number.") from failure
    if kind == "int":
        if number != number // 1:
            raise ParameterError(f"{key}={text}: the value must be a whole number.")
        return int(number)
    return number


def _usage(name: str, function: Callable[..., Any]) -> str:
    parts = []
    for key, each in inspect.signature(function).parameters.items():
        needed = each.default is each.empty
        parts.append(f"{key}={each.annotation}" if needed else f"[{key}={each.default}]")
    return f"thetahat bound {name} {' '.join(parts)}"


def _summary(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").splitlines()[0]
