"""Polynomial threshold functions: ŷ = sign p(x), learned by the perceptron on all monomials."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat import _native
from thetahat.data.in_memory import InMemory
from thetahat.estimator.classifier import Classifier
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, boolean, whole
from thetahat.estimator.watching import warn_of_time
from thetahat.foundation.checked_value import check_arrays, check_columns, check_rule
from thetahat.foundation.errors import DataError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.models.online.perceptron import LARGEST_ENTRY
from thetahat.models.preprocessing.monomials import MonomialExpansion

LARGEST_SINGLE = 1e16
"""Largest monomial of float32 rows; a score is a sum of products of two of them."""


@with_parameters
class PolynomialThreshold(Classifier):
    """A polynomial threshold function, learned by the perceptron on all monomials of a degree.

    Formula: ŷ = sign p(x) with a polynomial p(x) = ⟨w, φ(x)⟩ of degree q; φ has the C(d + q, q)
    monomials up to degree q, or the d^q products of degree exactly q. After a mistake at row i,
    w ← w + yᵢφ(xᵢ). The monomials have such factors that φ(x)ᵀφ(z) = (xᵀz + 1)^q, or (xᵀz)^q
    without lower degrees, so that the mistakes and predictions are those of `KernelPerceptron` with
    this kernel. If a polynomial separates the classes with margin ρ in φ and the rows have norm at
    most R there, at most R²/ρ² mistakes are made.

    Cost: O(n D) per pass for D monomials, and O(D) for each mistake; memory n·D numbers, which is
    checked first. `KernelPerceptron` needs no monomials, but n² numbers.

    Parameters
    ----------
    degree : int, default=2
        Degree of the polynomial (q). 1 gives a halfspace; larger values give more curved boundaries
        and many more monomials. Must be at least 1.
    lower_degrees : bool, default=True
        Whether monomials of lower degree and the constant are part of the polynomial. False uses
        products of degree exactly q only.
    max_iter : int, default=100
        Maximum number of passes over the rows. Classes that no such polynomial separates need all
        of them. ``th.config(max_time=...)`` ends them earlier, after a pass, with a warning.

    Attributes
    ----------
    weights_ : array of shape (D,)
        The weights of the monomials (w), in the order of ``MonomialExpansion``.
    n_mistakes_ : int
        Number of mistakes in all passes.
    n_iter_ : int
        Number of passes over the rows.
    separated_ : bool
        Whether the last pass made no mistake, so that the classes are separated.
    classes_ : array of shape (2,)
        The labels in sorted order; the second has the sign +1.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["same", "other", "other", "same"]
    >>> model = th.PolynomialThreshold(degree=2).fit(X, y)
    >>> model.predict(X).tolist(), model.separated_
    (['same', 'other', 'other', 'same'], True)
    """

    _parametric = True

    degree: int = 2
    _: KW_ONLY
    lower_degrees: bool = True
    max_iter: int = 100

    _ranges: ClassVar[dict[str, Range]] = {
        "degree": whole(1),
        "lower_degrees": boolean,
        "max_iter": whole(1),
    }
    _visits_rows_in_order = True
    _streams = False

    def _check_loaded(self) -> None:
        if not self.__sklearn_is_fitted__():
            return
        check_columns(self)
        monomials = vars(self).get("_monomials")
        check_rule(
            self,
            isinstance(monomials, MonomialExpansion)
            and monomials.__sklearn_is_fitted__()
            and monomials.n_features_in_ == self.n_features_in_,
            "the monomials must be those of n_features_in_ columns",
        )
        assert isinstance(monomials, MonomialExpansion)
        check_arrays(self, {"weights_": (np.float64, (monomials.n_output_features_,))})
        check_rule(self, np.shape(self.classes_) == (2,), "classes_ must be an array of two labels")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any = None) -> PolynomialThreshold:
        """Visit the rows in their order until a pass makes no mistake. Cost: O(n D) per pass.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows in the order of the visits.
        y : array-like of shape (n,)
            The labels of the rows, of two kinds.

        Returns
        -------
        self
            The fitted estimator.
        """
        source = self._open_classes(X, y, most=2)
        assert isinstance(source, InMemory)
        form = "kernel" if self.lower_degrees else "ordered"
        expansion = MonomialExpansion(degree=self.degree, form=form)
        expansion.fit(np.zeros((1, source.n_features)))
        count = expansion.n_output_features_
        require_memory(
            8 * source.n_rows * count,
            f"PolynomialThreshold: {count} monomials of {source.n_rows} rows",
            "Reduce the degree, or use KernelPerceptron with a polynomial kernel.",
        )
        self._monomials = expansion
        with np.errstate(over="ignore", invalid="ignore"):
            values = expansion.transform(np.asarray(source.X, dtype=np.float64))
        _require_squares(values, source.dtype)
        signs = np.where(np.asarray(source.y) > 0, 1.0, -1.0)
        self.weights_, self.n_mistakes_, self.n_iter_ = _visit(values, signs, self.max_iter)
        self.separated_ = bool(np.array_equal(values @ self.weights_ > 0, signs > 0))
        if not self.separated_ and self.n_iter_ < self.max_iter:
            warn_of_time(self)
        return self

    def decision_function(self, X: Any) -> Array:
        """Compute the polynomial p(x) = ⟨w, φ(x)⟩. Cost: O(n D).

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            The rows to classify.

        Returns
        -------
        array of shape (n,)
            Positive for ``classes_[1]``.
        """
        source = self._open_again(X)
        return source.map_rows(self._polynomial)

    def _polynomial(self, block: Any) -> Array:
        dtype = block.X.dtype
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._monomials.transform(np.asarray(block.X, dtype=np.float64))
            scores = (values @ self.weights_).astype(dtype)
        if not np.isfinite(scores).all():
            row = block.start + int(np.argmin(np.isfinite(scores)))
            raise DataError(
                f"PolynomialThreshold: the polynomial at row {row} is so large that it overflows "
                f"{dtype}. Rescale the columns{_or_double(dtype)}."
            )
        return scores

    def predict(self, X: Any) -> Array:
        """Predict the label of each row by the sign of p(x). Cost: O(n D).

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            The rows to classify.

        Returns
        -------
        array of shape (n,)
            The predicted labels.
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(np.intp)]


def _require_squares(values: Array, dtype: Any) -> None:
    """Scores are sums of products of two monomials, which must not overflow the dtype of X."""
    most = LARGEST_ENTRY if dtype == np.float64 else LARGEST_SINGLE
    largest = float(np.max(np.abs(values), initial=0.0))
    if not largest <= most:
        row, _ = np.argwhere(~(np.abs(values) <= most))[0]
        raise DataError(
            f"PolynomialThreshold: a monomial of row {row} is {largest:.3g}, so large that its "
            f"square overflows; monomials of {np.dtype(dtype)} rows must not exceed {most:g}. "
            f"Rescale the columns{_or_double(dtype)}."
        )


def _or_double(dtype: Any) -> str:
    return "" if dtype == np.float64 else ", or pass X as float64"


def _visit(values: Array, signs: Array, max_iter: int) -> tuple[Array, int, int]:
    """The weights, the mistakes and the passes; no pass is begun after the time limit."""
    values, watch = np.ascontiguousarray(values, dtype=np.float64), Watch()
    w, mistakes = np.zeros(values.shape[1]), 0
    for passes in range(1, max_iter + 1):
        made = _native.perceptron_pass(values, signs, w)
        mistakes += made
        if not made or watch.is_over:
            return w, mistakes, passes
    return w, mistakes, max_iter
