"""`save` and `load`: write a fitted model to one file, and read it back bit for bit."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from thetahat.foundation.atomic_file import require_place
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError, ThetahatError
from thetahat.mathematics.parts import Part
from thetahat.persistence.container import VERSION, read, write
from thetahat.persistence.decoding import Decoder
from thetahat.persistence.encoding import Encoder
from thetahat.persistence.trial import require_answers

UNREADABLE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What making a model of a damaged or forged file may raise."""


def save(
    model: Any, path: str | os.PathLike[str], *, notes: Mapping[str, Any] | None = None
) -> None:
    """Write a model to a file that contains data and no code.

    Formula: load(save(f_θ̂)) = f_θ̂, bit for bit. Cost: O(size of θ̂) time and memory.

    The file is a safetensors file: the arrays of the model, and a manifest with its classes,
    parameters and attributes. It is written completely or not at all. It can hold estimators,
    losses and penalties of thetahat, scikit-learn's steps that scale, encode, impute or select, and
    pipelines of these. A function given by the user is stored by its name only.

    Parameters
    ----------
    model : estimator
        The estimator to save, fitted or not.
    path : str or path
        The path of the file. An existing file is replaced.
    notes : dict, optional
        Notes to store with the model, such as the training data or the author. `th.describe_file`
        shows them. Values must be text, finite numbers, lists or dictionaries.

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
    if not _is_model(model):
        raise ParameterError(
            f"th.save writes an estimator, a loss or a penalty, but model is {model!r:.80}."
        )
    require_place(path)
    encoder = Encoder()
    try:
        plain = encoder.encode(model, type(model).__name__)
    except RecursionError as failure:
        raise CapabilityError(
            f"{type(model).__name__} is nested too deeply for a model file, or contains itself."
        ) from failure
    manifest = {"model": plain, "notes": _plain_notes(notes or {}), "versions": versions()}
    write(path, manifest, encoder.arrays)


def load(
    path: str | os.PathLike[str],
    *,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    max_memory: int | None = None,
) -> Any:
    """Read a model that was written by `save`.

    Formula: load(save(f_θ̂)) = f_θ̂, bit for bit. Cost: O(size of the file) time and memory.

    No code in the file is run. Only classes of thetahat and listed steps of scikit-learn are
    created, every size is checked against the length of the file, and a damaged file is detected
    by its digest. A fitted model of thetahat is tried on a few rows, unless it uses functions that
    were passed here, so that a file whose parts do not fit each other is refused.

    Parameters
    ----------
    path : str or path
        The path of a file written by `th.save`.
    functions : dict, optional
        User functions of the model, by name. If one is missing, the error message gives its name.
    max_memory : int, optional
        Largest memory in bytes that reading may take. A file that needs more is refused. By default
        3 times the size of the file and 64 MB. Increase it for a file from a trusted place.

    Returns
    -------
    estimator
        The model, equal to the saved one.

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
    with read(path, max_memory) as file:
        file.check_digest()
        decoder = Decoder(file, functions or {})
        try:
            model = decoder.decode(file.manifest["model"])
        except ThetahatError:
            raise
        except UNREADABLE as failure:
            raise _unreadable(path, failure) from failure
    if not _is_model(model):
        raise DataError(f"{path} holds a {type(model).__name__} in the place of a model.")
    if isinstance(model, BaseEstimator) and not decoder.uses_given_functions:
        try:
            require_answers(model, decoder.kinds)
        except UNREADABLE as failure:
            raise _unreadable(path, failure) from failure
    return model


def _unreadable(path: str | os.PathLike[str], failure: BaseException) -> DataError:
    return DataError(
        f"{path} is not a model that this version of thetahat can load: {failure}. It was written "
        "by another version, or changed since."
    )


def versions() -> dict[str, str]:
    """The versions of Python and of the libraries in use."""
    import sklearn

    import thetahat

    return {
        "thetahat": thetahat.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "format": str(VERSION),
    }


def _is_model(thing: Any) -> bool:
    """Whether something is an estimator, a loss or a penalty, and not a class or another value."""
    return isinstance(thing, BaseEstimator | Part)


def _plain_notes(notes: Mapping[str, Any]) -> dict[str, Any]:
    import json

    try:
        return dict(json.loads(json.dumps(dict(notes), allow_nan=False)))
    except (TypeError, ValueError) as failure:
        raise ParameterError(
            f"notes must hold text, finite numbers, lists and dictionaries only: {failure}."
        ) from failure
