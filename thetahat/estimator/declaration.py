"""Parameters of an estimator, declared as fields of its class.

A class declares a parameter by its type and default, ``alpha: float = 1.0``, and inherits the
parameters of the classes it extends. The constructor is made from these fields; as scikit-learn
requires, it stores the parameters and does nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from typing import Any, TypeVar, dataclass_transform

from sklearn.base import BaseEstimator

from thetahat.estimator.distributed.transformed import kept_out_of_tables
from thetahat.foundation.docstrings import complete

Class = TypeVar("Class", bound=type)


@dataclass_transform(eq_default=False)
def with_parameters(cls: Class) -> Class:
    """Make the constructor of an estimator from its fields, and complete its docstrings.

    Results of a transformer for sources and Dask collections stay as they are.

    Fields after ``_: KW_ONLY`` are passed by name. A field that a subclass declares again changes
    its default there. Parameters that the docstring leaves out are described as in the base class,
    and so are the arguments of methods that override those of a base class.
    """
    dataclass(eq=False, repr=False, match_args=False)(cls)
    ordered = sorted(fields(cls), key=lambda field: bool(field.kw_only))
    complete(cls, {field.name: field.default for field in ordered})
    setattr(cls, "_get_param_names", classmethod(_names_once))  # noqa: B010
    return kept_out_of_tables(cls)


def _names_once(cls: Any) -> list[str]:
    """The parameters of a class, which scikit-learn reads from its constructor at every use."""
    return _names(cls)


@cache
def _names(cls: Any) -> list[str]:
    return list(BaseEstimator._get_param_names.__func__(cls))
