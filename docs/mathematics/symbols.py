"""What the characters and words of plain mathematics mean: the tables of reader and finder."""

from __future__ import annotations

SUPERSCRIPTS = dict(
    zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁱⁿᵀᵏᵐᵖᵗʲʳˢᵈᵃᵇᶜ", "0123456789+−=()inTkmptjrsdabc", strict=True)
)
SUBSCRIPTS = dict(
    zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", "0123456789+−=()aeijklmnoprstuvx", strict=True)
)

ACCENTS = {
    "\N{COMBINING CIRCUMFLEX ACCENT}": "^",
    "\N{COMBINING TILDE}": "~",
    "\N{COMBINING MACRON}": "‾",
    "\N{COMBINING OVERLINE}": "‾",
    "\N{COMBINING DOT ABOVE}": "˙",
}

OPENING = {"(": ")]", "[": "])", "{": "}", "⌈": "⌉", "⌊": "⌋", "⟨": "⟩"}
CLOSING = frozenset(")]}⌉⌋⟩")
BARS = frozenset("|‖")

RELATIONS = frozenset("=≠<>≤≥≈∝~∼≡∈∉∋⊂⊆←→↦⇒⇔≪≫⟂:")
SIGNS = frozenset("+−-±∓∪∩∨∧")
PRODUCTS = frozenset("·×∘⊗⊙")
SEPARATORS = frozenset(",;")
LARGE = {"∨": "⋁", "∧": "⋀", "∪": "⋃", "∩": "⋂", "Σ": "∑", "∑": "∑", "Π": "∏", "∏": "∏", "∫": "∫"}
FRACTIONS = {"½": "12", "⅓": "13", "⅔": "23", "¼": "14", "¾": "34"}
OPERANDS = frozenset("∂∇∞∅¬…⋯ℓℝℤℕ%!′.#") | frozenset(FRACTIONS)

LIMITS = frozenset({"argmin", "argmax", "max", "min", "sup", "inf", "lim"})
"""Functions whose subscript stands below them in a displayed formula."""

FUNCTIONS = LIMITS | frozenset(
    """log ln exp sin cos tan tanh cosh sign det tr rank diag var Var cov Cov mean median std
    logit Pr prox dim""".split()
)

ABBREVIATIONS = frozenset({"TP", "FP", "TN", "FN", "fp", "fn", "se", "df"})
"""Words of two letters; any other two letters side by side are a product."""

MATHEMATICAL = (
    frozenset("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩℓℝℤℕ½¼¾√∂∇∞∅‖^±")
    | frozenset(SUPERSCRIPTS)
    | frozenset(SUBSCRIPTS)
    | frozenset(ACCENTS)
    | (RELATIONS - {":", "-", "~"})
    | (SIGNS - {"+", "-"})
    | PRODUCTS
)
"""Characters that do not occur in prose."""
