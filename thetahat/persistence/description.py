"""The description of a model file, read without loading the model."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from inspect import signature
from typing import Any

from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.printable import printable
from thetahat.persistence.classes import class_named
from thetahat.persistence.container import read
from thetahat.persistence.encoding import Encoder

SHOWN = 60
"""Largest number of characters of a parameter that are shown."""


@dataclass(frozen=True)
class FileDescription:
    """The content of a model file, as found by `describe_file`; prints as a summary.

    Formula: θ̂ by its classes, parameters and sizes. Cost: O(1) memory.

    Attributes
    ----------
    path : str
        The path of the model file.
    model : str
        The class of the model. For a pipeline, also the classes of its steps in order.
    parameters : dict
        Constructor parameters as text. For a pipeline, those of its last step.
    changed : dict
        Those of `parameters` that differ from their defaults. The summary shows these.
    columns : list of str
        Names of the columns of the training data, if they are known.
    n_features : int or None
        The number of columns of the training data. None if the model is not fitted.
    classes : list or None
        The labels of a classifier. None for other models.
    n_numbers : int
        How many numbers the arrays of the model hold.
    n_bytes : int
        The size of the file in bytes.
    versions : dict
        The versions of Python and of the libraries that wrote the file.
    notes : dict
        The notes that were given to `th.save`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import thetahat as th
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     th.save(th.Ridge(alpha=2.0).fit([[0.0], [1.0]], [1.0, 3.0]), folder + "/m.theta")
    ...     found = th.describe_file(folder + "/m.theta")
    >>> found.model, found.parameters["alpha"]
    ('Ridge', '2.0')
    """

    path: str
    model: str
    parameters: dict[str, str]
    changed: dict[str, str]
    columns: list[str]
    n_features: int | None
    classes: list[Any] | None
    n_numbers: int
    n_bytes: int
    versions: dict[str, str]
    notes: dict[str, Any]

    def __str__(self) -> str:
        lines = [f"{self.model}  ({self.path}, {_bytes(self.n_bytes)})"]
        width = self.n_features if self.n_features is not None else len(self.columns) or None
        if width is not None:
            named = f": {', '.join(self.columns[:8])}" if self.columns else ""
            more = f", … ({len(self.columns) - 8} more)" if len(self.columns) > 8 else ""
            lines.append(f"  columns     {width}{named}{more}")
        if self.classes is not None:
            shown = ", ".join(map(str, self.classes[:8]))
            more = ", …" if len(self.classes) > 8 else ""
            lines.append(f"  classes     {len(self.classes)}: {shown}{more}")
        lines.append(f"  numbers     {self.n_numbers:,}")
        lines += [
            f"  {key:<11} {value}"
            for key, value in self.notes.items()
            if not isinstance(value, dict | list)
        ]
        for name, value in self.changed.items():
            lines.append(f"  parameter   {name} = {value}")
        if self.parameters and not self.changed:
            lines.append("  parameters  all have their defaults")
        made = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        lines.append(f"  made with   {made}")
        return "\n".join(map(printable, lines))


def describe_file(path: str | os.PathLike[str]) -> FileDescription:
    """Describe the content of a model file, without loading the model.

    Formula: θ̂ by its classes, parameters and sizes. Cost: O(size of the manifest); the arrays are
    not read.

    Parameters
    ----------
    path : str or path
        The path of a file written by `th.save`.

    Returns
    -------
    FileDescription
        The description. It prints as a short summary.

    Examples
    --------
    >>> import tempfile
    >>> import thetahat as th
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     th.save(th.Ridge().fit([[0.0], [1.0]], [1.0, 3.0]), folder + "/m.theta")
    ...     th.describe_file(folder + "/m.theta").n_features
    1
    """
    with read(path) as file:
        manifest, shapes = file.manifest, file.shapes()
    try:
        return _described(path, manifest, shapes)
    except RecursionError as failure:
        raise DataError(f"{path} is damaged: its model is nested too deeply.") from failure


def _described(
    path: str | os.PathLike[str], manifest: dict[str, Any], shapes: list[tuple[Any, str]]
) -> FileDescription:
    model = manifest["model"]
    steps = _steps(model)
    last = [model, *steps][-1]
    n_features = _found([model, *steps], "n_features_in_")
    return FileDescription(
        path=os.fspath(path),
        model=_title(model),
        parameters={name: _short(value) for name, value in _parameters(last).items()},
        changed={name: _short(value) for name, value in _changed(last).items()},
        columns=[str(name) for name in _entries(_found([model, *steps], "feature_names_in_"))],
        n_features=n_features if isinstance(n_features, int) else None,
        classes=_entries(_found([model, *reversed(steps)], "classes_")) or None,
        n_numbers=sum(math.prod(shape) for shape, _ in shapes),
        n_bytes=os.path.getsize(path),
        versions={str(k): str(v) for k, v in _dictionary(manifest.get("versions")).items()},
        notes=_dictionary(manifest.get("notes")),
    )


def _fields(plain: Any) -> dict[str, Any]:
    return _dictionary(plain.get("fields")) if isinstance(plain, dict) else {}


def _parameters(plain: Any) -> dict[str, Any]:
    """The fields that are constructor parameters."""
    return {
        name: value
        for name, value in _fields(plain).items()
        if not name.endswith("_") and not name.startswith("_")
    }


def _changed(plain: Any) -> dict[str, Any]:
    """The parameters that differ from the defaults of the class, if it is known."""
    parameters = _parameters(plain)
    kind = class_named(str(plain.get("object")), refuse=False) if parameters else None
    if kind is None:
        return parameters
    declared = signature(kind).parameters
    return {
        name: value
        for name, value in parameters.items()
        if name not in declared or not _is_default(value, declared[name].default)
    }


def _is_default(plain: Any, default: Any) -> bool:
    try:
        return bool(plain == Encoder().encode(default, "default"))
    except CapabilityError:
        return False


def _dictionary(plain: Any) -> dict[str, Any]:
    return plain if isinstance(plain, dict) else {}


def _title(plain: Any) -> str:
    """The class and its steps: "Pipeline (StandardScaler → Ridge)"."""
    if not isinstance(plain, dict) or "object" not in plain:
        return "no model"
    name = _class(plain)
    inside = [_title(step) for step in _steps(plain)]
    return f"{name} ({' → '.join(inside)})" if inside else name


def _class(plain: dict[str, Any]) -> str:
    """The class without its namespace or module."""
    return str(plain["object"]).rpartition(":")[2].rpartition(".")[2]


def _steps(plain: Any) -> list[Any]:
    """The steps of a pipeline, which are pairs of a name and a step."""
    pairs = _fields(plain).get("steps", [])
    pairs = [_items(pair) for pair in pairs] if isinstance(pairs, list) else []
    return [pair[1] for pair in pairs if len(pair) == 2]


def _items(plain: Any) -> list[Any]:
    inside = plain.get("tuple") if isinstance(plain, dict) else plain
    return inside if isinstance(inside, list) else []


def _found(holders: list[Any], name: str) -> Any:
    """An attribute of the first of these that has it."""
    return next((_fields(each)[name] for each in holders if name in _fields(each)), None)


def _entries(plain: Any) -> list[Any]:
    """The entries of a stored array of text; arrays of numbers are not read."""
    text = plain.get("text") if isinstance(plain, dict) else None
    entries = text[2] if isinstance(text, list) and len(text) == 3 else None
    return entries if isinstance(entries, list) else []


def _short(plain: Any) -> str:
    """A value as it would be written in code."""
    if isinstance(plain, dict):
        if "object" in plain:
            inside = ", ".join(f"{name}={_short(each)}" for name, each in _changed(plain).items())
            text = f"{_class(plain)}({inside})"
        elif "tuple" in plain:
            text = f"({', '.join(map(_short, _items(plain)))})"
        else:
            kind, value = next(iter(plain.items()), ("", ""))
            text = "an array" if kind in ("array", "text", "sparse") else str(value)
    elif isinstance(plain, list):
        text = f"[{', '.join(map(_short, plain))}]"
    else:
        text = repr(plain)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _bytes(count: int) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000  # type: ignore[assignment]
    raise AssertionError("unreachable")
