"""A part of the objective (loss, penalty, kernel ...) is a value.

Concrete parts are frozen dataclasses: equal when their parameters are equal, checked when they are
made, replaced and never changed. A string names a part with its default parameters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self, TypeVar

from thetahat.foundation.errors import ParameterError


class Part:
    """What all parts share: a name, and parameters that can be read, replaced and searched."""

    name: ClassVar[str]
    """How a string names it: ``loss="huber"``, ``penalty="l2"``."""
    aliases: ClassVar[tuple[str, ...]] = ()
    """Other libraries' names for the same formula."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, so that ``loss__delta`` can be searched."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def set_params(self, **params: Any) -> Self:
        """This part with some parameters replaced; parts are values, so a new one is returned."""
        known = self.get_params()
        for name in params:
            if name not in known:
                raise ParameterError(
                    f"{type(self).__name__} has no parameter {name!r}; "
                    f"it has {', '.join(known) or 'none'}."
                )
        return replace(self, **params)  # type: ignore[type-var]

    def __sklearn_clone__(self) -> Self:
        """Itself: a value needs no copy."""
        return self


P = TypeVar("P", bound=Part)


def require_number(
    part: Part,
    name: str,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
) -> None:
    """Refuse a parameter that is no finite number in its range; keep it as a Python float.

    A Python float never widens float32 arrays, as NumPy's float64 numbers would.
    """
    value = getattr(part, name)
    number = float(value) if isinstance(value, Real) else math.nan
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
        f"{type(part).__name__}({name}={value!r}): {name} must be a finite number {rule}."
    )


def require_whole(part: Part, name: str, *, at_least: int) -> None:
    """Refuse a parameter that is no whole number from `at_least` on; keep it as a Python int."""
    value = getattr(part, name)
    if not isinstance(value, Integral) or isinstance(value, bool) or value < at_least:
        raise ParameterError(
            f"{type(part).__name__}({name}={value!r}): {name} must be a whole number ≥ {at_least}."
        )
    object.__setattr__(part, name, int(value))


def part_named(kind: str, given: str | P, base: type[P], parts: Mapping[str, type[P]]) -> P:
    """`given` itself when it is a part, else the part of that name with its default parameters.

    `kind` is the word used in messages ("loss"), `base` the type a part must have, and `parts`
    holds the classes by name; their aliases count as names.
    """
    if isinstance(given, base):
        return given
    if not isinstance(given, str):
        made = f"{given.__name__}()" if isinstance(given, type) else None
        raise ParameterError(
            f"{kind}={given!r} is neither a {kind} nor the name of one. "
            + (f"Pass a value: {made}." if made else f"The names are {_listed(parts)}.")
        )
    known = {name: part for part in parts.values() for name in (part.name, *part.aliases)}
    if given not in known:
        from difflib import get_close_matches

        close = get_close_matches(given.lower(), known, n=1)
        raise ParameterError(
            f"{kind}={given!r} is not known."
            + (f" Did you mean {close[0]!r}?" if close else "")
            + f" The names are {_listed(parts)}."
        )
    part = known[given]
    needed = [field.name for field in fields(part) if field.default is MISSING]  # type: ignore[arg-type]
    if needed:
        raise ParameterError(
            f"{kind}={given!r} needs a value for {', '.join(needed)}: "
            f"pass {part.__name__}({', '.join(f'{name}=...' for name in needed)})."
        )
    return part()


def _listed(parts: Mapping[str, type[Part]]) -> str:
    """All names, with the others that each part goes by."""
    return ", ".join(
        f"{name} ({', '.join(parts[name].aliases)})" if parts[name].aliases else name
        for name in sorted(parts)
    )
