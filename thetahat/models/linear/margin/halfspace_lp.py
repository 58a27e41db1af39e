"""A consistent halfspace by linear programming: every labelled example is one linear inequality.

    (x, +) ⇒ wᵀx − θ ≥ margin        (x, −) ⇒ wᵀx − θ ≤ −margin

Some w and θ satisfy them all exactly when the classes can be separated. First the total violation
is minimised; if none is left, the margin is widened as far as |wⱼ| ≤ 1 allows. The programs see
every column from its middle and in units of its extent, since solvers of linear programs take what
is below 10⁻⁷ for 0; what they find is checked on the rows themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from thetahat.data.in_memory import InMemory
from thetahat.data.views.one_against_rest import OneAgainstRest
from thetahat.estimator.linear_classifier import LinearClassifier
from thetahat.estimator.parameters import boolean, one_of
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.programs.linear_program import linear_program

CONSISTENT = 1e-7
"""Total violation, in units of the margin, that is left by rounding alone."""


class HalfspaceLP(LinearClassifier):
    """A halfspace wᵀx > θ consistent with all examples, or the least inconsistent one.

    Formula: min Σ wtᵢ ξᵢ subject to yᵢ(wᵀxᵢ − θ) ≥ 1 − ξᵢ, ξᵢ ≥ 0. If the optimum is 0 the examples
    are consistent, and max γ subject to yᵢ(wᵀxᵢ − θ) ≥ γ, |wⱼ| ≤ 1 gives the widest margin in the
    1-norm; where columns differ so much in size (by 10⁷ or so) that no program finds it, a
    halfspace with some margin. Examples that no halfspace satisfies are reported. More than two
    classes are told apart one against the rest. A margin below 10⁻⁸ of the columns' extents counts
    as none.

    Cost: a linear program of n + d unknowns and n inequalities; O(n d) memory. A program that takes
    longer than ``th.config(max_time=...)`` is refused: there is no halfspace before its end.

    Parameters
    ----------
    on_inconsistent : {"ignore", "warn", "raise"}, default="ignore"
        What to do when no halfspace satisfies all inequalities; ``consistent_`` tells it anyway.
    fit_intercept : bool, default=True
        Whether there is a threshold θ; without one the plane goes through the origin.

    Attributes
    ----------
    coef_ : array of shape (1 or C, d)
        w, with the largest entry 1 in size where the examples are consistent.
    intercept_ : array of shape (1 or C,)
        −θ.
    threshold_ : array of shape (1 or C,)
        θ.
    consistent_ : bool
        Whether every inequality holds.
    violation_ : float
        The least total violation Σ wtᵢ ξᵢ; 0 when consistent.
    margin_ : array of shape (1 or C,)
        γ, the least yᵢ(wᵀxᵢ − θ); negative when inconsistent.
    violated_ : array
        The examples whose inequality does not hold.
    classes_ : array of shape (C,)
        The labels.

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

    _ranges = {  # noqa: RUF012
        "on_inconsistent": one_of("ignore", "warn", "raise"),
        "fit_intercept": boolean,
    }
    _streams = False

    def __init__(self, on_inconsistent: str = "ignore", *, fit_intercept: bool = True) -> None:
        self.on_inconsistent = on_inconsistent
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> HalfspaceLP:
        """Solve the inequalities.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Examples.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), optional
            What a violation of each example costs; an example of weight 0 is no inequality.

        Returns
        -------
        self
        """
        source = self._open_classes(X, y, sample_weight)
        assert isinstance(source, InMemory)
        codes = (1,) if len(self.classes_) == 2 else range(len(self.classes_))
        halves = [OneAgainstRest.of(source, code) for code in codes]
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
        """What each example says of w and θ: (01010, +) says w2 + w4 > θ.

        The second of two ``classes_`` counts as +. Cost: O(size of X).

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            Examples.
        y : array-like of shape (n,)
            Their labels.

        Returns
        -------
        list of n strings
        """
        positive = self._positive(y)
        rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        return [
            f"{_weighted_sum(row)} {'>' if plus else '≤'} {'θ' if self.fit_intercept else '0'}"
            for row, plus in zip(rows, positive, strict=True)
        ]

    def _positive(self, y: Any) -> Array:
        labels = np.asarray(y)
        if len(self.classes_) != 2:
            raise DataError(
                f"HalfspaceLP: an example is one inequality when there are two classes; here are "
                f"{len(self.classes_)}. Ask for one class against the rest: y == label."
            )
        return labels == self.classes_[1]

    def _halfspace(self, source: InMemory) -> tuple[Array, float]:
        """(w, −θ) and the least total violation."""
        counts = np.ones(source.n_rows, bool) if source.weight is None else source.weight > 0
        cost = np.ones(source.n_rows) if source.weight is None else np.asarray(source.weight, float)
        frame = Frame.of(source.X[counts], centred=self.fit_intercept and not source.is_sparse)
        signed = _signed_rows(source, counts, self.fit_intercept, frame)
        theta, violation = least_violation(signed, cost[counts])
        consistent = bool((signed @ theta > CONSISTENT).all())
        if not consistent and violation > CONSISTENT * float(cost[counts].sum()):
            return frame.back(theta, self.fit_intercept), violation
        return self._widest(source, counts, frame, theta), 0.0

    def _widest(self, source: InMemory, counts: Array, frame: Frame, theta: Array) -> Array:
        """(w, −θ) of the widest margin; where rounding hides it, of θ, which has some."""
        even = Frame(frame.centre, np.full_like(frame.extent, frame.extent.max()))
        signed = _signed_rows(source, counts, self.fit_intercept, even)
        wide = widest_margin(signed, source.n_features)
        # In these units the bound of 1 on w is the largest extent.
        found = even.back(wide, self.fit_intercept) * even.extent.max()
        if (signed @ wide).min() > 0:
            return found
        some = frame.back(theta, self.fit_intercept)
        largest = np.abs(some[:-1]).max()
        return some / largest if largest > 0 else found

    def _judge(self, source: InMemory, halves: list[Any]) -> None:
        z = source.map_rows(self._raw_block)
        signs = np.column_stack([half.y for half in halves])
        counts = np.ones(source.n_rows, bool) if source.weight is None else source.weight > 0
        margins = (z * signs)[counts]
        self.margin_ = margins.min(axis=0)
        # A negative example may lie on the plane; a positive one may not.
        broken = ((z * signs < 0) | ((z == 0) & (signs > 0))).any(axis=1) & counts
        self.violated_ = np.flatnonzero(broken)
        self.consistent_ = self.violation_ == 0.0
        if self.consistent_ or self.on_inconsistent == "ignore":
            return
        message = (
            f"HalfspaceLP: no halfspace satisfies all {int(counts.sum())} examples; the least "
            f"total violation is {self.violation_:.3g}, and {self.violated_.size} stay on the "
            "wrong side. Use LinearSVC or LogisticRegression, which weigh errors, or add features."
        )
        if self.on_inconsistent == "raise":
            raise DataError(message)
        warn(message, UserWarning)


