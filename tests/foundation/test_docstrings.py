"""Docstrings completed from the classes they extend."""

from dataclasses import KW_ONLY

from thetahat.estimator.declaration import with_parameters
from thetahat.foundation.docstrings import described_like


@with_parameters
class Shared:
    """What two models share.

    Parameters
    ----------
    depth : int or None, default=None
        Maximum depth of the tree.
    rate : float, default=1e-1
        Shrinks the contribution
        of each tree.

    Attributes
    ----------
    trees_ : list
        The trees of the model.
    """

    depth: int | None = None
    _: KW_ONLY
    rate: float = 0.1

    def fit(self, X, *rest, **params):
        """Fit the model.

        Parameters
        ----------
        X : array
            The rows to learn from.
        y : array
            The numbers to predict.
        weight : array or None, default=None
            The weights of the rows.
        **params : dict
            Passed on to the splitter.

        Returns
        -------
        self
            The fitted model.
        """


@with_parameters
class Classifier(Shared):
    """A classifier.

    Cost: O(n).

    Parameters
    ----------
    criterion : str, default="gini"
        Impurity of a node.

    Attributes
    ----------
    classes_ : array
        The labels of the classes.

    Examples
    --------
    >>> Classifier().rate
    0.3
    """

    _: KW_ONLY
    rate: float = 0.3
    criterion: str = "gini"

    def fit(self, X, y, extra=None, weight=1.0, **params):
        """Fit the classifier.

        Cost: O(n).

        Parameters
        ----------
        y : array
            The labels to predict.
        extra : int, optional
            Not in the base class.

        Examples
        --------
        >>> Classifier()
        """


@with_parameters
class Plain(Shared):
    """Without sections of its own."""

    def fit(self, X):
        return self


def test_missing_entries_come_from_the_base_class_with_the_default_of_the_class():
    assert (
        Classifier.__doc__
        == """A classifier.

Cost: O(n).

Parameters
----------
depth : int or None, default=None
    Maximum depth of the tree.
rate : float, default=0.3
    Shrinks the contribution
    of each tree.
criterion : str, default="gini"
    Impurity of a node.

Attributes
----------
classes_ : array
    The labels of the classes.
trees_ : list
    The trees of the model.

Examples
--------
>>> Classifier().rate
0.3"""
    )


def test_missing_sections_are_added():
    assert (
        Plain.__doc__
        == """Without sections of its own.

Parameters
----------
depth : int or None, default=None
    Maximum depth of the tree.
rate : float, default=1e-1
    Shrinks the contribution
    of each tree.

Attributes
----------
trees_ : list
    The trees of the model."""
    )


def test_fields_are_inherited_and_change_their_default():
    model = Classifier(4, criterion="entropy")
    assert (model.depth, model.rate, model.criterion) == (4, 0.3, "entropy")
    assert Shared().rate == 0.1


def test_methods_describe_only_the_arguments_that_differ():
    assert (
        Classifier.fit.__doc__
        == """Fit the classifier.

Cost: O(n).

Parameters
----------
X : array
    The rows to learn from.
y : array
    The labels to predict.
extra : int, optional
    Not in the base class.
weight : array or None, default=1.0
    The weights of the rows.
**params : dict
    Passed on to the splitter.

Returns
-------
self
    The fitted model.

Examples
--------
>>> Classifier()"""
    )


def test_methods_without_a_docstring_have_that_of_the_base_class_with_their_own_arguments():
    assert (
        Plain.fit.__doc__
        == """Fit the model.

Parameters
----------
X : array
    The rows to learn from.

Returns
-------
self
    The fitted model."""
    )


def test_parameters_by_position_come_first():
    @with_parameters
    class Late(Plain):
        """With a parameter of a class that comes later.

        Parameters
        ----------
        first : int, default=0
            Given by position.
        """

        first: int = 0

    described = Late.__doc__.partition("Parameters")[2].partition("Attributes")[0]
    assert [line.split()[0] for line in described.splitlines() if " : " in line] == [
        "depth",
        "first",
        "rate",
    ]


def test_functions_describe_only_the_arguments_that_differ():
    @described_like(Shared.fit)
    def fit(X, y, weight):
        """Fit a function.

        Parameters
        ----------
        y : int
            One number to predict.
        """

    assert (
        fit.__doc__
        == """Fit a function.

Parameters
----------
X : array
    The rows to learn from.
y : int
    One number to predict.
weight : array or None, default=None
    The weights of the rows.

Returns
-------
self
    The fitted model."""
    )
