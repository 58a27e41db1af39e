"""A Bayes classifier from any density estimator: p(c | x) ∝ π_c·p_c(x), one density per class."""

from __future__ import annotations

from math import isfinite
from typing import Any, cast

import numpy as np
from sklearn.base import OutlierMixin, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from thetahat.data.in_memory import InMemory
from thetahat.data.synthetic import synthetic_rows
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.generative_classifier import GenerativeClassifier, class_shares
from thetahat.foundation.cached import cached_property
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.models.density.average import ForestsOfClasses
from thetahat.models.density.density_forest import DensityForest
from thetahat.models.density.kernel_density.kernel_density import KernelDensity
from thetahat.models.density.single_rows import RowTable, row_table
from thetahat.models.generative.stacked_components import (
    Stack,
    joint_of_components,
    stacked_components,
)

FEW = 8
"""Rows up to which densities are evaluated in fewer steps, on one thread."""


@with_parameters
class BayesClassifier(GenerativeClassifier):
    """Bayes classifier: one density per class, fitted by any density estimator.

    Formula: p(c | x) = π_c·p_c(x)/p(x) with p(x) = Σ_c π_c·p_c(x), and the prediction is
    argmax_c π_c·p_c(x). If the densities are right, no classifier makes fewer errors.

    The model also says how unlikely a row is under all classes (`novelty`), and draws rows with
    labels (`sample`). `KernelDensity`, `Histogram`, `DensityTree` and `DensityForest` give
    classifiers whose regions have any shape; with ``Histogram(factorised=True)`` the columns are
    independent in every class (naive Bayes).

    Cost: one fit of the density per class on its rows; a prediction evaluates all densities.

    Parameters
    ----------
    density : density estimator or None, default=None
        The density of each class is a clone of it. Any estimator with ``fit`` and ``log_density``
        or ``score_samples``, of this library or of scikit-learn. None uses a `KernelDensity` whose
        bandwidth is found by cross-validation.
    priors : array-like of shape (n_classes,) or None, default=None
        The class probabilities (π), in the order of ``classes_``. Numbers ≥ 0 with the sum 1. None
        uses the shares of the classes in the training rows.

    Attributes
    ----------
    densities_ : list of density estimators
        The fitted density of each class, in the order of ``classes_``.
    class_prior_ : array of shape (n_classes,)
        The class probabilities (π) that are used.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]]
    >>> y = ["left", "left", "left", "right", "right", "right"]
    >>> model = th.BayesClassifier(th.KernelDensity(bandwidth=0.5)).fit(X, y)
    >>> model.predict([[-1.2], [0.3]])
    array(['left', 'right'], dtype='<U5')
    >>> bool(model.novelty([[9.0]]) > model.novelty([[1.4]]))
    True
    """

    density: Any = None
    priors: Any = None

    _streams = False
    _parametric = False

    @classmethod
    def _example(cls) -> BayesClassifier:
        return cls(KernelDensity(bandwidth=1.0))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> BayesClassifier:
        """Fit one density to the rows of each class. Cost: one fit per class.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows with finite numbers.
        y : array-like of shape (n,)
            Class labels, of at least two classes.
        sample_weight : array-like of shape (n,), optional
            Row weights, which are passed on to the densities. A row of weight 2 counts as two equal
            rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        density = self._checked_density(sample_weight)
        source = cast(InMemory, self._open_classes(X, y, sample_weight))
        codes = np.asarray(source.y).astype(np.int64)
        found = np.bincount(codes, weights=source.row_weights, minlength=len(self.classes_))
        self.class_prior_ = class_shares(found / found.sum(), self.priors, type(self).__name__)
        ends = np.cumsum(np.bincount(codes, minlength=len(self.classes_)))
        of_class = np.split(np.argsort(codes, kind="stable"), ends[:-1])
        self.densities_ = [
            self._fitted(clone(density), source, rows, code) for code, rows in enumerate(of_class)
        ]
        for each in ("_few_levels", "_stack", "_row_tables", "_forests"):
            self.__dict__.pop(each, None)
            getattr(self, each)  # made now, so that predictions do not change the model
        return self

    def _checked_density(self, sample_weight: Any) -> Any:
        density = self.density
        if density is None:
            density = KernelDensity(bandwidth="cross_validation")
        who = type(self).__name__
        if isinstance(density, type):
            raise ParameterError(
                f"{who}: density={density.__name__} is a class, but it must be an estimator. "
                f"Create one: density={density.__name__}()."
            )
        if not hasattr(density, "fit") or _log_method(density) is None:
            raise ParameterError(
                f"{who}: density={density!r:.80} is not a density estimator; it needs fit, and "
                "log_density or score_samples. Use th.KernelDensity(), for example."
            )
        if isinstance(density, OutlierMixin) and not hasattr(density, "log_density"):
            raise ParameterError(
                f"{who}: density={density!r:.80} is an outlier detector, whose score_samples are "
                "not log-densities. Use a density, such as th.KernelDensity() or "
                "th.EllipticEnvelope()."
            )
        if sample_weight is not None and not has_fit_parameter(density, "sample_weight"):
            raise ParameterError(
                f"{who}: {type(density).__name__}.fit takes no sample_weight. Leave the weights "
                "out, or use a density that takes them, such as th.KernelDensity()."
            )
        return density

    def _fitted(self, density: Any, source: InMemory, rows: Array, code: int) -> Any:
        """The density of one class; its errors name the class."""
        given: dict[str, Any] = {}
        if source.weight is not None:
            rows = rows[source.weight[rows] > 0]
            given = {"sample_weight": source.weight[rows]}
        about = f"{self._about(density, code)} ({len(rows)} "
        about += "row)" if len(rows) == 1 else "rows)"
        if not len(rows):
            raise DataError(
                f"{about} has no rows of positive weight. Add rows of this class, or leave it out."
            )
        try:
            fitted = density.fit(source.X[rows], **given)
        except ParameterError as failure:
            raise ParameterError(f"{about} cannot be fitted. {failure}") from failure
        except ValueError as failure:
            raise DataError(f"{about} cannot be fitted. {failure}") from failure
        if _log_method(fitted) is None:
            raise CapabilityError(
                f"{about} cannot be used: its method fit returned {fitted!r:.60}, but it must "
                "return the fitted density. End fit with: return self."
            )
        return fitted

    def _about(self, density: Any, code: int) -> str:
        label = self.classes_.tolist()[code]
        return f"{type(self).__name__}: the density {type(density).__name__} of class {label!r}"

    def _joint(self, rows: Matrix) -> Array:
        if "densities_" not in self.__dict__:
            check_is_fitted(self)
        levels = self._few_levels
        if levels is not None and rows.shape[0] <= FEW and rows.dtype.char == "d":
            return self._few(np.ascontiguousarray(rows), levels)
        if self._forests is not None and rows.shape[0] <= FEW and rows.dtype.char == "d":
            return self._forests.joint(rows)
        if self._row_tables is not None and rows.shape[0] <= FEW and rows.dtype.char == "d":
            levels, tables = self._row_tables
            logs = [[each.log_density(row) for each in tables] for row in rows.tolist()]
            return np.array(logs) + levels
        if self._stack is not None and rows.dtype.char == "d":
            joint = joint_of_components(np.ascontiguousarray(rows), self._stack)
            if isfinite(np.vdot(joint, joint)):
                return joint
        joint = np.empty((rows.shape[0], len(self.densities_)), dtype=rows.dtype)
        for code, density in enumerate(self.densities_):
            joint[:, code] = self._log_densities(density, rows, code)
        with np.errstate(divide="ignore"):
            joint += np.log(self.class_prior_)
        return joint

    @cached_property
    def _stack(self) -> Stack | None:
        """The components of all classes, if they are Gaussians or mixtures of them."""
        with np.errstate(divide="ignore"):
            return stacked_components(self.densities_, np.log(self.class_prior_))

    @cached_property
    def _row_tables(self) -> tuple[Array, list[RowTable]] | None:
        """log π, and tables of the densities for single rows; None if a density has none."""
        tables = []
        for density in self.densities_:
            table = row_table(density)
            if table is None:
                return None
            tables.append(table)
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior_), tables

    @cached_property
    def _forests(self) -> ForestsOfClasses | None:
        """The forests of all classes; None for other densities and oblique splits."""
        if not all(type(density) is DensityForest for density in self.densities_):
            return None
        forests = tuple(density.density_ for density in self.densities_)
        if any(forest.is_oblique for forest in forests):
            return None
        with np.errstate(divide="ignore"):
            found = ForestsOfClasses(forests, np.log(self.class_prior_))
        _ = found._compiled  # made now, not with the first row
        return found

    @cached_property
    def _few_levels(self) -> Array | None:
        """log π and the constant terms of kernel densities; None if the steps cannot be saved."""
        if not all(type(density) is KernelDensity for density in self.densities_):
            return None
        found = [density._few_level() for density in self.densities_]
        if None in found:
            return None
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior_) + np.array(found)

    def _few(self, rows: Array, levels: Array) -> Array:
        """`_joint` of few rows in float64 by kernel densities, in fewer steps."""
        sums = np.empty((len(levels), rows.shape[0]))
        for density, out in zip(self.densities_, sums, strict=True):
            density._few_sums(rows, out)
        return sums.T + levels

    def _log_densities(self, density: Any, rows: Matrix, code: int) -> Array:
        """The log-densities of one class, which may come from any code of a user."""
        method = str(_log_method(density))
        found = getattr(density, method)(rows)
        if (
            type(found) is np.ndarray
            and found.shape == rows.shape[:1]
            and found.dtype.char in "df"
            and isfinite(np.vdot(found, found))
        ):
            return found
        try:
            logs = np.asarray(found)
        except ValueError:  # lists of different lengths
            logs = np.empty(())
        about = f"{self._about(density, code)} is wrong: its method {method}"
        if logs.shape != (rows.shape[0],) or logs.dtype.kind not in "fiu":
            what = f"an array of shape {logs.shape} and dtype {logs.dtype}"
            if not isinstance(found, np.ndarray):
                what = f"{found!r:.60}"
            raise DataError(
                f"{about} returned {what}, but it must return one real number for each row, an "
                f"array of shape ({rows.shape[0]},)."
            )
        wrong = np.isnan(logs) | np.isposinf(logs)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"{about} returned {logs[row]} for row {row}, but a log-density must be a finite "
                "number, or −inf where the density is 0."
            )
        return logs

    def _class_shares(self) -> Array:
        return self.class_prior_

    def _sample_class(self, code: int, n_samples: int, rng: np.random.Generator) -> Array:
        drawn = synthetic_rows(self.densities_[code], n_samples, rng)
        rows = np.asarray(drawn[0] if isinstance(drawn, tuple) else drawn)
        wanted = (n_samples, self.n_features_in_)
        if rows.shape != wanted or rows.dtype.kind not in "fiu":
            raise DataError(
                f"{self._about(self.densities_[code], code)} is wrong: its method sample returned "
                f"an array of shape {rows.shape} and dtype {rows.dtype}, but it must return real "
                f"numbers of shape {wanted}."
            )
        return rows


def _log_method(density: Any) -> str | None:
    return next((each for each in ("log_density", "score_samples") if hasattr(density, each)), None)
