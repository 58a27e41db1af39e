"""Properties that are computed once per object, without a lock.

In Python 3.11 all objects of a class share one lock per `functools.cached_property`. A process that
is forked while another thread computes such a property inherits the lock and waits for ever, and
threads that fit models wait for each other. Python 3.12 removed the lock, and so does this module.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):
        """A property whose value is kept in the ``__dict__`` of the object.

        Two threads may both compute it, and the later value is kept: it must be the same.
        """

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            kept = vars(instance)
            if self.attrname not in kept:
                kept[self.attrname] = self.func(instance)
            return kept[self.attrname]


__all__ = ["cached_property"]
