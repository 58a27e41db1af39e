"""Public means documented: every public name says its cost and shows an example that runs."""

import doctest
import inspect
import re
from functools import cache

import pytest
from sklearn.base import BaseEstimator

from docs.generate_pages import methods, public_names
from docs.mathematics import escaping

PUBLIC = [pytest.param(name, id=name.qualified) for name in public_names()]

ESTIMATORS = [
    each
    for each in PUBLIC
    if inspect.isclass(each.values[0].value) and issubclass(each.values[0].value, BaseEstimator)
]

DESCRIBED = ("Parameters", "Other Parameters", "Attributes")
LEAST_WORDS = 4


def documented(name):
    """What has a docstring of its own on the page of a name: itself, and its own methods."""
    found = {name.qualified: name.value}
    if inspect.isclass(name.value):
        own, _ = methods(name.value)
        found |= {f"{name.qualified}.{method}": getattr(name.value, method) for method in own}
    return found


def descriptions(text):
    """The entries of the sections that describe parameters and attributes: (entry, description)."""
    section = entry = None
    words = []
    lines = inspect.cleandoc(text).splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        begins_section = bool(line) and re.fullmatch("-{3,}", following.strip())
        begins_entry = line and not line.startswith((" ", "-"))
        if entry and (begins_section or begins_entry):
            yield entry, " ".join(words)
            entry = None
        if begins_section:
            section = line
        elif begins_entry and section in DESCRIBED:
            entry, words = line, []
        elif entry and line.startswith(" "):
            words.append(line.strip())
    if entry:
        yield entry, " ".join(words)


def test_docstrings_say_the_cost_and_show_an_example():
    for name in public_names():
        own = vars(name.value).get("__doc__") if inspect.isclass(name.value) else name.value.__doc__
        assert own, f"th.{name.qualified} has no docstring of its own"
        assert "Cost" in own, f"th.{name.qualified}: what does it cost?"
        assert ">>> import thetahat as th" in own, f"th.{name.qualified}: no example"


@cache
def entries():
    """Every entry that describes a parameter or an attribute: (name, entry, description)."""
    return [
        (label, *entry)
        for name in public_names()
        for label, value in documented(name).items()
        for entry in descriptions(inspect.getdoc(value) or "")
    ]


def test_parameters_are_described_in_words():
    """A symbol, or fewer than four words, does not describe a parameter or an attribute."""
    terse = [
        f"{label}: {entry}: {description!r}"
        for label, entry, description in entries()
        if len(re.findall(r"[A-Za-z]{2,}", description)) < LEAST_WORDS
    ]
    assert not terse, "\n".join(terse)
    assert len(entries()) > 1000


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_are_those_of_the_constructor(name):
    """Every parameter of an estimator is described, in order and with its default."""
    section = name.value.__doc__.partition("Parameters\n")[2].partition("Attributes\n---")[0]
    heads = re.findall(r"^ *(\w+(?:, \w+)*) :((?:.*\\\n)?.*)$", section, re.MULTILINE)
    parameters = inspect.signature(name.value).parameters
    assert [each for names, _ in heads for each in names.split(", ")] == list(parameters)
    defaults = {names: kind.partition("default=")[2] for names, kind in heads if "default=" in kind}
    for names, shown in defaults.items():
        default = parameters[names.split(", ")[0]].default
        assert callable(default) or eval(shown, {"inf": float("inf")}) == default


def test_types_name_no_attribute():
    """In the type of an entry, a name that ends in an underscore would be read as a link."""
    for label, entry, _ in entries():
        kind = entry.partition(" : ")[2]
        assert not re.search(r"\w_(?!\w)", re.sub(r"``.*?``", "", kind)), f"{label}: {entry}"


def test_descriptions_are_read_entry_by_entry():
    text = """Summary.

    Parameters
    ----------
    eta : float, default=0.1
        Shrinks each tree
        by this factor (η).
    a, b : int

    Attributes
    ----------
    coef_ : ndarray
        Coefficients.

    Examples
    --------
    >>> 1
    1
    """
    assert list(descriptions(text)) == [
        ("eta : float, default=0.1", "Shrinks each tree by this factor (η)."),
        ("a, b : int", ""),
        ("coef_ : ndarray", "Coefficients."),
    ]


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_run(name):
    finder, report = doctest.DocTestFinder(recurse=False), []
    runner = doctest.DocTestRunner(verbose=False)
    for label, value in documented(name).items():
        for example in finder.find(value, label, module=False, globs={}):
            runner.run(example, out=report.append)
    assert runner.tries > 0
    assert runner.failures == 0, "".join(report)


def test_mathematics_in_running_text_is_escaped_and_code_is_not():
    lines = [
        "r²/2 while |r| ≤ delta, and coef_ or ``coef_``; see `solution_` and a_b.",
        "",
        "coef_ : ndarray",
        "    a*b, |b|",
        "As here::",
        "",
        "    x_ = a*b",
        "",
        ">>> a_ = 2*3",
        "|6|",
        "",
        "=====  ====",
        "|z|    z*",
    ]
    assert escaping.escape(lines) == [
        r"r²/2 while \|r\| ≤ delta, and coef\_ or ``coef_``; see `solution_` and a_b.",
        "",
        "coef_ : ndarray",
        r"    a\*b, \|b\|",
        "As here::",
        "",
        "    x_ = a*b",
        "",
        ">>> a_ = 2*3",
        "|6|",
        "",
        "=====  ====",
        r"\|z\|    z\*",
    ]
