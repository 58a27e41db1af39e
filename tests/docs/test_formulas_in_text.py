"""Which words of a sentence are a formula, and what becomes of them in every docstring."""

import inspect
import re
import xml.etree.ElementTree as ElementTree

import pytest

from docs.generate_pages import public_names
from docs.mathematics.finding import parts
from docs.mathematics.mathml import typeset

PUBLIC = [pytest.param(name, id=name.qualified) for name in public_names()]


def marked(text, **options):
    """The text with its formulas in double brackets."""
    return "".join(f"⟦{p.text}⟧" if p.formula else p.text for p in parts(text, **options))


@pytest.mark.parametrize(
    "expected",
    [
        "The filter ⟦Σ vⱼ sⱼ/(sⱼ² + α) uⱼᵀy⟧; the dual ⟦Xᵀ(XXᵀ + αI)⁻¹y⟧.",
        "Shrinks each tree by this factor (⟦η⟧). Smaller values need more iterations.",
        "Cost: ⟦O(n d²)⟧ time and ⟦O(d²)⟧ memory; ⟦O(n log n)⟧ to sort.",
        "With ⟦β ~ N(μ₀, S₀)⟧ and ⟦yᵢ | xᵢ ~ N(xᵢᵀβ + b, σᵢ²)⟧ it is ⟦N(A⁻¹B, A⁻¹)⟧.",
        "The gradient is ⟦p − y⟧ where ⟦lower ≤ θ ≤ upper⟧.",
        "⟦α = log((1 − ε)/ε) + log(K − 1)⟧ for many classes",
        "a rule of ⟦h ∈ {0, 1}⟧. Next sentence.",
        "⟦s = 1, 2, …⟧ and so on",
        "The coefficients must be ≥ 0 or of ⟦Ax ≤ b⟧.",
        "A folder and/or a file, e.g. path/to/x.csv, 5 - 3 and 10 × larger.",
        "the α-weighted median, naïve users' text_column and 95% of rows",
        "Call f with coef_ and sample_weight = None, or alpha=0.1.",
    ],
)
def test_formulas_are_found_and_prose_is_left(expected):
    assert marked(re.sub("[⟦⟧]", "", expected)) == expected


def test_letters_and_words_belong_to_formulas_where_asked():
    text = "the error = systematic + variance of a learner G"
    assert marked(text) == text
    assert marked(text, letters=True) == "the error = systematic + variance of a learner ⟦G⟧"
    assert marked("error = bias² + noise", words=True) == "⟦error = bias² + noise⟧"


@pytest.mark.parametrize("name", PUBLIC)
def test_every_docstring_can_be_typeset(name):
    """No text is lost, and every formula that is found is well-formed."""
    for paragraph in (inspect.getdoc(name.value) or "").split("\n\n"):
        found = parts(paragraph, letters=True, words=paragraph.startswith("Formula:"))
        assert "".join(part.text for part in found) == paragraph
        for part in found:
            if part.formula:
                ElementTree.fromstring(f"<all>{typeset(part.text)}</all>")


def test_a_page_shows_its_formulas():
    pytest.importorskip("sphinx")
    from docutils.core import publish_doctree
    from docutils.parsers.rst import Parser

    from docs.mathematics import pages

    page = publish_doctree(
        "Text with β̂ = Xᵀy of a row and ``θ = code``.\n\n.. rst-class:: formula\n\nR(θ) = ‖θ‖²\n",
        parser=Parser(),
    )
    pages.typeset_page(None, page)
    assert [node.astext() for node in page.findall(pages.formula)] == ["β̂ = Xᵀy"]
    assert [node.astext() for node in page.findall(pages.displayed_formula)] == ["R(θ) = ‖θ‖²"]