@dataclass(frozen=True)
class Frame:
    """Where the columns are seen from, and in which units."""

    centre: Array
    extent: Array

    @classmethod
    def of(cls, X: Array, *, centred: bool) -> Frame:
        """The middle and half the extent of every column; the largest entry where not centred."""
        dense = isinstance(X, np.ndarray)
        low = np.asarray(X.min(axis=0) if dense else X.min(axis=0).toarray()).ravel()
        high = np.asarray(X.max(axis=0) if dense else X.max(axis=0).toarray()).ravel()
        low, high = low.astype(np.float64), high.astype(np.float64)
        centre = low / 2 + high / 2 if centred else np.zeros_like(low)
        extent = np.maximum(high - centre, centre - low)
        return cls(centre, np.where(extent > 0, extent, 1.0))

    def back(self, theta: Array, intercept: bool) -> Array:
        """(w, −θ) for the columns as they are."""
        coef = theta[: len(self.extent)] / self.extent
        level = theta[-1] - self.centre @ coef if intercept else 0.0
        return np.append(coef, level)


def least_violation(signed: Array, cost: Array) -> tuple[Array, float]:
    """θ that minimises Σ cᵢ [1 − sᵢᵀθ]₊ over rows sᵢ = yᵢ(xᵢ, 1), and that sum.

    Solved in the dual, max Σ aᵢ subject to Σ aᵢsᵢ = 0 and 0 ≤ a ≤ c: one constraint per column
    instead of one per row. θ is what those constraints are worth.
    """
    n, p = signed.shape
    found = linear_program(-np.ones(n), equalities=(signed.T, np.zeros(p)), lower=0.0, upper=cost)
    assert found.equality_multipliers is not None
    return found.equality_multipliers, max(0.0, -found.value)


def widest_margin(signed: Array, d: int) -> Array:
    """θ that maximises min sᵢᵀθ with its first d entries between −1 and 1.

    The dual seeks the shares a of rows whose sum Σ aᵢsᵢ is nearest to 0 in the 1-norm; the two
    classes have equal shares where there is a threshold.
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
    if found.equality_multipliers is None:  # all rows on one side: no threshold is too far
        alone = np.zeros(p)
        alone[-1] = np.sign(float(signed[:, [-1]].sum()))
        return alone
    return found.equality_multipliers[:p]


def _signed_rows(source: InMemory, counts: Array, intercept: bool, frame: Frame) -> Array:
    """yᵢ(xᵢ, 1) of the examples that count, as the frame shows them."""
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
