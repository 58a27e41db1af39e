"""Methods that draw: axes of their own or of the caller, and a complete docstring."""

import pytest

from thetahat.foundation import drawing
from thetahat.foundation.errors import MissingExtraError


class Line:
    @drawing.draws
    def plot(self, colour: str = "C0", axes=None, label=None) -> None:
        """Plot a line.

        Parameters
        ----------
        colour : str, default="C0"
            The colour of the line.
        """
        axes.plot([0, 1], [0, 1], color=colour, label=label)


def test_new_axes_are_created_and_given_axes_are_used():
    pytest.importorskip("matplotlib").use("agg")
    axes = Line().plot(label="first")
    assert Line().plot("C1", axes) is axes
    assert [line.get_color() for line in axes.lines] == ["C0", "C1"]
    assert axes.lines[0].get_label() == "first"


def test_the_docstring_describes_all_parameters_in_order():
    text = Line.plot.__doc__
    places = [text.index(part) for part in ("Plot", "colour :", "axes :", "label :", "Returns")]
    assert places == sorted(places)


def test_without_matplotlib_the_error_names_the_method(monkeypatch):
    def missing(module, *, extra, purpose):
        raise MissingExtraError(purpose)

    monkeypatch.setattr(drawing, "optional_import", missing)
    with pytest.raises(MissingExtraError, match=r"Line\.plot"):
        Line().plot()
