"""The compiled kernels of a wheel that runs on any x86-64 machine, at the machine's own level.

Such a wheel has the kernels twice: for every machine (``_native_v1``) and for machines with AVX2
(``_native_v3``). The environment variable ``THETAHAT_LEVEL=1`` asks for the first. All other builds
have one module, ``_native``, which Python finds before this file.
"""

import os
from importlib import import_module


def _level(machine: int, asked: str | None) -> int:
    """The level of the machine, or a lower one that is requested."""
    if asked is None:
        return machine
    if asked not in ("1", "3"):
        raise ImportError(f"THETAHAT_LEVEL={asked!r} is not a level of x86-64; use 1 or 3")
    return min(machine, int(asked))


_machine = import_module("thetahat._native_v1").processor_level()
_chosen = _level(_machine, os.environ.get("THETAHAT_LEVEL"))
_kernels = vars(import_module(f"thetahat._native_v{_chosen}"))
globals().update({name: value for name, value in _kernels.items() if not name.startswith("__")})
