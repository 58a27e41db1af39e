"""The names that this library and scikit-learn share."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from functools import cache, wraps
from types import ModuleType
from typing import Any

import sklearn

import thetahat
from thetahat._public import FUNCTIONS, NAMES

MODELS = "thetahat.models."
_PLACES = NAMES | FUNCTIONS


SHOW_A_TREE = ("export_text", "plot_tree")
"""Functions of a fitted tree. A program may hold trees of scikit-learn that it has loaded."""


def named(name: str) -> Any:
    """What stands for a shared name: that of ``th`` or ``th.functions``, for its own models."""
    if name in SHOW_A_TREE:
        return _for_trees_of_both(name)
    return getattr(thetahat.functions if name in FUNCTIONS else thetahat, name)


@cache
def _for_trees_of_both(name: str) -> Callable[..., Any]:
    """The function of this library, and that of scikit-learn for its own trees.

    It is made when names are first compared, before any of them is replaced.
    """
    ours, theirs = getattr(thetahat, name), getattr(importlib.import_module("sklearn.tree"), name)

    @wraps(ours)
    def shown(decision_tree: Any, *args: Any, **kwargs: Any) -> Any:
        its_own = type(decision_tree).__module__.startswith("sklearn.")
        return (theirs if its_own else ours)(decision_tree, *args, **kwargs)

    return shown


def replacement(value: Any) -> Any:
    """What this library has for a class or function of scikit-learn; the value itself if nothing.

    Models and the functions beside them have the same parameters here if they have the same name.
    Functions that evaluate models do not: ``th.roc_curve`` is not ``sklearn.metrics.roc_curve``.
    """
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return value
    name, module = getattr(value, "__name__", ""), getattr(value, "__module__", None) or ""
    if module.startswith("sklearn.") and _PLACES.get(name, "").startswith(MODELS):
        return named(name)
    return value


def shared_names() -> dict[ModuleType, dict[str, Any]]:
    """Per public package of scikit-learn, its names that this library has, with the values here.

    All of these packages are imported first, so that no module of scikit-learn that is loaded later
    finds other classes than its own.
    """
    found = {}
    for each in pkgutil.iter_modules(sklearn.__path__):
        if each.name not in sklearn.__all__:
            continue
        package = importlib.import_module(f"sklearn.{each.name}")
        public = vars(package).get("__all__")
        names = {
            name: ours
            for name, theirs in vars(package).items()
            if (ours := replacement(theirs)) is not theirs
            and (theirs.__module__ == package.__name__ if public is None else name in public)
        }
        if names:
            found[package] = names
    return found
