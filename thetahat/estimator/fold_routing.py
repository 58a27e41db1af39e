"""Metadata for the folds of a cross-validated fit: ``fit(X, y, groups=...)``, as in scikit-learn.

With ``sklearn.set_config(enable_metadata_routing=True)``, extra arguments of `fit` are passed on to
the splitter if the splitter requests them.
"""

from __future__ import annotations

from typing import Any

import sklearn
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from thetahat.foundation.errors import DataError, ParameterError


class RoutesToFolds:
    """An estimator whose parameter ``cv`` may be a splitter that uses metadata.

    Parameters
    ----------
    cv : int, splitter, iterable or None, default=None
        Folds for the cross-validation. An int is the number of folds; a splitter of scikit-learn or
        an iterable of (train, test) row numbers is used as given. None means 5 folds.
    """

    cv: Any

    def get_metadata_routing(self) -> Any:
        """Get the metadata routing of this estimator. Cost: O(1).

        Returns
        -------
        routing : MetadataRouter
            scikit-learn's description of which arguments of `fit` are passed on to the splitter
            `cv`.
        """
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                splitter=self.cv,
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
        )

    def _for_folds(self, params: dict[str, Any]) -> dict[str, Any]:
        """The extra arguments of `fit` for the splitter."""
        if not params:
            return {}
        if not sklearn.get_config()["enable_metadata_routing"]:
            raise ParameterError(
                f"{type(self).__name__}.fit: {', '.join(sorted(params))} can only be passed on to "
                "the splitter cv with sklearn.set_config(enable_metadata_routing=True)."
            )
        return dict(process_routing(self, "fit", **params).splitter.split)


def splits_of(
    cv: Any, X: Any, y: Any = None, *, who: str, classifier: bool = False, **for_folds: Any
) -> list[tuple[Any, Any]]:
    """The (train, test) rows of every fold; raises a `ParameterError` if `cv` gives none."""
    try:
        splitter = check_cv(cv, y, classifier=classifier)
        folds = [(train, test) for train, test in splitter.split(X, y, **for_folds)]
        if not folds:
            raise ValueError("it is empty")
        return folds
    except (ValueError, TypeError, OverflowError) as failure:
        raise ParameterError(
            f"{who}: cv={cv!r:.80} gives no folds ({failure}). Use a number of folds between 2 and "
            "the number of rows, a splitter, or an iterable of (train, test) row numbers."
        ) from failure


def require_weight_in_every_fold(weight: Any, folds: Any, who: str) -> None:
    """Raise a `DataError` if all training rows or all held-out rows of a fold have weight zero."""
    if weight is None:
        return
    for number, fold in enumerate(folds):
        if any(not weight[rows].any() for rows in fold):
            raise DataError(
                f"{who}: in fold {number} all training rows or all held-out rows have weight zero. "
                "Drop rows of weight zero, or shuffle the folds: cv=KFold(5, shuffle=True)."
            )
