"""The rows of a source in the form that a model takes: a model, a pipeline, or one of others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.foundation.errors import DataError


def accepted(model: Any, source: Source) -> Source:
    """The source, with missing values and categories if the model accepts them."""
    from sklearn.utils import get_tags

    first = next(_parts(model), model)
    source = source.with_missing() if get_tags(first).input_tags.allow_nan else source
    categories = _takes_source(model) and getattr(first, "_accepts_categories", False)
    return source.with_categories() if categories else source


def rows_for(model: Any, source: Source) -> Callable[[Block], Any]:
    """The function of a block of the source that gives the rows to pass to the model.

    Models of thetahat and pipelines of them take a source, and compare its columns themselves.
    Others take a table if they were fitted to one, or else an array.
    """
    if _takes_source(model):
        return lambda block: rows_of_block(block, source)
    names = getattr(next(_parts(model), model), "feature_names_in_", None)
    if names is None or not source.schema.names:
        return lambda block: block.X
    _require_same_names(model, tuple(names), source.schema.names)
    return lambda block: table_of_block(block.X, names)


def rows_of_block(block: Block, source: Source) -> InMemory:
    """The rows of a block of a source, with the names of their columns."""
    return InMemory(
        X=block.X, n_features=source.n_features, dtype=source.dtype, schema=source.schema
    )


def table_of_block(X: Any, names: Iterable[str]) -> Any:
    """Rows as a table with these columns, or as they are if pandas is not installed."""
    try:
        import pandas
    except ImportError:
        return X
    return pandas.DataFrame(X, columns=list(names))


def _takes_source(model: Any) -> bool:
    return all(hasattr(part, "_streams") for part in _parts(model))


def _parts(model: Any) -> Iterator[Any]:
    """The steps of a pipeline, in order and without nested ones, or the model itself."""
    best = getattr(model, "best_estimator_", None)
    steps = getattr(model, "steps", None)
    if best is not None and not hasattr(model, "_streams"):
        yield from _parts(best)
    elif isinstance(steps, list):
        for _, step in steps:
            if step is not None and step != "passthrough":
                yield from _parts(step)
    else:
        yield model


def _require_same_names(model: Any, expected: tuple[Any, ...], found: tuple[str, ...]) -> None:
    if expected == found:
        return
    missing = [name for name in expected if name not in found]
    what = f"has no column {missing[0]!r}" if missing else f"has the columns {list(found)}"
    raise DataError(
        f"predict_to_file: {type(model).__name__} was fitted to the columns {list(expected)}, "
        f"in this order, but the source {what}. Open the file with "
        "features=list(model.feature_names_in_)."
    )
