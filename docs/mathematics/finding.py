"""Find the formulas in a sentence: which words are mathematics, and where each formula ends.

A word is mathematics when it holds a character that prose does not have (Greek, scripts, accents,
operators). Its neighbours belong to the same formula when an operator or an open bracket joins
them. In doubt a word is prose, and stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from docs.mathematics.mathml import Unreadable, typeset
from docs.mathematics.symbols import (
    CLOSING,
    FUNCTIONS,
    LIMITS,
    MATHEMATICAL,
    OPENING,
    PRODUCTS,
    RELATIONS,
    SIGNS,
)

_JOINING = RELATIONS | SIGNS | PRODUCTS | {"/", "*"}
_SUBSCRIPTED = re.compile(
    r"(?<![A-Za-z0-9_])(?:[A-Za-z]|argmin|argmax|max|min|log)(?:_(?:[A-Za-z0-9]{1,2}\b|{)|\^)"
)
_CALL = re.compile(r"[(\[]*[A-Za-z][(\[][A-Za-z0-9]")  # O(n, f(x), P(y
_FUNCTION = re.compile(rf"[(\[]*(?:{'|'.join(sorted(FUNCTIONS, reverse=True))})[(\[|]")
_ABSOLUTE = re.compile(r"[(]*\|[A-Za-z]\|")
_TEXT = re.compile(
    r"[\"“”`‘]|\w[’'][a-z]|[A-Za-z]{2,}-|-[A-Za-z]{2,}|://|\.[A-Za-z]{2,}|__|[A-Za-z]{3}="
)
_SIMPLE = r"(?:[A-Za-z]|[0-9.]+)"
_QUIET = re.compile(rf"[(\[{{]*(?:{_SIMPLE}(?:/{_SIMPLE})*|…)[)\]}}]*")  # joins a formula beside it
_LEADING = LIMITS | {"log", "exp", "sign", "det", "Var", "Cov"}  # mean and median may be prose
_ARTICLES = frozenset("aAI")
_SHORT = frozenset("an as at be by do if in is it no of on or so to we".split())  # never a product
_STOPS = ".;:!?"
_MOST_WORDS = 2  # of prose side by side within the brackets of a formula


@dataclass(frozen=True)
class Part:
    """A stretch of text; ``formula`` says whether it is mathematics that can be typeset."""

    text: str
    formula: bool


def parts(text: str, letters: bool = False, words: bool = False) -> list[Part]:
    """The text in its order, cut into prose and formulas.

    ``letters`` takes single letters that stand alone for symbols; ``words`` lets words be operands
    ("error = bias² + variance"), as in the sentence of a formula.
    """
    found = []
    done = 0
    for start, end in _stretches(text, letters, words):
        if start < done:
            continue
        found += [Part(text[done:start], False), Part(text[start:end], True)]
        done = end
    found.append(Part(text[done:], False))
    return [part for part in found if part.text]


def _stretches(text: str, letters: bool, words: bool) -> Iterator[tuple[int, int]]:
    """Where the formulas begin and end."""
    spans = [found.span() for found in re.finditer(r"\S+", text)]
    shown = [text[start:end] for start, end in spans]
    joined = _joined(shown, words)
    place = 0
    while place < len(shown):
        if not joined[place]:
            if letters and _bare(shown[place]).isalpha() and len(_bare(shown[place])) == 1:
                yield from _symbol(text, *spans[place])
            place += 1
            continue
        last = _last(shown, joined, place)
        while last >= place:
            stretch = _trimmed(text, spans[place][0], spans[last][1])
            if stretch and _is_formula(text[slice(*stretch)]):
                yield stretch
                break
            last -= 1
        place = max(last, place) + 1


def _joined(shown: list[str], words: bool) -> list[bool]:
    """Which words are mathematics by themselves, or by an operator beside them."""
    joined = [_is_mathematical(word) for word in shown]
    for place in reversed(range(len(shown) - 1)):
        joined[place] |= shown[place] in _LEADING and joined[place + 1]
    for place, word in enumerate(shown):
        if not _is_operator(word):
            continue
        if not 0 < place < len(shown) - 1 or shown[place - 1].endswith((*_STOPS, ",")):
            joined[place] = False
            continue
        before, after = place - 1, place + 1
        bound = word in "≤≥<>"  # lower ≤ x
        left = _may_join(
            shown[before], words or joined[after] or (bound and _is_quiet(shown[after]))
        )
        right = _may_join(
            shown[after], words or joined[before] or (bound and _is_quiet(shown[before]))
        )
        joined[place] = left and right
        if joined[place]:
            joined[before] = joined[after] = True
            _join_open_brackets(shown, joined, before)
    return joined


def _join_open_brackets(shown: list[str], joined: list[bool], place: int) -> None:
    """Take in what stands before a closed bracket, as in ``counts[a, b] = 3``."""
    missing = _closed(shown[place])
    while missing > 0 and place > 0:
        place -= 1
        missing += _closed(shown[place])
        joined[place] = True


def _closed(word: str) -> int:
    """Brackets that a word closes, less those it opens."""
    return sum(c in CLOSING for c in word) - sum(c in OPENING for c in word)


def _may_join(word: str, words: bool) -> bool:
    if _TEXT.search(word) or _bare(word).lower() in _SHORT:
        return False
    if words or _is_mathematical(word) or _bare(word) in FUNCTIONS:
        return True
    return not re.search(r"[A-Za-z]{3,}", word)


def _last(shown: list[str], joined: list[bool], place: int) -> int:
    """The last word of the formula that begins at a place."""
    last, opened, prose = place, 0, 0
    for here in range(place, len(shown)):
        word = shown[here]
        known = joined[here] or _is_quiet(word)
        if opened <= 0 and here > place:
            if shown[here - 1].endswith(tuple(_STOPS)) and not shown[here - 1].endswith("..."):
                break
            if not known:
                break
        prose = 0 if known else prose + 1
        if prose > _MOST_WORDS or _TEXT.search(word):
            break
        inside = opened > 0
        opened -= _closed(word)
        if joined[here] or inside or opened > 0 or _follows(shown, last, here):
            last = here
    return last


def _follows(shown: list[str], last: int, here: int) -> bool:
    """Whether a quiet word belongs to the one before it: "log n", "α = 0", "1, 2, …"."""
    word = _bare(shown[here])
    if last == here - 1 and not shown[last].endswith(","):
        return word not in _ARTICLES or _is_operator(shown[last])
    return word == "…"


def _is_mathematical(word: str) -> bool:
    if _TEXT.search(word):
        return False
    if any(c in MATHEMATICAL for c in word) and not _is_operator(word):
        return True
    if _has_accent(word):
        return True
    return bool(_SUBSCRIPTED.search(word)) or any(
        form.match(word) for form in (_CALL, _FUNCTION, _ABSOLUTE)
    )


def _has_accent(word: str) -> bool:
    """A single letter with a hat or bar, as ŷ; words such as naïve are prose."""
    return len(_bare(word)) == 1 and _bare(word) in "ŷȳŝêĉâĪĥÎ"


def _is_operator(word: str) -> bool:
    return word == "|" or (bool(word) and all(c in _JOINING for c in word) and word not in ":-*/")


def _is_quiet(word: str) -> bool:
    bare = word.rstrip(",;:.")
    return bare in FUNCTIONS or bool(_QUIET.fullmatch(bare)) or word in ("+", "/")


def _bare(word: str) -> str:
    return word.strip("()[]{},;:.")


def _symbol(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A letter that stands alone; the articles are words."""
    word = text[start:end]
    bare = _bare(word)
    if bare.isascii() and bare not in _ARTICLES and not _TEXT.search(word):
        at = start + word.index(bare)
        yield at, at + 1


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The stretch without the punctuation of the sentence and without brackets that enclose it."""
    while start < end:
        stretch = text[start:end]
        if stretch[-1] in ".,;:!?" and not stretch.endswith(("...", "…")):
            end -= 1
        elif stretch[-1].isspace():
            end -= 1
        elif stretch[0].isspace():
            start += 1
        elif stretch[-1] in CLOSING and _closed(stretch) > 0:
            end -= 1
        elif stretch[0] in OPENING and _closed(stretch) < 0:
            start += 1
        elif stretch[0] == "(" and stretch[-1] == ")" and _encloses(stretch):
            start, end = start + 1, end - 1
        else:
            return start, end
    return None


def _encloses(stretch: str) -> bool:
    """Whether the first bracket is closed by the last one, around a symbol in prose: "(η)"."""
    depth = 0
    for place, character in enumerate(stretch):
        depth += (character in OPENING) - (character in CLOSING)
        if depth == 0:
            return place == len(stretch) - 1 and "," not in stretch
    return False


def _is_formula(stretch: str) -> bool:
    if _closed(stretch) or stretch[-1] in _JOINING - {"*"}:
        return False
    if not any(c in MATHEMATICAL for c in stretch) and not _is_mathematical(stretch.split()[0]):
        return False
    try:
        typeset(stretch)
    except (Unreadable, IndexError):
        return False
    return True
