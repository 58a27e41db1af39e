"""Base classes: how every estimator reads its data and follows scikit-learn's conventions."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from thetahat.data.arrays import is_device_array
from thetahat.data.finite import require_finite_pairs
from thetahat.data.in_memory import InMemory
from thetahat.data.on_device import OnDevice
from thetahat.data.source import Source
from thetahat.data.validation import as_device_features, as_features, as_source
from thetahat.data.views import with_one_target
from thetahat.estimator.batches import require_known_columns
from thetahat.estimator.distributed.routing import on_dask, replace_method, source_for_dask
from thetahat.estimator.parameters import (
    Range,
    check_ranges,
    continues,
    numpy_parameters,
    of_python,
)
from thetahat.estimator.stored_parts import require_fitting_lengths
from thetahat.estimator.watching import is_kept, is_stale
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.checked_value import check_sparse_entries, well_placed_values
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.mathematics.optimizers.resumable import note_fit
from thetahat.mathematics.parts import Part

DIRECT_SIZE = 8192
"""Entries of a small query. For so few, NumPy's BLAS uses one thread, so that the result does not
depend on the number of threads, and the general validation may take longer than the prediction."""

FITS = ("fit", "fit_transform", "fit_predict", "partial_fit")
"""Methods that fit an estimator, or continue a fit."""
_fitting: ContextVar[frozenset[int]] = ContextVar("_fitting", default=frozenset())
"""The estimators whose fit is running; a fit may call another method of `FITS`."""


def whole_or_not_at_all(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A fit that leaves either the new model or the one before, never parts of both.

    If it fails, the estimator is as it was before the call. The same holds for Ctrl-C, unless a
    model of the parameters so far has been stored: then arrays of an earlier fit that were not
    replaced are removed, unless the fit continues from it. Nothing is removed before the fit,
    because several threads may fit one model.
    """
    goes_on = fit.__name__ == "partial_fit"

    @wraps(fit)
    def fitted(self: Any, *args: Any, **params: Any) -> Any:
        running = _fitting.get()
        if id(self) in running:
            return fit(self, *args, **params)
        before = dict(self.__dict__)
        numbers = numpy_parameters(before)
        token = _fitting.set(running | {id(self)})
        try:
            self.__dict__.update(of_python(numbers))
            made = fit(self, *args, **params)
        except BaseException as failure:
            if not is_kept(self, failure):
                self.__dict__.clear()
                self.__dict__.update(before)
            elif not goes_on and not continues(before):
                for name in before:
                    if is_stale(self, name, before[name]):
                        del self.__dict__[name]
            raise
        finally:
            self.__dict__.update(numbers)
            _fitting.reset(token)
        solution = getattr(self, "solution_", None)
        if solution is not None and getattr(self, "verbose", False) and not self._prints_itself:
            print(f"[{type(self).__name__}] {solution.summary}", flush=True)
        return made

    return fitted


