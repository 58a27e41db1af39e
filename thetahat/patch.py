"""Run a program written for scikit-learn with the models of this library.

    python -m thetahat.patch script.py [argument ...]
    python -m thetahat.patch -m module [argument ...]

`th.patch_sklearn` is called first; the program then runs as ``python script.py`` runs it.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

USAGE = "usage: python -m thetahat.patch [--list | script.py | -m module] [argument ...]"


def main(arguments: Sequence[str]) -> int:
    """Patch scikit-learn, and run the program with its arguments. Cost: that of the program."""
    match list(arguments):
        case ["--list"]:
            print(_patch())
        case ["-h" | "--help"]:
            print(f"{__doc__}\n{USAGE}")
        case ["-m", module, *rest]:
            _patch()
            sys.argv = [module, *rest]
            sys.path.insert(0, "")
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case [script, *rest] if not script.startswith("-"):
            if not Path(script).exists():
                print(f"There is no file {script}. {USAGE}", file=sys.stderr)
                return 2
            _patch()
            sys.argv = [script, *rest]
            if not Path(script).is_dir():
                sys.path.insert(0, str(Path(script).resolve().parent))
            runpy.run_path(script, run_name="__main__")
        case _:
            print(USAGE, file=sys.stderr)
            return 2
    return 0


def _patch() -> object:
    """What was exchanged. Imported here, because scikit-learn takes seconds to load."""
    from thetahat.migration.patching import patch_sklearn

    return patch_sklearn()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
