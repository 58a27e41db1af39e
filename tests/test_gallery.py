"""Every model has a picture: an example of the gallery that uses it."""

import re

import pytest

from docs import pictures
from thetahat.catalog import estimators


@pytest.mark.parametrize("name", estimators())
def test_every_model_is_shown_in_an_example(name):
    assert pictures.showing(name)


def test_examples_say_what_they_are_about():
    for example in pictures.examples():
        assert example.title, example.stem
        assert example.names, example.stem


def test_a_figure_is_shown_in_the_part_that_draws_it():
    """The documentation takes a picture at the end of each part; a figure left open is cut off."""
    for path in sorted(pictures.GALLERY.glob("*/plot_*.py")):
        for part in re.split(r"^# %%.*$", path.read_text(encoding="utf-8"), flags=re.MULTILINE):
            assert "plt.subplots" not in part or "plt.show" in part, path.name


@pytest.mark.parametrize("section", pictures.SECTIONS)
def test_a_section_has_a_header_and_few_examples(section):
    """A title, two sentences, and no more examples than fit on a screen or two."""
    header = (pictures.GALLERY / section / "GALLERY_HEADER.rst").read_text(encoding="utf-8")
    title, rule, blank, *text = header.splitlines()
    assert rule == "-" * len(title)
    assert not blank
    assert " ".join(text).count(". ") + 1 == 2
    assert 1 <= sum(example.section == section for example in pictures.examples()) <= 15


def test_every_example_is_in_a_section():
    assert not list(pictures.GALLERY.glob("*.py"))
    folders = {path.name for path in pictures.GALLERY.iterdir() if path.is_dir()}
    assert folders - {"__pycache__"} == set(pictures.SECTIONS)
