"""Imports of public namespaces as modules, and of modules of scikit-learn that are none here.

``from thetahat.losses import Huber`` finds the namespace ``th.losses``, which is the module
`thetahat.mathematics.losses`: both names are the same module, so that every class exists once.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from thetahat import _public

PACKAGE = "thetahat."
_OTHER_NAMES = {
    PACKAGE + name: module
    for name, module in _public.NAMESPACES.items()
    if module != PACKAGE + name
}


class _SameModule:
    """Loads a module that exists under another name, and leaves it as it is."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        from importlib import import_module

        module = import_module(self.name)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # which the import has replaced


class Namespaces:
    """Finds ``thetahat.losses`` and its submodules before they are searched as files."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A spec for the module of a namespace; None for all other names."""
        if not name.startswith(PACKAGE):
            return None
        top = ".".join(name.split(".", 2)[:2])
        if top not in _OTHER_NAMES:
            return None
        real = _OTHER_NAMES[top] + name[len(top) :]
        return ModuleSpec(name, _SameModule(real))  # type: ignore[arg-type]


class Hints:
    """Explains where the classes of a module of scikit-learn are, after all other finders."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> None:
        """Raise an error for a module of scikit-learn; None for all other names."""
        if name.startswith(PACKAGE) and (words := place_of_classes(name[len(PACKAGE) :])):
            # Without the attribute `name`, because ``from thetahat import module`` would then
            # replace this error by one without the hint.
            raise ModuleNotFoundError(f"No module named {name!r}{words}")


def place_of_classes(module: str) -> str:
    """Where thetahat has the public names of a module of scikit-learn; nothing if it has none."""
    from importlib import import_module
    from importlib.util import find_spec

    if not module.isidentifier() or module.startswith("_"):
        return ""
    try:
        if find_spec(f"sklearn.{module}") is None:
            return ""
        public = getattr(import_module(f"sklearn.{module}"), "__all__", ())
    except ImportError:
        return ""
    names = [name for name in public if name in _public.NAMES]
    if not names:
        return ""
    shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    return f". The names of sklearn.{module} are in thetahat itself: from thetahat import {shown}"


def install() -> None:
    """Let the import statement find the namespaces; once per process."""
    if Namespaces not in sys.meta_path:
        sys.meta_path.insert(0, Namespaces)
        sys.meta_path.append(Hints)
