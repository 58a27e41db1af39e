"""scikit-learn's own tests of every class shared with it, run with the class here.

`expected.toml` lists per module the tests that are not expected to pass, by kind of reason. A test
that fails unlisted is a fault; a listed test that passes must be taken off the list.
"""

import itertools
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from tests.compatibility.runner import ROOT, run, unexpected

KINDS = {
    "private function",
    "wording of a message",
    "deprecation of theirs",
    "deliberate difference",
    "missing feature",
    "fault to mend",
    "rounding decides",
}
EITHER = "rounding decides"
"""Tests that pass on some processors and fail on others, because sums are rounded otherwise."""
PAGE = "docs/scikit_learn.rst"
"""Page of the documentation that describes the deliberate differences."""
EXPECTED = tomllib.loads(Path(__file__).with_name("expected.toml").read_text(encoding="utf-8"))


def listed(modules, kinds=KINDS):
    return [
        f"{module}::{test}"
        for module in modules
        for reason in EXPECTED[module].get("reasons", [])
        if reason["kind"] in kinds
        for test in reason["tests"]
    ]


@pytest.mark.slow
@pytest.mark.parametrize("module", EXPECTED)
def test_their_tests_pass_unless_listed(module):
    either = listed([module], {EITHER})
    assert not unexpected(run([module]), listed([module]), either=either)


@pytest.mark.slow
def test_a_sample_of_their_tests_passes_unless_listed():
    """About one test in 80 of every sixth module, the same ones at every run."""
    modules = list(EXPECTED)[::6]
    found, either = run(modules, every=80), listed(modules, {EITHER})
    assert not unexpected(found, listed(modules), sample=True, either=either)


@pytest.mark.parametrize("module", EXPECTED)
def test_reasons_are_of_a_known_kind_and_explained(module):
    for reason in EXPECTED[module].get("reasons", []):
        assert reason["kind"] in KINDS
        assert len(reason["why"].split()) > 3


def test_deliberate_differences_are_described_on_the_page():
    lines = (ROOT / PAGE).read_text(encoding="utf-8").splitlines()
    sections = {
        title for title, line in itertools.pairwise(lines) if title and line == "-" * len(title)
    }
    assert sections
    for module in EXPECTED.values():
        for reason in module.get("reasons", []):
            if reason["kind"] in ("deliberate difference", EITHER):
                page, _, section = reason["why"].partition(":")[0].partition(", ")
                assert (page, section) in {(PAGE, each) for each in sections}


def test_no_test_is_listed_twice():
    assert not [test for test, count in Counter(listed(EXPECTED)).items() if count > 1]


def outcomes(**tests):
    return {
        f"m.py::{each}": dict(outcome=outcome, message="why") for each, outcome in tests.items()
    }


def test_unlisted_failures_and_crashes_are_reported():
    records = outcomes(test_a="passed", test_b="failed", test_c="died", test_d="skipped")
    assert unexpected(records, []) == ["m.py::test_b failed: why", "m.py::test_c died: why"]


def test_listed_failures_are_expected_with_all_their_cases():
    records = {
        "m.py::test_a[1]": dict(outcome="failed", message=""),
        "m.py::test_a[2]": dict(outcome="failed", message=""),
    }
    assert unexpected(records, ["m.py::test_a"]) == []
    assert unexpected(records, ["m.py::test_a[1]"]) == ["m.py::test_a[2] failed: "]


def test_listed_passes_crashes_and_unknown_tests_are_reported():
    records = outcomes(test_a="passed", test_b="died")
    found = unexpected(records, ["m.py::test_a", "m.py::test_b", "m.py::test_c"])
    assert found == [
        "m.py::test_a is listed and passes",
        "m.py::test_b died: why",
        "m.py::test_c is listed and did not run",
    ]


def test_where_rounding_decides_a_test_may_pass_or_fail():
    records = outcomes(test_a="passed", test_b="failed", test_c="died")
    either = ["m.py::test_a", "m.py::test_b", "m.py::test_c"]
    assert unexpected(records, either, either=either) == ["m.py::test_c died: why"]
