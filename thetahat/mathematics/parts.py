"""Base class of the parts of an objective: losses, penalties, kernels and so on.

A concrete part is a frozen dataclass. Its parameters are checked when it is created and cannot be
changed afterwards; two parts are equal when their parameters are equal. A string refers to a part
with its default parameters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, field, fields, replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self, TypeVar

from thetahat.foundation.arguments import as_float, shown
from thetahat.foundation.errors import ParameterError


class Part:
    """Base class of all parts: a name, and parameters that can be read, replaced and searched."""

    name: ClassVar[str]
    """The string that selects this part, as in ``loss="huber"`` or ``penalty="l2"``."""
    aliases: ClassVar[tuple[str, ...]] = ()
    """Names that other libraries use for the same formula."""

    def __post_init__(self) -> None:
        """Check the parameters that are declared with `number` or `whole`."""
        for declared in fields(self):  # type: ignore[arg-type]
            if "check" in declared.metadata:
                declared.metadata["check"](self, declared.name)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, so that ``loss__delta`` can be searched."""
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]

    def set_params(self, **params: Any) -> Self:
        """Return a copy of this part with some parameters replaced; the part itself is frozen."""
        known = self.get_params()
        for name in params:
            if name not in known:
                raise ParameterError(
                    f"{type(self).__name__} has no parameter {name!r}; "
                    f"it has {', '.join(known) or 'none'}."
                )
        return replace(self, **params)  # type: ignore[type-var]

    def __sklearn_clone__(self) -> Self:
        """Return the part itself: it is frozen, so it needs no copy."""
        return self


P = TypeVar("P", bound=Part)


def number(default: float, **limits: float) -> Any:
    """A parameter that is a finite number, with limits as in `require_number`."""

    def check(part: Part, name: str) -> None:
        require_number(part, name, **limits)

    return field(default=default, metadata={"check": check})


def whole(default: int, *, at_least: int) -> Any:
    """A parameter that is a whole number of at least this size."""
    return field(default=default, metadata={"check": partial(require_whole, at_least=at_least)})


def require_number(
    part: Part,
    name: str,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
) -> None:
    """Raise an error unless the parameter is a finite number in its range; store it as a float.

    The Python float keeps float32 arrays in float32, where a NumPy float64 number would not.
    """
    value = getattr(part, name)
    number = as_float(value)
    if (
        math.isfinite(number)
        and (above is None or number > above)
        and (at_least is None or number >= at_least)
        and (below is None or number < below)
        and (at_most is None or number <= at_most)
    ):
        object.__setattr__(part, name, number)
        return
    limits = {">": above, "≥": at_least, "<": below, "≤": at_most}
    rule = " and ".join(f"{sign} {limit:g}" for sign, limit in limits.items() if limit is not None)
    raise ParameterError(
        f"{type(part).__name__}({name}={shown(value)}): {name} must be a finite number"
        f"{' ' if rule else ''}{rule}."
    )


def require_whole(part: Part, name: str, *, at_least: int) -> None:
    """Raise an error unless the parameter is an integer ≥ `at_least`; store it as a Python int."""
    value = getattr(part, name)
    if not isinstance(value, Integral) or isinstance(value, bool) or value < at_least:
        raise ParameterError(
            f"{type(part).__name__}({name}={value!r}): {name} must be a whole number ≥ {at_least}."
        )
    object.__setattr__(part, name, int(value))


def whole_exponent(part: Part, exponent: Any) -> int:
    """The exponent of ``part ** exponent``; an error unless it is a small whole number."""
    is_whole = isinstance(exponent, Integral) and not isinstance(exponent, bool)
    if is_whole and 1 <= int(exponent) <= LARGEST_EXPONENT:
        return int(exponent)
    raise ParameterError(
        f"{part!r} ** {exponent!r}: the exponent must be a whole number from 1 to "
        f"{LARGEST_EXPONENT}, because the power is the product of that many kernels. Use such a "
        "number, or change the parameters of the kernel."
    )


LARGEST_EXPONENT = 100
"""More factors in a product would be slow, and would nest too deeply."""


def part_named(kind: str, given: str | P, base: type[P], parts: Mapping[str, type[P]]) -> P:
    """Return `given` if it is a part, else the part with this name and its default parameters.

    `kind` is the word used in messages ("loss"), `base` is the type that a part must have, and
    `parts` holds the classes by name. Aliases are accepted as names.
    """
    if isinstance(given, base):
        return given
    if not isinstance(given, str):
        remedy = f"The names are {_listed(parts)}."
        if isinstance(given, type):
            remedy = f"Pass a value: {given.__name__}()."
        elif callable(given) and kind == "loss":
            remedy = "Make a loss of the function first: th.loss(function)."
        article = "an" if kind[0] in "aeiou" else "a"
        raise ParameterError(
            f"{kind}={given!r} is neither {article} {kind} nor the name of one. {remedy}"
        )
    part = next((p for p in parts.values() if given == p.name or given in p.aliases), None)
    if part is None:
        known = [name for part in parts.values() for name in (part.name, *part.aliases)]
        from difflib import get_close_matches

        close = get_close_matches(given.lower(), known, n=1)
        raise ParameterError(
            f"{kind}={given!r} is not known."
            + (f" Did you mean {close[0]!r}?" if close else "")
            + f" The names are {_listed(parts)}."
        )
    needed = [each.name for each in fields(part) if each.default is MISSING]  # type: ignore[arg-type]
    if needed:
        raise ParameterError(
            f"{kind}={given!r} needs a value for {', '.join(needed)}: "
            f"pass {part.__name__}({', '.join(f'{name}=...' for name in needed)})."
        )
    return part()


def _listed(parts: Mapping[str, type[Part]]) -> str:
    """All names in alphabetical order, each followed by its aliases."""
    return ", ".join(
        f"{name} ({', '.join(parts[name].aliases)})" if parts[name].aliases else name
        for name in sorted(parts)
    )
