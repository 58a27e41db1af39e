"""Sphinx: the formulas of every page become MathML; docstrings and pages stay plain characters.

A paragraph of the class ``formula`` is displayed, and so is the formula that a sentence
"Formula: ..." begins with; other formulas stand in their line. Text that cannot be read stays as it
is.
"""

from __future__ import annotations

import re
from html import escape
from itertools import groupby
from typing import Any

from docutils import nodes
from sphinx import addnodes

from docs.mathematics import escaping
from docs.mathematics.finding import parts
from docs.mathematics.mathml import Unreadable, typeset

_LABEL = re.compile(r"(Formula|Cost): ")
_LEAST_DISPLAYED = 12  # characters; a shorter formula stands in its line
_RELATIONS = frozenset("=≤≥≈∝~←→↦∈")


class formula(nodes.inline):
    """A formula in plain characters; the HTML of it is MathML."""


class displayed_formula(nodes.paragraph):
    """A formula on a line of its own."""


def setup(app: Any) -> None:
    app.add_node(formula, html=(_write_formula, None))
    app.add_node(displayed_formula, html=(_write_displayed, None))
    # Before numpydoc, which has the default priority and reads what this leaves.
    app.connect("autodoc-process-docstring", escaping.escape_docstring, priority=100)
    app.connect("doctree-read", typeset_page)


def typeset_page(app: Any, doctree: nodes.document) -> None:
    """Find the formulas in all paragraphs of a page."""
    for paragraph in list(doctree.findall(nodes.paragraph)):
        if "formula" in paragraph["classes"] or isinstance(paragraph.parent, nodes.block_quote):
            _display_whole(paragraph)
        else:
            _typeset_paragraph(paragraph)


def _display_whole(paragraph: nodes.paragraph) -> None:
    text = paragraph.astext()
    found = parts(text.rstrip(".,"), words=True)
    if "formula" in paragraph["classes"] or (len(found) == 1 and found[0].formula):
        paragraph.replace_self(_displayed(text))
    else:
        _typeset_paragraph(paragraph)


def _typeset_paragraph(paragraph: nodes.paragraph) -> None:
    in_docstring = any(isinstance(parent, addnodes.desc_content) for parent in _above(paragraph))
    label = _LABEL.match(paragraph.astext())
    words = label is not None and label[1] == "Formula"
    children: list[nodes.Node] = []
    for is_text, together in groupby(paragraph.children, lambda c: isinstance(c, nodes.Text)):
        if not is_text:
            children += together
            continue
        for part in parts(
            "".join(text.astext() for text in together), letters=in_docstring, words=words
        ):
            children.append(formula("", part.text) if part.formula else nodes.Text(part.text))
    paragraph[:] = children
    if label is not None and in_docstring:
        _set_off(paragraph, label[1])


def _set_off(paragraph: nodes.paragraph, label: str) -> None:
    """Display the formula that a paragraph begins with; a label before words is set in bold."""
    first, *rest = paragraph.children
    if label == "Formula" and rest and str(first) == "Formula: " and isinstance(rest[0], formula):
        text = rest[0].astext()
        if len(text) >= _LEAST_DISPLAYED and not _RELATIONS.isdisjoint(text):
            after = str(rest[1]) if len(rest) > 1 and isinstance(rest[1], nodes.Text) else ""
            mark = after[:1] if after[:1] in (",", ";", ":") else ""
            remaining = [nodes.Text(after.lstrip(".,;: \n")), *rest[2:]] if after else rest[1:]
            paragraph.parent.insert(paragraph.parent.index(paragraph), _displayed(text, mark))
            paragraph[:] = remaining
            if not paragraph.astext():
                paragraph.parent.remove(paragraph)
            return
    paragraph[:1] = [nodes.strong("", f"{label}:"), nodes.Text(str(first)[len(label) + 1 :])]


def _displayed(text: str, mark: str = "") -> displayed_formula:
    return displayed_formula("", nodes.Text(" ".join(text.split()) + mark), mark=mark)


def _above(node: nodes.Node) -> list[nodes.Node]:
    found = []
    while node.parent is not None:
        node = node.parent
        found.append(node)
    return found


def _write_formula(translator: Any, node: formula) -> None:
    translator.body.append(_markup(node.astext(), display=False))
    raise nodes.SkipNode


def _write_displayed(translator: Any, node: displayed_formula) -> None:
    mark = node["mark"]
    text = node.astext().removesuffix(mark)
    translator.body.append(f'<div class="formula">{_markup(text, display=True)}{mark}</div>\n')
    raise nodes.SkipNode


def _markup(text: str, display: bool) -> str:
    """MathML, or the characters themselves where they cannot be read."""
    try:
        return typeset(text, display)
    except (Unreadable, IndexError):
        return escape(text)
