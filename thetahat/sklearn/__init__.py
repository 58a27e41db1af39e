"""scikit-learn's modules, with the models of this library in them.

    from thetahat.sklearn.linear_model import Lasso

is the class here; what this library does not have is scikit-learn's own. Every module of
scikit-learn can be imported so, and scikit-learn itself stays as it is.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import sklearn

from thetahat.migration.shared import replacement

__version__ = sklearn.__version__
__all__ = list(sklearn.__all__)


class _Module(ModuleType):
    """A module of scikit-learn in which shared names have the values of this library."""

    def __init__(self, name: str, theirs: ModuleType) -> None:
        super().__init__(name, theirs.__doc__)
        self.__dict__["_theirs"] = theirs
        if hasattr(theirs, "__all__"):
            self.__dict__["__all__"] = list(theirs.__all__)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return _attribute(self.__name__, self.__dict__["_theirs"], name)

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_theirs"])


def _attribute(module: str, theirs: ModuleType, name: str) -> Any:
    try:
        value = getattr(theirs, name)
    except AttributeError as error:
        raise AttributeError(f"module {module!r} has no attribute {name!r}") from error
    if isinstance(value, ModuleType) and value.__name__ == f"{theirs.__name__}.{name}":
        return importlib.import_module(f"{module}.{name}")
    return replacement(value)


class _Finder(MetaPathFinder, Loader):
    """Finds ``thetahat.sklearn.x`` where scikit-learn has a module ``sklearn.x``."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(f"{__name__}."):
            return None
        found = find_spec(fullname.removeprefix("thetahat."))
        if found is None:
            return None
        package = found.submodule_search_locations is not None
        return ModuleSpec(fullname, self, is_package=package)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Module(spec.name, importlib.import_module(spec.name.removeprefix("thetahat.")))

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is run: the names are looked up when they are used."""


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _attribute(__name__, sklearn, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


if not any(isinstance(each, _Finder) for each in sys.meta_path):
    sys.meta_path.append(_Finder())
