"""Formulas in plain characters as MathML Core, which browsers draw without a script or a network.

``typeset("β̂ = argmin_β Σ wᵢ(yᵢ − xᵢᵀβ)²/n")`` reads letters with accents, scripts by character (wᵢ,
x²) or by mark (w_i, e^{−x}), brackets, norms, roots, sums and fractions. What it cannot read raises
`Unreadable`; the caller then shows the text as it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from html import escape

from docs.mathematics.layout import Item, fractions, lines, row
from docs.mathematics.symbols import (
    ABBREVIATIONS,
    ACCENTS,
    BARS,
    CLOSING,
    FRACTIONS,
    FUNCTIONS,
    LARGE,
    LIMITS,
    OPENING,
    OPERANDS,
    PRODUCTS,
    RELATIONS,
    SEPARATORS,
    SIGNS,
    SUBSCRIPTS,
    SUPERSCRIPTS,
)

_LONG = 24  # characters; a longer formula may be broken over lines
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]+(?:_[A-Za-z][A-Za-z0-9]+)+")
_WORD = re.compile(r"[A-Za-z]+")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:e[-−]?[0-9]+)?")
_SCRIPT = re.compile(r"[−-]?(?:[0-9]+|[A-Za-zΑ-ωℓ]+[0-9]*)")


class Unreadable(ValueError):
    """The text is not a formula that this module can read."""


def typeset(text: str, display: bool = False) -> str:
    """The formula as one or several ``<math>`` elements; a long one may be broken between them."""
    items = fractions(list(_items(_split_accents(text.strip()))), stacked=display)
    if not any(item.kind in ("operand", "function", "large") for item in items):
        raise Unreadable(text)
    parts = lines(items) if len(text) > _LONG else [items]
    opening = '<math displaystyle="true">' if display else "<math>"
    written = [f"{opening}<mrow>{row(part)}</mrow></math>" for part in parts if part]
    return "<wbr/>".join(written)


def _split_accents(text: str) -> str:
    """Letters and their accents one by one; ≠ stays one character."""
    return "".join(unicodedata.normalize("NFD", c) if c.isalpha() else c for c in text)


def _items(text: str, script: bool = False) -> Iterator[Item]:
    """The pieces of one level; brackets and scripts are read as deep as they go."""
    bars = _pairs_of_bars(text)
    place, spaced = 0, False
    before: Item | None = None
    while place < len(text):
        if text[place].isspace():
            place, spaced = place + 1, True
            continue
        item, end = _item(text, place, bars, script, before)
        if item.kind in ("operand", "function", "large"):
            item, end = _with_scripts(item, text, end)
        before = replace(item, spaced=spaced)
        yield before
        place, spaced = end, False


def _item(
    text: str, place: int, bars: dict[int, int | None], script: bool, before: Item | None
) -> tuple[Item, int]:
    """The piece that begins at a place, and where it ends."""
    character = text[place]
    if character in BARS:
        return _barred(text, place, bars, script)
    if character in OPENING:
        end = _end_of_brackets(text, place)
        inner = _row_of(text[place + 1 : end], script)
        shown = f"{_fence(character, 'prefix')}{inner}{_fence(text[end], 'postfix')}"
        content = inner if character == "(" and text[end] == ")" else None
        return Item("operand", f"<mrow>{shown}</mrow>", inner=content), end + 1
    if character == "√":
        return _root(text, place, script)
    if character.isdigit() and character.isascii():
        end = _NUMBER.match(text, place).end()  # type: ignore[union-attr]
        return Item("operand", f"<mn>{text[place:end]}</mn>"), end
    if character in LARGE and _adds_up(text, place):
        return Item("large", f"<mo>{LARGE[character]}</mo>"), place + 1
    if character.isalpha() and character not in OPERANDS:
        return _letters(text, place)
    return _operator(text, place, before)


def _operator(text: str, place: int, before: Item | None) -> tuple[Item, int]:
    character = text[place]
    if text.startswith("...", place):
        return Item("operand", "<mo>…</mo>"), place + 3
    if text.startswith(("<=", ">="), place):
        return Item("relation", f"<mo>{'≤' if character == '<' else '≥'}</mo>"), place + 2
    if character in RELATIONS:
        shown = {"~": "∼"}.get(character, escape(character))
        return Item("relation", f'<mo form="infix">{shown}</mo>'), place + 1
    if character in SIGNS:
        infix = before is not None and before.kind == "operand"
        shown = "−" if character == "-" else character
        return Item("sign", f'<mo form="{"infix" if infix else "prefix"}">{shown}</mo>'), place + 1
    if character in PRODUCTS or character == "*":
        shown = {"·": "⋅", "*": "∗"}.get(character, character)
        return Item("product", f"<mo>{shown}</mo>"), place + 1
    if character == "/":
        return Item("slash", '<mo lspace="0.05em" rspace="0.05em">/</mo>'), place + 1
    if character in SEPARATORS:
        return Item("separator", f"<mo>{character}</mo>"), place + 1
    if character in OPERANDS:
        return Item("operand", _symbol(character)), place + 1
    raise Unreadable(text)


def _symbol(character: str) -> str:
    if character in FRACTIONS:
        above, below = FRACTIONS[character]
        return f"<mfrac><mn>{above}</mn><mn>{below}</mn></mfrac>"
    if character in "∂∇¬":
        return f'<mo form="prefix" rspace="0" lspace="0">{character}</mo>'
    return f"<mi>{character}</mi>" if character in "ℓℝℤℕ∞∅" else f"<mo>{character}</mo>"


def _adds_up(text: str, place: int) -> bool:
    """Whether Σ or Π is a sum or product; else it is a letter, as in Σ⁻¹, N(m, Σ) or Π(m)."""
    if text[place] in "∑∏∫":
        return True
    after = text[place + 1 :]
    if after[:1] == "_":
        return True
    if text[place] not in "ΣΠ" or after[:1] in ACCENTS:
        return False
    after_scripts = after.lstrip("".join(SUBSCRIPTS))
    following = after_scripts.lstrip()[:1]
    if not following or following in CLOSING | RELATIONS | SIGNS | SEPARATORS | PRODUCTS:
        return False
    if following in SUPERSCRIPTS or following in "^/":
        return False
    if text[place] == "Π":
        return following != "("
    between_letters = place > 0 and text[place - 1].isalpha() and after[:1].isupper()
    return not between_letters


def _letters(text: str, place: int) -> tuple[Item, int]:
    """One letter with its accents, or a word: a function, a name, an abbreviation."""
    name = _NAME.match(text, place)
    if name:
        return Item("operand", f"<mtext>{escape(name[0])}</mtext>"), name.end()
    found = _WORD.match(text, place)
    word = found[0] if found else text[place]
    end = place + len(word)
    if text[end : end + 1] not in ACCENTS and len(word) > 1:
        if word in LIMITS:
            return Item(
                "function", f'<mo movablelimits="true" lspace="0" rspace="0">{word}</mo>'
            ), end
        if word in FUNCTIONS:
            return Item("function", f"<mi>{word}</mi>"), end
        if len(word) > 2 or word in ABBREVIATIONS:
            return Item("operand", f"<mi>{word}</mi>"), end
    letter, end = f"<mi>{text[place]}</mi>", place + 1
    while text[end : end + 1] in ACCENTS and end < len(text):
        letter = (
            f'<mover accent="true">{letter}<mo stretchy="false">{ACCENTS[text[end]]}</mo></mover>'
        )
        end += 1
    return Item("operand", letter), end


def _with_scripts(item: Item, text: str, place: int) -> tuple[Item, int]:
    """The item with the scripts that follow it, by characters or by _ and ^."""
    below = above = ""
    while place < len(text):
        character = text[place]
        if character in SUBSCRIPTS or character in SUPERSCRIPTS:
            table = SUBSCRIPTS if character in SUBSCRIPTS else SUPERSCRIPTS
            end = place
            while end < len(text) and text[end] in table:
                end += 1
            script = _script("".join(table[c] for c in text[place:end]))
            lowered = table is SUBSCRIPTS
        elif character in "_^":
            script, end = _marked_script(text, place + 1)
            lowered = character == "_"
        elif character in "'’′" or (character == "*" and _is_star(text, place)):
            script, end, lowered = (
                "<mo>∗</mo>" if character == "*" else "<mo>′</mo>",
                place + 1,
                False,
            )
        else:
            break
        if lowered:
            below += script
        else:
            above += script
        place = end
    if not below and not above:
        return item, place
    limits = item.kind == "large" or "movablelimits" in item.markup
    return replace(item, markup=_scripted(item.markup, below, above, limits), inner=None), place


def _scripted(base: str, below: str, above: str, limits: bool) -> str:
    parts = [base, *(f"<mrow>{script}</mrow>" for script in (below, above) if script)]
    if limits:
        tag = "munderover" if below and above else "munder" if below else "mover"
    else:
        tag = "msubsup" if below and above else "msub" if below else "msup"
    return f"<{tag}>{''.join(parts)}</{tag}>"


def _marked_script(text: str, place: int) -> tuple[str, int]:
    """What stands behind _ or ^: {several pieces}, (a bracket), a number or a word."""
    if text[place : place + 1] in ("{", "("):
        end = _end_of_brackets(text, place)
        braced = text[place] == "{"
        return _script(text[place + 1 : end] if braced else text[place : end + 1]), end + 1
    found = _SCRIPT.match(text, place)
    if not found:
        raise Unreadable(text)
    end = found.end()
    while text[end : end + 1] in ACCENTS and end < len(text):
        end += 1
    return _script(text[place:end]), end


def _script(text: str) -> str:
    if text == "T":
        return '<mi mathvariant="normal">T</mi>'
    return _row_of(text, script=True)


def _is_star(text: str, place: int) -> bool:
    """Whether * marks the letter before it, as in p* or w*ᵀx; else it multiplies."""
    following = text[place + 1 : place + 2]
    return not text[place - 1].isspace() and not (following.isalnum() and following.isascii())


def _root(text: str, place: int, script: bool) -> tuple[Item, int]:
    """√ over a bracket, or over the next piece with its scripts (and the sum's first factor)."""
    place += 1
    if text[place : place + 1] == "(":
        end = _end_of_brackets(text, place)
        return Item("operand", f"<msqrt>{_row_of(text[place + 1 : end], script)}</msqrt>"), end + 1
    bars = _pairs_of_bars(text)
    shown, kind = "", "large"
    while kind in ("large", "function") and text[place : place + 1].strip():
        if kind == "function" and text[place] in "/+−-=,;":
            kind = "operand"
            break
        item, place = _item(text, place, bars, script, None)
        item, place = _with_scripts(item, text, place)
        shown, kind = shown + item.markup, item.kind
    if kind == "large" or not shown:
        raise Unreadable(text)
    return Item("operand", f"<msqrt>{shown}</msqrt>"), place


def _barred(text: str, place: int, bars: dict[int, int | None], script: bool) -> tuple[Item, int]:
    """|x| and ‖x‖, or the bar of P(y | x)."""
    end = bars.get(place)
    if end is None:
        if text[place] == "‖":
            raise Unreadable(text)
        bar = '<mo stretchy="false" lspace="0.17em" rspace="0.17em">|</mo>'
        return Item("relation" if text[place - 1 : place].isspace() else "product", bar), place + 1
    inner = _row_of(text[place + 1 : end], script)
    shown = f"{_fence(text[place], 'prefix')}{inner}{_fence(text[place], 'postfix')}"
    return Item("operand", f"<mrow>{shown}</mrow>"), end + 1


def _pairs_of_bars(text: str) -> dict[int, int | None]:
    """Where each bar of this level closes; None for one between two things, as in P(y | x)."""
    pairs: dict[int, int | None] = {}
    for bar in BARS:
        places, place = [], 0
        while place < len(text):
            if text[place] in OPENING:
                place = _end_of_brackets(text, place)
            elif text[place] == bar:
                free = text[place - 1 : place].isspace() and text[place + 1 : place + 2].isspace()
                if free:
                    pairs[place] = None
                else:
                    places.append(place)
            place += 1
        if len(places) % 2 == 0:
            pairs |= dict(zip(places[::2], places[1::2], strict=True))
        else:
            pairs |= dict.fromkeys(places)
    return pairs


def _end_of_brackets(text: str, place: int) -> int:
    """Where the bracket that opens at a place is closed; half-open intervals may mix two kinds."""
    waiting = []
    for end in range(place, len(text)):
        if text[end] in OPENING:
            waiting.append(OPENING[text[end]])
        elif text[end] in CLOSING:
            if text[end] not in waiting.pop():
                raise Unreadable(text)
            if not waiting:
                return end
    raise Unreadable(text)


def _fence(character: str, form: str) -> str:
    return f'<mo form="{form}" fence="true">{character}</mo>'


def _row_of(text: str, script: bool = False) -> str:
    return row(fractions(list(_items(text, script)), stacked=False, script=script))
