"""The pieces of a formula side by side: fractions, spaces, and where a line may break."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_THIN, _SPACE = '<mspace width="0.17em"/>', '<mspace width="0.25em"/>'
_FACTORS = ("operand", "function", "large")


@dataclass(frozen=True)
class Item:
    """A piece of a formula at one level of brackets.

    ``kind`` is operand, function, large, relation, sign, product, slash or separator; ``inner`` is
    what a pair of round brackets holds; ``spaced`` says whether white space stands before it.
    """

    kind: str
    markup: str
    inner: str | None = None
    spaced: bool = False


def lines(items: list[Item]) -> Iterator[list[Item]]:
    """The pieces between which a line may break: before a relation or sign, after a comma."""
    part: list[Item] = []
    for place, item in enumerate(items):
        breaks = item.kind == "relation" or (item.kind == "sign" and _is_infix(items, place))
        if part and breaks and part[-1].kind != "relation":
            yield part
            part = []
        part.append(item)
        if item.kind == "separator":
            yield part
            part = []
    yield part


def _is_infix(items: list[Item], place: int) -> bool:
    return place > 0 and items[place - 1].kind == "operand"


def row(items: list[Item]) -> str:
    """The pieces side by side, with a little space where the text has some between factors."""
    shown = ""
    for place, item in enumerate(items):
        before = items[place - 1] if place else None
        if before is not None and item.kind in _FACTORS:
            if before.kind == "function" and not item.markup.startswith('<mrow><mo form="prefix"'):
                shown += _THIN
            elif before.kind == "operand" and item.kind == "function":
                shown += _THIN
            elif before.kind == "operand" and item.spaced:
                shown += _SPACE
        shown += item.markup
    return shown


def fractions(items: list[Item], stacked: bool, script: bool = False) -> list[Item]:
    """Put numerators over denominators where brackets show them, and in displayed formulas."""
    done: list[Item] = []
    place = 0
    while place < len(items):
        item = items[place]
        above = _factors_before(done) if item.kind == "slash" else []
        below = _factors_after(items, place + 1) if item.kind == "slash" else []
        bracketed = any(len(part) == 1 and part[0].inner is not None for part in (above, below))
        if not (above and below) or script or not (bracketed or (stacked and not item.spaced)):
            done.append(item)
            place += 1
            continue
        done[len(done) - len(above) :] = []
        fraction = f'<mfrac displaystyle="true">{_operand(above)}{_operand(below)}</mfrac>'
        done.append(Item("operand", fraction, spaced=above[0].spaced))
        place += 1 + len(below)
    return done


def _factors_before(done: list[Item]) -> list[Item]:
    """The factors that stand directly before a fraction's slash, without space between them."""
    start = len(done)
    while start and done[start - 1].kind in _FACTORS:
        start -= 1
        if done[start].spaced:
            break
    factors = done[start:]
    return factors if factors and factors[-1].kind == "operand" else []


def _factors_after(items: list[Item], place: int) -> list[Item]:
    end = place
    while end < len(items) and items[end].kind in _FACTORS:
        if end > place and items[end].spaced:
            break
        end += 1
    factors = items[place:end]
    return factors if factors and factors[-1].kind == "operand" else []


def _operand(factors: list[Item]) -> str:
    inner = factors[0].inner if len(factors) == 1 else None
    return f"<mrow>{inner if inner is not None else row(factors)}</mrow>"
