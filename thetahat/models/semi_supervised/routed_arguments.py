"""Arguments for the methods of a base estimator, with scikit-learn's metadata routing."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from thetahat.models.ensemble.combination.metadata_routing import routed, routing_enabled

METHODS = ("fit", "predict", "predict_proba", "predict_log_proba", "decision_function", "score")


class RoutedArguments:
    """Passes arguments of its methods to the same methods of `_learner`."""

    @abstractmethod
    def _learner(self) -> Any:
        """The base estimator that receives the arguments."""

    def _arguments(self, method: str, params: dict[str, Any], weight: Any = None) -> dict[str, Any]:
        """Arguments for a method of the base estimator; without routing, only the weights."""
        weights = {} if weight is None else {"sample_weight": weight}
        if routing_enabled():
            return dict(routed(self, method, {**params, **weights})["estimator"][method])
        routed(self, method, params)  # raises an error if there are any
        return weights

    def get_metadata_routing(self) -> MetadataRouter:
        """Return scikit-learn's description of how metadata are routed to the base estimator."""
        mapping = MethodMapping()
        for name in METHODS:
            mapping.add(caller=name, callee=name)
        return MetadataRouter(owner=self).add(estimator=self._learner(), method_mapping=mapping)
