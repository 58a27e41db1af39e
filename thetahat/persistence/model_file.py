"""`save` and `load`: a fitted model as one file, and back, bit for bit."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from thetahat.foundation.errors import DataError, ParameterError, ThetahatError
from thetahat.persistence.container import VERSION, read, write
from thetahat.persistence.encoding import Decoder, Encoder


def save(
    model: Any, path: str | os.PathLike[str], *, notes: Mapping[str, Any] | None = None
) -> None:
    """Write a model to a file that holds data and no code.

    Formula: load(save(f_θ̂)) = f_θ̂, bit for bit. Cost: O(size of θ̂) time and memory.

    The file is a safetensors file: the arrays of the model, and a manifest that names its classes,
    parameters and attributes. It is written whole or not at all. Estimators of thetahat, losses,
    penalties and scikit-learn's steps that scale, encode, impute or select can be saved, and
    pipelines of them. A function given by the user is stored by its name.

    Parameters
    ----------
    model : estimator
        Fitted or not.
    path : str or path
        Where to write; an existing file is replaced.
    notes : dict, optional
        Plain facts to keep beside the model (what it was trained on, by whom); `th.describe_file`
        shows them.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import thetahat as th
    >>> model = th.LinearRegression().fit([[0.0], [1.0]], [1.0, 3.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "line.theta"
    ...     th.save(model, path)
    ...     th.load(path).predict([[2.0]]).tolist()
    [5.0]
    """
    encoder = Encoder()
    manifest = {
        "model": encoder.encode(model, type(model).__name__),
        "notes": _plain_notes(notes or {}),
        "versions": versions(),
    }
    write(path, manifest, encoder.arrays)


def load(
    path: str | os.PathLike[str], *, functions: Mapping[str, Callable[..., Any]] | None = None
) -> Any:
    """Read a model that `save` wrote.

    Formula: load(save(f_θ̂)) = f_θ̂, bit for bit. Cost: O(size of the file) time and memory.

    Nothing in the file is run. Only classes of thetahat and listed steps of scikit-learn are made,
    every size is checked against the length of the file, and a file that was damaged on its way is
    refused by its digest.

    Parameters
    ----------
    path : str or path
    functions : dict, optional
        Functions the model was made with, by the name the error message asks for.

    Returns
    -------
    estimator

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import thetahat as th
    >>> model = th.Ridge().fit([[0.0], [1.0]], [1.0, 3.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     th.save(model, pathlib.Path(folder) / "ridge.theta")
    ...     again = th.load(pathlib.Path(folder) / "ridge.theta")
    >>> bool(again.coef_ == model.coef_)
    True
    """
    with read(path) as file:
        arrays, manifest = file.arrays(), file.manifest
    decoder = Decoder(_array_of(arrays), functions or {})
    try:
        return decoder.decode(manifest["model"])
    except ThetahatError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as failure:
        raise DataError(
            f"{path} is no model this version of thetahat can load: {failure}. It was made by "
            "another version, or changed since."
        ) from failure


def versions() -> dict[str, str]:
    """What a model was made with."""
    import sklearn

    import thetahat

    return {
        "thetahat": thetahat.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "format": str(VERSION),
    }


def _array_of(arrays: list[Any]) -> Callable[[int], Any]:
    def array(place: int) -> Any:
        if place >= len(arrays):
            raise DataError(f"The file names array {place}, and holds {len(arrays)}.")
        return arrays[place]

    return array


def _plain_notes(notes: Mapping[str, Any]) -> dict[str, Any]:
    import json

    try:
        return dict(json.loads(json.dumps(dict(notes), allow_nan=False)))
    except (TypeError, ValueError) as failure:
        raise ParameterError(
            f"notes must be plain facts (text, finite numbers, lists, dictionaries): {failure}."
        ) from failure
