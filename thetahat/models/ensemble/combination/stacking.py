"""Stacking: the outputs of models are the columns on which a final estimator is fitted.

    f(x) = g(f₁(x), …, f_M(x)),      in the simplest case  f = Σ αₘfₘ

A member that overfits would seem perfect on its training rows, and g would rely on it alone.
Therefore g is fitted to out-of-fold predictions, made by copies of the members that were fitted
without these rows; the members used for prediction are fitted to all rows.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.columns.tables import is_table, table_to_numpy
from thetahat.data.resampling import take_rows
from thetahat.estimator.parameters import Range, boolean, check_ranges, none, one_of
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.combination.base import precision_of
from thetahat.models.ensemble.combination.label_columns import outputs_by_column
from thetahat.models.ensemble.combination.metadata_routing import (
    routed,
    routing_enabled,
    rows_of_params,
)
from thetahat.models.ensemble.combination.named_members import NamedMembers, fitted_member
from thetahat.models.ensemble.combination.out_of_fold import Fold, folds_of

PREFIT = "prefit"
METHODS = ("predict_proba", "decision_function", "predict")


class Part(NamedTuple):
    """One fit: a member on all rows (no fold), or on the training rows of a fold."""

    name: str
    member: Any
    fold: Fold | None


class Members(NamedTuple):
    """Members fitted to all rows: their names, themselves, and the method used for each."""

    names: list[str]
    fitted: list[Any]
    methods: list[str]


class Stacking(TransformerMixin, NamedMembers):
    """Members, and a ``final_estimator_`` fitted to their outputs.

    Parameters
    ----------
    cv : int, splitter, iterable, "prefit" or None, default=None
        Folds for the out-of-fold predictions; every row must be held out exactly once. An int is a
        number of folds, a splitter or an iterable gives the folds. None uses 5 folds in the order
        of the rows; a classifier preserves the class frequencies in them. "prefit" uses members
        that are already fitted, without refitting them.
    passthrough : bool, default=False
        If True, the final estimator is fitted to the outputs of the members and the columns of X.
        If False, only to the outputs.

    Attributes
    ----------
    final_estimator_ : estimator
        The fitted final estimator (g). For a linear one, ``coef_`` holds the weights of the
        members.
    stack_method_ : list of str
        Method used for each member.
    """

    _ranges = {  # noqa: RUF012
        "final_estimator": Range(lambda value: hasattr(value, "fit"), "an estimator") | none,
        "stack_method": one_of("auto", *METHODS),
        "passthrough": boolean,
    }
    _splits_rows = True

    stack_method_: list[str]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "final_estimator_") and super().__sklearn_is_fitted__()

    @abstractmethod
    def _default_final(self) -> Any:
        """The final estimator used when none is given."""

    def _fit_members(self, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> None:
        check_ranges(self)
        active = self._active()
        X, n_rows = self._require_rows(X, y)
        targets = self._targets(y, n_rows)
        weight = self._weights(sample_weight, n_rows)
        given = self._params_of_members(active, weight, params)
        self._remember_columns(X)
        if isinstance(self.cv, str) and self.cv == PREFIT:
            members = self._fitted(active)
            outputs = self._outputs_of(members, X)
        else:
            members, outputs = self._outputs_out_of_fold(active, given, X, targets)
        final = self._unfitted_final()
        weights = {}
        if weight is not None and (self.final_estimator is None or _may_weigh(final)):
            weights = {"sample_weight": weight}
        elif weight is not None and not routing_enabled():
            raise CapabilityError(
                f"{type(self).__name__}: sample_weight was given, but the final estimator, a "
                f"{type(final).__name__}, does not support sample weights. Use another one, or "
                "leave the weights out."
            )
        joined = self._joined(X, members, outputs)
        self._store(members, outputs, final.fit(joined, targets, **weights))

    def _store(self, members: Members, outputs: list[Array], final: Any) -> None:
        """Set all attributes at once, so that fits in several threads do not mix two models."""
        self.__dict__.update(
            estimators_=members.fitted,
            stack_method_=members.methods,
            _fitted_names=members.names,
            _n_columns=[each.shape[1] for each in self._columns(members, outputs)],
            final_estimator_=final,
        )

    def _unfitted_final(self) -> Any:
        return clone(
            self._default_final() if self.final_estimator is None else self.final_estimator
        )

    def _fit_to_outputs(
        self, X: Any, y: Any, outputs: list[Array], sample_weight: Array | None = None
    ) -> Any:
        """Fit the final estimator to known outputs for these rows; the members are fitted.

        For outputs that are out of fold although the members have seen all rows.
        """
        check_ranges(self)
        X, n_rows = self._require_rows(X, y)
        targets = self._targets(y, n_rows)
        self._remember_columns(X)
        members = self._fitted(self._active())
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        joined = self._joined(X, members, outputs)
        self._store(members, outputs, self._unfitted_final().fit(joined, targets, **weights))
        return self

    def _fitted(self, active: list[tuple[str, Any]]) -> Members:
        """Members that are already fitted."""
        for name, member in active:
            try:
                check_is_fitted(member)
            except NotFittedError as failure:
                raise NotFittedError(
                    f"{type(self).__name__}: cv='prefit' needs fitted members, but {name!r}, a "
                    f"{type(member).__name__}, is not fitted yet. Fit it to other rows first, or "
                    "use cv=5 to fit all members here."
                ) from failure
        return Members(
            [name for name, _ in active],
            [member for _, member in active],
            [self._method_of(name, member) for name, member in active],
        )

    def _outputs_out_of_fold(
        self,
        active: list[tuple[str, Any]],
        given: dict[str, dict[str, Any]],
        X: Any,
        y: Array,
    ) -> tuple[Members, list[Array]]:
        """Fit the members to all rows, and compute the out-of-fold outputs of their copies."""
        who, n_rows = type(self).__name__, len(y)
        one_label = hasattr(self, "classes_") and y.ndim == 1
        folds = folds_of(self.cv, y, classifier=one_label, who=who)
        methods = {name: self._method_of(name, member) for name, member in active}
        parts = [Part(name, member, fold) for name, member in active for fold in (None, *folds)]
        outputs: list[Array] = []
        members: list[Any] = []

        def work(part: Part) -> tuple[Part, Any]:
            if part.fold is None:
                began = time.monotonic()
                member = fitted_member(part.name, part.member, X, y, given[part.name])
                return part, (member, time.monotonic() - began)
            train, test = part.fold
            params = rows_of_params(given[part.name], train, n_rows)
            copy = fitted_member(part.name, part.member, take_rows(X, train), y[train], params)
            return part, self._output(copy, methods[part.name], take_rows(X, test))

        def keep(found: tuple[Part, Any]) -> None:
            part, result = found
            if part.fold is None:
                member, seconds = result
                members.append(member)
                self._print_fit(part.name, len(members), len(active), seconds)
                outputs.append(np.empty(0))
                return
            test = part.fold[1]
            if not outputs[-1].size:
                outputs[-1] = np.empty((n_rows, *result.shape[1:]), dtype=result.dtype)
            outputs[-1][test] = result

        done = self._run(parts, work, keep, members, X, y) // (len(folds) + 1)
        if not done:
            raise CapabilityError(
                f"{who}: the time limit was reached before the first member had predicted every "
                "row. Increase th.config(max_time=...), or use fewer folds."
            )
        names = [name for name, _ in active[:done]]
        return Members(names, members[:done], [methods[name] for name in names]), outputs[:done]

    def _method_of(self, name: str, member: Any) -> str:
        """The first of the requested methods that the member has."""
        wanted = METHODS if self.stack_method == "auto" else (self.stack_method,)
        for method in wanted:
            if hasattr(member, method):
                return method
        raise ParameterError(
            f"{type(self).__name__}: Underlying estimator {name} does not implement the method "
            f"{self.stack_method!r}. Use stack_method='auto', or another estimator."
        )

    def _output(self, member: Any, method: str, X: Any) -> Array:
        """Output of a member, of shape (n,) or (n, k)."""
        found = getattr(member, method)(X)
        if not hasattr(self, "classes_"):
            return np.asarray(found)
        taught_labels = isinstance(self.cv, str) and self.cv == PREFIT
        if isinstance(self.classes_, list):
            return outputs_by_column(member, method, found, self.classes_, labels=taught_labels)
        found = np.asarray(found)
        if method == "predict_proba":
            return self._of_all_classes(member, found, labels=taught_labels)
        if method == "decision_function" and hasattr(member, "classes_"):
            return self._scores_of_all_classes(member, found, labels=taught_labels)
        if method == "predict" and taught_labels and hasattr(member, "classes_"):
            return LabelEncoding(self.classes_).encode(found).astype(np.float64)
        return found

    def _members(self) -> Members:
        return Members(self._fitted_names, self.estimators_, self.stack_method_)

    def _outputs_of(self, members: Members, X: Any) -> list[Array]:
        pairs = zip(members.fitted, members.methods, strict=True)
        return [self._output(member, method, X) for member, method in pairs]

    def _columns(self, members: Members, outputs: list[Array]) -> list[Array]:
        """Columns of each member on which the final estimator is fitted."""
        columns = []
        several_labels = isinstance(getattr(self, "classes_", None), list)
        for method, output in zip(members.methods, outputs, strict=True):
            if output.ndim == 1:
                columns.append(output[:, None])
            elif method == "predict_proba" and output.shape[1] == 2 and not several_labels:
                columns.append(
                    output[:, 1:]
                )  # the other column is 1 minus this one, so it adds nothing
            else:
                columns.append(output)
        return columns

    def _joined(self, X: Any, members: Members, outputs: list[Array]) -> Any:
        """Outputs of the members side by side, followed by X with ``passthrough=True``."""
        columns = self._columns(members, outputs)
        dtype = precision_of(columns)
        joined = np.hstack([column.astype(dtype, copy=False) for column in columns])
        if not self.passthrough:
            return joined
        if sparse.issparse(X):
            return sparse.hstack([joined, X], format=X.format)
        rows = table_to_numpy(X)[0] if is_table(X) else np.asarray(X)
        return np.hstack([joined, rows])

    def transform(self, X: Any) -> Any:
        """Return the outputs of the members, and X with ``passthrough=True``.

        Cost: one prediction of each member.

        Parameters
        ----------
        X : anything the members take, of n rows
            Rows to transform, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, number of outputs)
            The columns to which the final estimator is applied.
        """
        check_is_fitted(self)
        X = self._same_columns(X)
        members = self._members()
        return self._joined(X, members, self._outputs_of(members, X))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns of `transform`. Cost: O(columns).

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of X, used with ``passthrough=True``. None uses the names seen in
            `fit`.

        Returns
        -------
        array of str
            Names made of the class name and the names of the members.
        """
        check_is_fitted(self)
        names = []
        fitted = self._fitted_names
        for name, width in zip(fitted, self._n_columns, strict=True):
            stem = f"{type(self).__name__.lower()}_{name}"
            names += [stem] if width == 1 else [f"{stem}{column}" for column in range(width)]
        if self.passthrough:
            known = getattr(self, "feature_names_in_", None)
            if input_features is not None:
                names += list(input_features)
            elif known is not None:
                names += list(known)
            else:
                names += [f"x{column}" for column in range(self.n_features_in_)]
        return np.asarray(names, dtype=object)

    def _final(self, method: str, X: Any, params: dict[str, Any]) -> Any:
        check_is_fitted(self)
        if routing_enabled():
            params = routed(self, method, params)["final_estimator_"][method]
        return getattr(self.final_estimator_, method)(self.transform(X), **params)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return scikit-learn's description of how metadata are routed to the members."""
        router = super().get_metadata_routing()
        final = self.final_estimator
        return router.add(
            final_estimator_=self._default_final() if final is None else final,
            method_mapping=MethodMapping().add(caller="predict", callee="predict"),
        )


def _may_weigh(final: Any) -> bool:
    return bool(has_fit_parameter(final, "sample_weight"))


def final_has(method: str) -> Any:
    """Whether the final estimator, fitted or not, has a method."""

    def check(stack: Any) -> bool:
        final = getattr(stack, "final_estimator_", None) or stack.final_estimator
        getattr(stack._default_final() if final is None else final, method)  # names what is missing
        return True

    return check
