"""Every model has a picture: an example of the gallery that uses it."""

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
