"""A consistent halfspace by linear programming: every labelled row is one linear inequality.

    (x, +) ⇒ wᵀx − θ ≥ margin        (x, −) ⇒ wᵀx − θ ≤ −margin

Some w and θ satisfy all of them exactly if the classes are separable. First the total violation is
minimised; if it is 0, the margin is maximised subject to |wⱼ| ≤ 1. Inside the programs every column
is centred and scaled by its range, because solvers of linear programs treat values below 10⁻⁷ as 0;
the result is checked on the original rows.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from thetahat.data.extremes import require_visible_columns
from thetahat.data.in_memory import InMemory
from thetahat.data.views import one_against_rest
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear_classifier import LinearClassifier
from thetahat.estimator.parameters import boolean, none, one_of, whole
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.programs.linear_program import linear_program
from thetahat.models.linear.margin.integer_halfspace import integer_halfspace

CONSISTENT = 1e-7
"""Total violation, in units of the margin, that is attributed to rounding."""


@with_parameters
class HalfspaceLP(LinearClassifier):
    """Halfspace wᵀx > θ that classifies all rows correctly, or violates as little as possible.

    Formula: min Σ wtᵢ ξᵢ subject to yᵢ(wᵀxᵢ − θ) ≥ 1 − ξᵢ, ξᵢ ≥ 0. If the minimum is 0, the rows
    are consistent with a halfspace, and max γ subject to yᵢ(wᵀxᵢ − θ) ≥ γ, |wⱼ| ≤ 1 gives the
    widest margin. If the columns differ in size by 10⁷ or more, this second problem may be
    unsolvable numerically; a halfspace with some margin is returned instead. A margin below 10⁻⁸ of
    the column ranges counts as none. More than two classes are fitted one against the rest.

    Cost: a linear program with n + d unknowns and n inequalities; O(n d) memory. If it takes longer
    than ``th.config(max_time=...)``, an error is raised, because there is no intermediate solution.

    Parameters
    ----------
    on_inconsistent : {"ignore", "warn", "raise"}, default="ignore"
        What to do if no halfspace classifies all rows correctly: nothing, give a warning, or raise
        an error. ``consistent_`` is set in any case.
    fit_intercept : bool, default=True
        Whether to fit a threshold (θ). If False, the hyperplane goes through the origin.
    integer_bound : int or None, default=None
        If given, the weights and the threshold are integers between −integer_bound and
        integer_bound, found by integer programming, which can take exponential time. There are
        finitely many such halfspaces, see ``th.theory.halfspace_class_size``. Must be at least 1.

    Attributes
    ----------
    coef_ : array of shape (1, d) or (n_classes, d)
        Normal vector of the hyperplane (w); scaled so that its largest entry is ±1 if the rows are
        consistent, unless `integer_bound` is given.
    intercept_ : array of shape (1,) or (n_classes,)
        Intercept of the score, which is the negative threshold (−θ).
    threshold_ : array of shape (1,) or (n_classes,)
        Threshold of the halfspace (θ).
    consistent_ : bool
        Whether all inequalities are satisfied.
    violation_ : float
        Smallest possible total violation Σ wtᵢ ξᵢ; 0 if consistent.
    margin_ : array of shape (1,) or (n_classes,)
        Margin of the halfspace (γ), the smallest yᵢ(wᵀxᵢ − θ); negative if inconsistent.
    violated_ : array of shape (n_violated,)
        Numbers of the rows whose inequality is violated.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0, 1, 0, 1, 0], [0, 1, 1, 0, 0]], [True, False]
    >>> model = th.HalfspaceLP().fit(X, y)
    >>> model.consistent_, model.predict(X).tolist()
    (True, [True, False])
    >>> model.inequalities(X, y)
    ['w2 + w4 > θ', 'w2 + w3 ≤ θ']
    """

    on_inconsistent: str = "ignore"
    _: KW_ONLY
    fit_intercept: bool = True
    integer_bound: int | None = None

    _ranges = {  # noqa: RUF012
        "on_inconsistent": one_of("ignore", "warn", "raise"),
        "fit_intercept": boolean,
        "integer_bound": whole(1) | none,
    }
    _streams = False

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> HalfspaceLP:
        """Solve the inequalities.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training data. The rows must be in memory.
        y : array-like of shape (n,)
            Class labels: text, numbers or Booleans.
        sample_weight : array-like of shape (n,), optional
            Cost of a violation for each row. Rows of weight 0 are ignored. None gives every row
            weight 1.
        """
        source = self._open_classes(X, y, sample_weight)
        assert isinstance(source, InMemory)
        require_visible_columns(source)
        codes = (1,) if len(self.classes_) == 2 else range(len(self.classes_))
        halves = [one_against_rest(source, code) for code in codes]
        work = Watch().in_time(self._halfspace)
        found = [work(half) for half in halves if isinstance(half, InMemory)]
        weights = np.array([theta for theta, _ in found])
        self.coef_ = np.ascontiguousarray(weights[:, :-1], dtype=source.dtype)
        self.intercept_ = weights[:, -1].astype(source.dtype)
        self.threshold_ = -self.intercept_
        self.violation_ = float(sum(violation for _, violation in found))
        self._judge(source, halves)
        return self

    def inequalities(self, X: Any, y: Any) -> list[str]:
        """Write each row as an inequality for w and θ. Cost: O(size of X).

        For example, the row 01010 of the positive class becomes ``w2 + w4 > θ``. The second of two
        ``classes_`` is the positive class.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            Rows to write as inequalities.
        y : array-like of shape (n,)
            Class labels of these rows.

        Returns
        -------
        inequalities : list of str
            One inequality for each row.
        """
        positive = self._positive(y)
        rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        return [
            f"{_weighted_sum(row)} {'>' if plus else '≤'} {'θ' if self.fit_intercept else '0'}"
            for row, plus in zip(rows, positive, strict=True)
        ]

    @property
    def _restriction(self) -> str:
        if self.integer_bound is None:
            return ""
        return f"with integers between −{self.integer_bound} and {self.integer_bound} "

    def _positive(self, y: Any) -> Array:
        labels = np.asarray(y)
        if len(self.classes_) != 2:
            raise DataError(
                f"HalfspaceLP: inequalities needs two classes, but there are {len(self.classes_)}. "
                "Fit one class against the rest: y == label."
            )
        return labels == self.classes_[1]

    def _halfspace(self, source: InMemory) -> tuple[Array, float]:
        """(w, −θ) and the smallest total violation."""
        counts = source.row_weights > 0
        cost = np.asarray(source.row_weights, float)
        if self.integer_bound is not None:
            return integer_halfspace(
                source.X[counts],
                np.asarray(source.y, dtype=np.float64)[counts],
                cost[counts],
                bound=int(self.integer_bound),
                intercept=self.fit_intercept,
            )
        frame = Frame.of(source.X[counts], centred=self.fit_intercept and not source.is_sparse)
        signed = _signed_rows(source, counts, self.fit_intercept, frame)
        theta, violation = least_violation(signed, cost[counts])
        consistent = bool((signed @ theta > CONSISTENT).all())
        if not consistent and violation > CONSISTENT * float(cost[counts].sum()):
            return frame.back(theta, self.fit_intercept), violation
        return self._widest(source, counts, frame, theta), 0.0

    def _widest(self, source: InMemory, counts: Array, frame: Frame, theta: Array) -> Array:
        """(w, −θ) of the widest margin; the given halfspace if rounding makes that impossible."""
        even = Frame(frame.centre, np.full_like(frame.extent, frame.extent.max()))
        signed = _signed_rows(source, counts, self.fit_intercept, even)
        wide = widest_margin(signed, source.n_features)
        # In these units the bound |wⱼ| ≤ 1 is the largest range of a column.
        found = even.back(wide, self.fit_intercept) * even.extent.max()
        if (signed @ wide).min() > 0:
            return found
        some = frame.back(theta, self.fit_intercept)
        largest = np.abs(some[:-1]).max()
        return some / largest if largest > 0 else found

    def _judge(self, source: InMemory, halves: list[Any]) -> None:
        z = source.map_rows(self._raw_block)
        signs = np.column_stack([half.y for half in halves])
        counts = source.row_weights > 0
        margins = (z * signs)[counts]
        self.margin_ = margins.min(axis=0)
        # Negative rows may lie on the plane; positive rows may not.
        broken = ((z * signs < 0) | ((z == 0) & (signs > 0))).any(axis=1) & counts
        self.violated_ = np.flatnonzero(broken)
        self.consistent_ = self.violation_ == 0.0
        if self.consistent_ or self.on_inconsistent == "ignore":
            return
        message = (
            f"HalfspaceLP: no halfspace {self._restriction}classifies all {int(counts.sum())} rows "
            f"correctly; the smallest total violation is {self.violation_:.3g}, and the number of "
            f"rows on the wrong side is {self.violated_.size}. Use LinearSVC or "
            "LogisticRegression, which allow errors, or add columns."
        )
        if self.on_inconsistent == "raise":
            raise DataError(message)
        warn(message, UserWarning)


@dataclass(frozen=True)
class Frame:
    """Centre and scale of the columns inside the linear programs."""

    centre: Array
    extent: Array

    @classmethod
    def of(cls, X: Array, *, centred: bool) -> Frame:
        """The midpoint and half the range of every column; the largest entry if not centred."""
        dense = isinstance(X, np.ndarray)
        low = np.asarray(X.min(axis=0) if dense else X.min(axis=0).toarray()).ravel()
        high = np.asarray(X.max(axis=0) if dense else X.max(axis=0).toarray()).ravel()
        low, high = low.astype(np.float64), high.astype(np.float64)
        centre = low / 2 + high / 2 if centred else np.zeros_like(low)
        extent = np.maximum(high - centre, centre - low)
        return cls(centre, np.where(extent > 0, extent, 1.0))

    def back(self, theta: Array, intercept: bool) -> Array:
        """(w, −θ) for the original columns."""
        coef = theta[: len(self.extent)] / self.extent
        level = theta[-1] - self.centre @ coef if intercept else 0.0
        return np.append(coef, level)


def least_violation(signed: Array, cost: Array) -> tuple[Array, float]:
    """θ that minimises Σ cᵢ [1 − sᵢᵀθ]₊ over rows sᵢ = yᵢ(xᵢ, 1), and the minimum.

    Solved in the dual, max Σ aᵢ subject to Σ aᵢsᵢ = 0 and 0 ≤ a ≤ c, which has one constraint per
    column instead of one per row. θ consists of the multipliers of these constraints.
    """
    n, p = signed.shape
    found = linear_program(-np.ones(n), equalities=(signed.T, np.zeros(p)), lower=0.0, upper=cost)
    assert found.equality_multipliers is not None
    return found.equality_multipliers, max(0.0, -found.value)


def widest_margin(signed: Array, d: int) -> Array:
    """θ that maximises min sᵢᵀθ with its first d entries between −1 and 1.

    The dual finds shares a of the rows whose sum Σ aᵢsᵢ is nearest to 0 in the 1-norm; with a
    threshold, the two classes have equal shares.
    """
    n, p = signed.shape
    ones, sides = sp.csr_array(np.ones((1, n))), sp.eye_array(p, d, format="csr")
    nothing = sp.csr_array((1, d))
    balance = sp.block_array(
        [[sp.csr_array(signed.T), -sides, sides], [ones, nothing, nothing]], format="csr"
    )
    found = linear_program(
        np.concatenate([np.zeros(n), np.ones(2 * d)]),
        equalities=(balance, np.append(np.zeros(p), 1.0)),
        lower=0.0,
    )
    if found.equality_multipliers is None:  # all rows on one side: the margin is unbounded
        alone = np.zeros(p)
        alone[-1] = np.sign(float(signed[:, [-1]].sum()))
        return alone
    return found.equality_multipliers[:p]


def _signed_rows(source: InMemory, counts: Array, intercept: bool, frame: Frame) -> Array:
    """yᵢ(xᵢ, 1) of the rows of positive weight, centred and scaled by the frame."""
    y = np.asarray(source.y, dtype=np.float64)[counts]
    if source.is_sparse:
        rows = sp.csr_array(source.X[counts]).astype(np.float64)
        rows = sp.csr_array(rows @ sp.diags_array(1 / frame.extent))
        if intercept:
            rows = sp.hstack([rows, np.ones((len(y), 1))], format="csr")
        return sp.csr_array(rows.multiply(y[:, None]))
    rows = (np.asarray(source.X[counts], dtype=np.float64) - frame.centre) / frame.extent
    if intercept:
        rows = np.column_stack([rows, np.ones(len(y))])
    return rows * y[:, None]


def _weighted_sum(row: Array) -> str:
    """1·w1 + 0·w2 − 2.5·w3 as "w1 − 2.5·w3"."""
    text = ""
    for j in np.flatnonzero(row):
        size = abs(float(row[j]))
        term = f"w{j + 1}" if size == 1 else f"{size:g}·w{j + 1}"
        if row[j] < 0:
            text += f" − {term}" if text else f"−{term}"
        else:
            text += f" + {term}" if text else term
    return text or "0"
