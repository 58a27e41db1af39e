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
    for path in sorted(pictures.GALLERY.glob("plot_*.py")):
        for part in re.split(r"^# %%.*$", path.read_text(encoding="utf-8"), flags=re.MULTILINE):
            assert "plt.subplots" not in part or "plt.show" in part, path.name
