"""Put the models of this library into scikit-learn, and take them out again."""

from __future__ import annotations

import copyreg
from dataclasses import dataclass
from importlib import import_module
from textwrap import wrap
from types import ModuleType
from typing import Any

from thetahat.estimator.base import Estimator
from thetahat.foundation.errors import ParameterError
from thetahat.migration.shared import named, shared_names

_theirs: dict[tuple[ModuleType, str], Any] = {}
"""What scikit-learn had in the place of each name that is replaced now."""


@dataclass(frozen=True)
class Swapped:
    """The names of scikit-learn that stand for models of this library; prints as a list.

    Formula: {package.name} for every name that both libraries have. Cost: O(names).

    Attributes
    ----------
    names : tuple of str
        Each name with its package, such as "sklearn.linear_model.Lasso".

    Examples
    --------
    >>> import thetahat as th
    >>> swapped = th.patch_sklearn("Lasso")
    >>> swapped.names
    ('sklearn.linear_model.Lasso',)
    >>> th.unpatch_sklearn()
    """

    names: tuple[str, ...]

    def __str__(self) -> str:
        packages: dict[str, list[str]] = {}
        for each in self.names:
            package, _, name = each.rpartition(".")
            packages.setdefault(package, []).append(name)
        plural = "" if len(self.names) == 1 else "s"
        lines = [f"{len(self.names)} name{plural} of scikit-learn replaced by thetahat's"]
        for package, names in packages.items():
            lines += [f"{package} ({len(names)})"]
            lines += wrap(", ".join(names), 96, initial_indent="  ", subsequent_indent="  ")
        return "\n".join(lines)

    __repr__ = __str__


def patch_sklearn(*names: str) -> Swapped:
    """Replace scikit-learn's models by those of the same name in thetahat, in this process.

    Call it before the program imports classes from scikit-learn: ``from sklearn.linear_model import
    Lasso`` then gives the class of thetahat, and a class that was imported before is not changed.
    Everything without an equivalent in thetahat (pipelines, metrics, splits, preparation of
    columns) is not replaced, nor is what scikit-learn uses inside its own models. A pickle that was
    written with scikit-learn's classes still loads as such. ``python -m thetahat.patch script.py``
    does the same for a program without editing it.

    Formula: sklearn.package.Name = th.Name for every Name in both libraries. Cost: imports
    scikit-learn's packages, which takes about a second.

    Parameters
    ----------
    *names : str
        The names to replace, such as "Lasso", with or without their package. By default all names
        that both libraries have. A second call adds names to those of the first.

    Returns
    -------
    Swapped
        All names that are replaced now.

    Examples
    --------
    >>> import thetahat as th
    >>> th.patch_sklearn("Lasso", "Ridge").names
    ('sklearn.linear_model.Lasso', 'sklearn.linear_model.Ridge')
    >>> from sklearn.linear_model import Lasso
    >>> Lasso is th.Lasso
    True
    >>> th.unpatch_sklearn()
    """
    shared = _replaced_before() if _theirs else shared_names()
    known = {name for replaced in shared.values() for name in replaced}
    names = tuple(str(name).rpartition(".")[2] for name in names)
    for name in names:
        if name not in known:
            raise ParameterError(
                f"patch_sklearn: {name!r} must be the name of a model that scikit-learn and "
                "thetahat share. Use patch_sklearn() to replace and list all of them."
            )
    for package, replaced in shared.items():
        for name, ours in replaced.items():
            if not names or name in names:
                _theirs.setdefault((package, name), getattr(package, name))
                setattr(package, name, ours)
                if isinstance(ours, type) and issubclass(ours, Estimator):
                    theirs = _theirs[package, name]
                    ours._stands_for = theirs
                    if theirs.__module__ == package.__name__:
                        copyreg.pickle(theirs, _reduced)
    return Swapped(tuple(sorted(f"{package.__name__}.{name}" for package, name in _theirs)))


def unpatch_sklearn() -> None:
    """Undo `patch_sklearn`: scikit-learn has its own classes again.

    Classes that the program imported in the meantime, and models made of them, stay those of this
    library.

    Formula: sklearn.package.Name as before `patch_sklearn`. Cost: O(names).

    Examples
    --------
    >>> import thetahat as th
    >>> swapped = th.patch_sklearn()
    >>> th.unpatch_sklearn()
    >>> from sklearn.linear_model import Lasso
    >>> Lasso is th.Lasso
    False
    """
    while _theirs:
        (package, name), theirs = _theirs.popitem()
        ours = named(name)
        if getattr(package, name) is ours:  # and not what the program has put there since
            setattr(package, name, theirs)
        if isinstance(ours, type) and issubclass(ours, Estimator):
            ours._stands_for = None
            copyreg.dispatch_table.pop(theirs, None)


def _reduced(model: Any) -> tuple[Any, ...]:
    """How a model of scikit-learn is pickled whose class is not found under its name now."""
    return _empty, (type(model).__module__, type(model).__name__), model.__getstate__()


def _empty(module: str, name: str) -> Any:
    """A model of scikit-learn's own class, whether or not it is replaced, without its state."""
    package = import_module(module)
    kind = _theirs.get((package, name), getattr(package, name))
    return kind.__new__(kind)


def _replaced_before() -> dict[ModuleType, dict[str, Any]]:
    """The shared names while some of them are replaced: those of scikit-learn as it was."""
    patched = {place: getattr(*place) for place in _theirs}
    try:
        for (package, name), value in _theirs.items():
            setattr(package, name, value)
        return shared_names()
    finally:
        for (package, name), value in patched.items():
            setattr(package, name, value)
