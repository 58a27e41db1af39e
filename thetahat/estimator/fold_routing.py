"""Metadata for the folds of a cross-validated fit: ``fit(X, y, groups=...)``, as in scikit-learn.

With ``sklearn.set_config(enable_metadata_routing=True)`` what `fit` is given beside its own
parameters goes to the splitter, if the splitter asks for it.
"""

from __future__ import annotations

from typing import Any

import sklearn
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from thetahat.foundation.errors import ParameterError


class RoutesToFolds:
    """An estimator whose parameter ``cv`` may be a splitter that consumes metadata."""

    cv: Any

    def get_metadata_routing(self) -> Any:
        """What `fit` hands on, and to whom: scikit-learn's ``MetadataRouter``. Cost: O(1)."""
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                splitter=self.cv,
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
        )

    def _for_folds(self, params: dict[str, Any]) -> dict[str, Any]:
        """Of the extra parameters of `fit`, those of the splitter; none without routing."""
        if not params:
            return {}
        if not sklearn.get_config()["enable_metadata_routing"]:
            raise ParameterError(
                f"{type(self).__name__}.fit: {', '.join(sorted(params))} is for the splitter cv, "
                "and is handed on only with sklearn.set_config(enable_metadata_routing=True)."
            )
        return dict(process_routing(self, "fit", **params).splitter.split)
