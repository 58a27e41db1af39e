"""Metadata for the folds of a cross-validated fit: ``fit(X, y, groups=...)``, as in scikit-learn.

With ``sklearn.set_config(enable_metadata_routing=True)``, extra arguments of `fit` are passed on to
the splitter if the splitter requests them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sklearn
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from thetahat.foundation.errors import ParameterError


def require_folds(folds: Iterable[Any], cv: Any, who: str) -> list[Any]:
    """The (train, test) pairs as a list, of which there must be one."""
    found = list(folds)
    if not found:
        raise ParameterError(
            f"{who}: cv={cv!r} gives no folds. Give at least one pair of training and test rows, "
            "or a number of folds such as cv=5."
        )
    return found


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
