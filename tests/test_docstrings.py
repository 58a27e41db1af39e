"""Public means documented: every public name says its cost and shows an example that runs."""

import doctest
import inspect

import pytest

from docs.generate_pages import methods, public_names
from docs.mathematics import escaping

PUBLIC = [pytest.param(name, id=name.qualified) for name in public_names()]


@pytest.mark.parametrize("name", PUBLIC)
def test_docstring_says_the_cost_and_shows_an_example(name):
    text = vars(name.value).get("__doc__") if inspect.isclass(name.value) else name.value.__doc__
    assert text, f"th.{name.qualified} has no docstring of its own"
    assert "Cost" in text, f"th.{name.qualified}: what does it cost?"
    assert ">>> import thetahat as th" in text, f"th.{name.qualified}: no example"


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_run(name):
    documented = {name.qualified: name.value}
    if inspect.isclass(name.value):
        own, _ = methods(name.value)
        documented |= {f"{name.qualified}.{own}": getattr(name.value, own) for own in own}
    finder, report = doctest.DocTestFinder(recurse=False), []
    runner = doctest.DocTestRunner(verbose=False)
    for label, value in documented.items():
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
