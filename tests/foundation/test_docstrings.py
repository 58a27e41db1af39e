"""Docstrings completed from the classes they extend, or from other functions."""

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


@with_parameters
class Plain(Shared):
    """Without sections of its own."""


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


def score(X, *, folds=5, seed=0):
    """Score a model.

    Parameters
    ----------
    X : array
        The rows.
    folds : int, default=5
        Number of folds.
    seed : int, default=0
        Seed of the random order.
    """


@described_like(score)
def search(X, grid, *, folds=10, seed=0):
    """Search a grid.

    Parameters
    ----------
    grid : dict
        The values to try.

    Returns
    -------
    dict
    """


def test_parameters_of_functions_come_from_other_functions():
    assert (
        search.__doc__
        == """Search a grid.

Parameters
----------
X : array
    The rows.
grid : dict
    The values to try.
folds : int, default=10
    Number of folds.
seed : int, default=0
    Seed of the random order.

Returns
-------
dict"""
    )