class Estimator(BaseEstimator):
    """An estimator with declared parameter ranges and one place for data validation."""

    _ranges: ClassVar[dict[str, Range]] = {}
    _accepts_sparse: bool = False
    _accepts_sparse_blocks: ClassVar[bool] = True
    """Whether a model that takes sparse rows also takes them block by block."""
    _multi_output: bool = False
    _leaves_out_missing: ClassVar[bool] = False
    """Whether NaN in X marks a missing value, for which the model has a rule."""
    _accepts_infinity: ClassVar[bool] = False
    """Whether X may hold infinity, as in trees, which compare values only."""
    _accepts_devices: ClassVar[bool] = False
    """Whether torch and CuPy arrays are fitted on their own device."""
    _device_arrays: ClassVar[tuple[str, ...]] = ()
    """The fitted attributes that are then on the device."""
    _device_methods: ClassVar[frozenset[str]] = frozenset()
    """The methods that have a second form for arrays on a device; see `on_devices`."""
    _accepts_categories: ClassVar[bool] = False
    """Whether columns of categories or text of a `Source` are accepted."""
    _streams: ClassVar[bool] = True
    """Whether a `Source` that reads its rows block by block can be fitted."""
    _reads_on_client: ClassVar[bool] = False
    """Whether a fit to rows on a cluster reads them block by block on the client, as methods that
    visit rows in order do; all others compute sums on the workers."""
    _instead_of_blocks: ClassVar[str] = "use a model that reads blocks, such as LinearModel"
    """What the error of a model that cannot read blocks recommends."""
    _ignores_weights: ClassVar[bool] = False
    """Whether the fit has no row weights; a `Source` that has some is refused."""
    _visits_rows_in_order: ClassVar[bool] = False
    """Whether the fit depends on the order of the rows, as in stochastic methods."""
    _prints_itself: ClassVar[bool] = False
    """Whether the class has its own words for ``verbose``."""
    _splits_rows: ClassVar[bool] = False
    """Whether the fit splits the rows into folds, so that it depends on order and repetition."""
    _draws_rows: ClassVar[bool] = False
    """Whether the fit samples rows at random, so that other rows give other samples."""
    _for_few_rows: ClassVar[bool] = False
    """Whether fits or predictions cost the square or the cube of the number of rows."""
    _grows_by_steps: ClassVar[bool] = False
    """Whether ``max_iter`` is the size of the model instead of a limit for a solver."""
    _tried_when_loaded: ClassVar[bool] = True
    """Whether `thetahat.load` may ask the model about a few rows of numbers: its answers cost
    little whatever its parameters are, and it takes numbers."""

    _generative: ClassVar[bool | None] = None
    """Whether the model describes how rows arise, p(x) or p(x, y), so that it can draw new ones;
    False if it describes y given x only. None for estimators that predict nothing."""
    _parametric: ClassVar[bool | None] = None
    """Whether the number of parameters is fixed before the rows are seen. False if it grows with
    them. Estimators that combine others declare what their default members are."""
    _everyday: ClassVar[str | None] = None
    """Short name among the models that are tried first on a new table; None if not among them."""
    _everyday_params: ClassVar[dict[str, Any]] = {}
    """Parameters for such a trial that keep the fit fast for tables of any length."""
    _search_space: ClassVar[dict[str, tuple[Any, ...]]] = {}
    """Values of parameters that are worth trying on a new table, by the name of the parameter."""
    _everyday_unit_target: ClassVar[bool] = False
    """Whether the target is standardised in such a trial, because the steps of the solver suit a
    target of mean 0 and standard deviation 1."""

    _stands_for: ClassVar[type | None] = None
    """The class of scikit-learn whose place this one has taken in scikit-learn itself."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        on_dask(cls)
        for name in FITS:
            replace_method(cls, name, lambda fit: whole_or_not_at_all(source_for_dask(fit)))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def __setstate__(self, state: Any) -> None:
        theirs: Any = vars(type(self)).get("_stands_for")
        if theirs is not None and "_sklearn_version" in state:  # a pickle of that class
            self.__class__ = theirs
            theirs.__setstate__(self, state)
        else:
            super().__setstate__(well_placed_values(state) if isinstance(state, dict) else state)
            check_sparse_entries(self, vars(self))
            self._check_stored_classes()
            require_fitting_lengths(self)
            self._check_loaded()

    def _check_stored_classes(self) -> None:
        """Check the labels of a stored classifier."""

    def _check_loaded(self) -> None:
        """Check attributes read from a file or a pickle that compiled code follows."""

    @classmethod
    def _example(cls) -> Any:
        """An instance for tests; classes with required parameters override it."""
        return cls()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accepts_sparse
        tags.target_tags.multi_output = self._multi_output
        if self._leaves_out_missing:
            tags.input_tags.allow_nan = True
        return tags

    def set_params(self, **params: Any) -> Any:
        """Set the parameters of this estimator.

        Losses and penalties are values, so a nested parameter replaces them: ``loss__delta=2.0``
        replaces the loss by a copy with that delta. Cost: O(number of parameters).

        Parameters
        ----------
        **params : dict
            Names and new values of parameters. ``<part>__<name>`` sets a parameter of a nested
            loss, penalty or estimator.

        Returns
        -------
        self : object
            This estimator.
        """
        whole = {name: value for name, value in params.items() if "__" not in name}
        if whole:
            super().set_params(**whole)
        for name, value in params.items():
            if name in whole:
                continue
            owner, _, inner = name.partition("__")
            part = getattr(self, owner, None)
            if isinstance(part, Part):
                setattr(self, owner, part.set_params(**{inner: value}))
            else:
                super().set_params(**{name: value})
        return self

    def _open(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        supervised: bool = True,
        check_finite: bool = True,
    ) -> Source:
        """Check parameters and data, store the column names, and return the rows as a source."""
        check_ranges(self)
        who = type(self).__name__
        if supervised and y is None and not isinstance(X, Source):
            raise DataError(
                f"{who} requires y to be passed, but the target y is None. Pass one target per row."
            )
        try:
            source = as_source(
                X,
                y,
                sample_weight,
                who=who,
                accept_sparse=self._accepts_sparse,
                multi_output=self._multi_output,
                accept_device=self._accepts_devices,
                check_finite=check_finite and not self._leaves_out_missing,
            )
        except DataError:
            self._require_finite_pairs(X)
            raise
        source = source.with_missing() if self._leaves_out_missing else source
        if check_finite and self._leaves_out_missing and isinstance(source, InMemory):
            source.require_finite(missing=True)
        if supervised and not source.has_target:
            raise DataError(
                f"{who} needs a target, but the rows have none. Pass y, or name the target of a "
                "source: th.scan(path, target=...) or th.from_dask(X, y)."
            )
        if not self._streams and not isinstance(source, InMemory | OnDevice):
            raise needs_memory(who, self._instead_of_blocks)
        if self._ignores_weights and source.has_weight:
            raise CapabilityError(
                f"{who} counts all rows alike, but these have weights. Open them without weights, "
                "or use a model whose fit has sample_weight."
            )
        if source.sparse_blocks and not (self._accepts_sparse and self._accepts_sparse_blocks):
            raise CapabilityError(
                f"{who}: the partitions of X are sparse, but this model needs them dense. Use "
                "X.map_blocks(lambda rows: rows.toarray()) for a Dask array, or "
                "[part.toarray() for part in X] for a list of delayed partitions."
            )
        if supervised and source.labels is not None:
            raise DataError(
                f"{who} needs numbers as the target, but {source.labels.description}. Choose a "
                "column of numbers, or use a classifier."
            )
        if supervised and not self._multi_output:
            source = with_one_target(source, who)
        self._warn_column_vector(y)
        if is_frame(X):
            validate_data(self, X, skip_check_array=True, reset=True)
        else:
            self._remember(source)
        if len(_fitting.get()) <= 1:  # parts of another fit may be in any order
            note_fit(self, source)
        return source

    def _warn_column_vector(self, y: Any) -> None:
        """Warn as scikit-learn does if y is a column vector and the model has one output."""
        if not self._multi_output and getattr(y, "ndim", 1) == 2:
            from sklearn.exceptions import DataConversionWarning

            warn(
                "A column-vector y was passed when a 1d array was expected. Use y.ravel().",
                DataConversionWarning,
            )

    def _remember(self, source: Source) -> None:
        self.n_features_in_ = source.n_features
        if source.schema.names:
            self.feature_names_in_ = np.asarray(source.schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _is_small_and_sound(self, X: Any) -> bool:
        """Whether X is a small array of finite numbers with the columns of `fit`.

        Many calls with a few rows are common in production, so they are checked in short. What does
        not pass goes through the general validation, which accepts it or explains what is wrong.
        """
        return (
            type(X) is np.ndarray
            and X.ndim == 2
            and 0 < X.size <= DIRECT_SIZE
            and X.dtype.char in "df"
            and X.dtype.isnative
            and X.flags.aligned
            and self.__sklearn_is_fitted__()
            and "feature_names_in_" not in self.__dict__
            and X.shape[1] == getattr(self, "n_features_in_", None)
            # Σx² is finite only if all entries are.
            and isfinite(np.vdot(X, X))
        )

    def _open_again(self, X: Any) -> Source:
        """Rows for a fitted estimator, with their columns checked against those of `fit`."""
        if self._is_small_and_sound(X):
            return InMemory(X=X, n_features=X.shape[1], dtype=X.dtype)
        check_is_fitted(self)
        if isinstance(X, Source):
            self._require_same_columns(X)
            return X.with_missing() if self._leaves_out_missing else X
        who = type(self).__name__
        if self._accepts_devices and is_device_array(X):
            rows = as_device_features(X, who)
            require_known_columns(self, rows)
            return OnDevice(X=rows, n_features=int(rows.shape[1]))
        features, schema = as_features(X, who=who, accept_sparse=self._accepts_sparse)
        named = is_frame(X) or hasattr(self, "feature_names_in_")
        if named or features.shape[1] != getattr(self, "n_features_in_", None):
            require_known_columns(self, X if is_frame(X) else features)
        source = InMemory(
            X=features, n_features=int(features.shape[1]), dtype=features.dtype, schema=schema
        )
        try:
            source.require_finite(missing=self._leaves_out_missing)
        except DataError:
            self._require_finite_pairs(X)
            raise
        return source

    def _require_finite_pairs(self, X: Any) -> None:
        """Name the entry of a precomputed matrix that is not finite: it has pairs, no columns."""
        if self.__sklearn_tags__().input_tags.pairwise:
            require_finite_pairs(X)

    def _open_whole(self, X: Any) -> InMemory:
        """As `_open_again`, for methods that need all rows in memory."""
        source = self._open_again(X)
        if not isinstance(source, InMemory):
            raise needs_memory(type(self).__name__, "take some of the rows")
        return source

    def _require_same_columns(self, source: Source) -> None:
        if source.n_features != self.n_features_in_:
            raise DataError(
                f"X has {source.n_features} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input. Open the file with features=[...]."
            )
        names = getattr(self, "feature_names_in_", None)
        if names is not None and source.schema.names and tuple(names) != source.schema.names:
            missing = [name for name in names if name not in source.schema.names]
            raise DataError(
                "The feature names should match those that were passed during fit"
                + (
                    f": {', '.join(map(repr, missing))} missing"
                    if missing
                    else ", in the same order"
                )
                + ". Open the file with features=list(model.feature_names_in_)."
            )


def is_frame(X: Any) -> bool:
    """Whether X has column names that scikit-learn can read and compare."""
    return hasattr(X, "columns") or hasattr(X, "column_names")


def needs_memory(who: str, otherwise: str) -> CapabilityError:
    """The error for rows that are read block by block, where a model needs all of them."""
    return CapabilityError(
        f"{who} needs its rows in memory, but these are read block by block. Load them with "
        f"X, y, sample_weight = source.arrays(), or {otherwise}."
    )
