"""The table of where the rows of every estimator may be, from what its class declares."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

ABOUT = """
A model accepts rows in memory as NumPy arrays and tables of pandas, polars and Arrow. The table
says where else its rows may be. It is made from what each class declares, and tests fit every model
to rows of each kind.

**sparse**: SciPy's sparse arrays, without making them dense where the method allows it.
**files**: a source of ``th.scan``, read block by block; models without this need all rows at once
and say so. **Dask**: Dask arrays and dataframes, and a source of ``th.from_dask``. With "workers"
the workers compute sums of their partitions, and only these come to the client. With "client" the
method visits its rows in order: their blocks come to the client one after the other, so that
memory stays bounded, but the workers save no time; see :doc:`/outgrowing_dask`. **devices**: torch
and CuPy arrays, see :doc:`devices`. **missing**: NaN as a missing value. **categories**: columns of
categories or text in a source.
""".strip().split("\n")
HEADS = ("estimator", "sparse", "files", "Dask", "devices", "missing", "categories")


def support_rows(names: Any) -> list[tuple[str, ...]]:
    """One line per estimator."""
    rows = []
    for name in names:
        cls = name.value
        if inspect.isclass(cls) and hasattr(cls, "_streams") and hasattr(cls, "fit"):
            link = f":doc:`{name.qualified} </api/{name.qualified}>`"
            sparse, files, *others = ("yes" if each else "—" for each in supports(cls))
            rows.append((link, sparse, files, on_dask(cls) or "—", *others))
    return rows


def on_dask(cls: Any) -> str:
    """Who reads the partitions of a Dask collection in a fit; empty where it is refused."""
    if not cls._streams:
        return ""
    return "client" if cls._reads_on_client or cls._visits_rows_in_order else "workers"


def supports(cls: Any) -> tuple[bool, ...]:
    """Whether a class supports sparse rows, files, devices, missing values and categories."""
    tags = cls._example().__sklearn_tags__().input_tags
    on_devices = bool(cls._device_methods) or cls._accepts_devices
    categories = cls._accepts_categories and cls._streams
    return tags.sparse, cls._streams, on_devices, tags.allow_nan, categories


def support_page(
    names: Any, title: Callable[..., list[str]], table: Callable[..., list[str]]
) -> str:
    """The page of the table."""
    lines = [*title("Where the rows may be", "="), "", *ABOUT, ""]
    lines += table(HEADS, support_rows(names), (34, 11, 11, 11, 11, 11, 11))
    return "\n".join(lines) + "\n"
