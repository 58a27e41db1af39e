"""Formulas in plain characters become well-formed MathML with all their symbols."""

import random
import xml.etree.ElementTree as ElementTree

import pytest

from docs.mathematics.mathml import Unreadable, typeset
from docs.mathematics.symbols import MATHEMATICAL


def tree(text, display=False):
    return ElementTree.fromstring(f"<all>{typeset(text, display)}</all>")


def outline(text, display=False):
    """The elements as nested words: ``msub(w i)``; rows of one child and attributes left out."""

    def shown(element):
        children = [shown(child) for child in element]
        if not children:
            return element.text or ""
        if element.tag in ("mrow", "math", "all"):
            return " ".join(filter(None, children))
        return f"{element.tag}({' '.join(children)})"

    return shown(tree(text, display))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("wᵢ", "msub(w i)"),
        ("w_i", "msub(w i)"),
        ("xᵢᵀβ", "msubsup(x i T) β"),
        ("x₁²", "msubsup(x 1 2)"),
        ("G_L²", "msubsup(G L 2)"),
        ("A⁻¹", "msup(A − 1)"),
        ("β̂", "mover(β ^)"),
        ("ŷ", "mover(y ^)"),
        ("x̄", "mover(x ‾)"),
        ("e^{−yf}", "msup(e − y f)"),
        ("2^d", "msup(2 d)"),
        ("w*ᵀx", "msup(w ∗ T) x"),
        ("argmin_θ F", "munder(argmin θ) F"),
        ("Σ_i w_i", "munder(∑ i) msub(w i)"),
        ("Σ wᵢ", "∑ msub(w i)"),
        ("N(m, Σ)", "N ( m , Σ )"),
        ("Σ⁻¹", "msup(Σ − 1)"),
        ("Σ̂ = S", "mover(Σ ^) = S"),
        ("Π(2n)", "Π ( 2 n )"),
        ("Π_j x_j", "munder(∏ j) msub(x j)"),
        ("‖β‖₂²", "msubsup(‖ β ‖ 2 2)"),
        ("2ε|u| − ε²", "2 ε | u | − msup(ε 2)"),
        ("P(y|x)", "P ( y | x )"),
        ("P(y | x)", "P ( y | x )"),
        ("√d", "msqrt(d)"),
        ("√(a + b)", "msqrt(a + b)"),
        ("√Σ(x − c)²", "msqrt(∑ msup(( x − c ) 2))"),
        ("(a + b)/(2n)", "mfrac(a + b 2 n)"),
        ("z/(1 − p)", "mfrac(z 1 − p)"),
        ("f(x)/(1 − p)", "mfrac(f ( x ) 1 − p)"),
        ("1/n", "1 / n"),
        ("½‖β‖²", "mfrac(1 2) msup(‖ β ‖ 2)"),
        ("e^{(a+b)/(c+d)}", "msup(e ( a + b ) / ( c + d ))"),
        ("(low_j, high_j]", "( msub(low j) , msub(high j) ]"),
        ("⌈log δ⌉", "⌈ log δ ⌉"),
        ("x ∈ {0, 1}", "x ∈ { 0 , 1 }"),
        ("l1_ratio·‖β‖₁", "l1_ratio ⋅ msub(‖ β ‖ 1)"),
        ("n_test", "msub(n test)"),
        ("a <= b", "a ≤ b"),
        ("1 < k", "1 < k"),
        ("∂ℓ/∂f", "∂ ℓ / ∂ f"),
    ],
)
def test_what_is_read(text, expected):
    assert outline(text) == expected


def test_displayed_fractions_are_stacked():
    assert outline("χ² = RSS/n", display=True) == "msup(χ 2) = mfrac(RSS n)"


def test_a_minus_before_an_operand_is_a_sign():
    first, second = (e.get("form") for e in tree("−a − b").iter("mo"))
    assert (first, second) == ("prefix", "infix")


def test_a_long_formula_may_be_broken_before_relations_and_signs():
    pieces = tree("β̂ = argmin Σ wᵢ(yᵢ − xᵢᵀβ − b)² + α‖β‖₁").findall("math")
    assert len(pieces) == 3
    assert pieces[1].find("mrow/mo").text == "="


@pytest.mark.parametrize("text", ["(a", "a)", "‖a", "x_", "x^", "@", "= +", "", "√", "√∑", "{a]"])
def test_what_cannot_be_read_is_refused(text):
    with pytest.raises(Unreadable):
        typeset(text)


def test_any_characters_are_refused_or_well_formed():
    draw = random.Random(0)
    characters = sorted(MATHEMATICAL) + list("abxyMNΣ()[]{}|/.,;:_^*+-− 0123456789<>&\"'#")
    read = 0
    for _ in range(6_000):
        text = "".join(draw.choices(characters, k=draw.randint(1, 8)))
        try:
            tree(text, display=draw.random() < 0.5)
        except Unreadable:
            continue
        read += 1
    assert read > 300
