"""The names of classes and functions in model files, independent of their modules.

A public class has its public name ("Ridge", "losses.Huber"), any other class that may be in a file
has a name declared here. When a class is moved or renamed, only the right-hand side of a line below
changes, and existing files still load. Files written before these names were introduced contain
module paths, which ``earlier_paths.json`` translates; it is never changed.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

import thetahat
from thetahat._public import NAMES, NAMESPACES

DECLARED = {
    "Agreement": "thetahat.models.online.agreement:Agreement",
    "AverageDensity": "thetahat.models.density.average:AverageDensity",
    "BiasColumn": "thetahat.objective.bias_column:BiasColumn",
    "Bins": "thetahat.data.bins:Bins",
    "BootstrapDraws": "thetahat.models.ensemble.bagging.bootstrap_draws:Draws",
    "Box": "thetahat.models.density.box:Box",
    "CategoryColumns": "thetahat.models.generative.naive_bayes.likelihoods:CategoryColumns",
    "CategoryCodes": "thetahat.models.preprocessing.column_encoders:Codes",
    "CategoryTables": "thetahat.models.generative.naive_bayes.tables:CategoryTables",
    "Cells": "thetahat.models.density.cells:Cells",
    "ClassColumns": "thetahat.data.summaries.class_sums:ClassMoments",
    "ClassMoments": "thetahat.data.summaries.class_moments:ClassMoments",
    "Coder": "thetahat.models.decomposition.sparse_coding:Coder",
    "Codes": "thetahat.data.bins:Codes",
    "Column": "thetahat.data.columns.schema:Column",
    "Conjugate": "thetahat.models.linear.bayesian.conjugate_update:Conjugate",
    "CovarianceRoot": "thetahat.mathematics.distributions.gaussian.covariance_root:CovarianceRoot",
    "Counts": "thetahat.data.summaries.counts:Counts",
    "Curve": "thetahat.objective.curves.curve:Curve",
    "CurveEvidence": "thetahat.models.nonlinear.certainty:CurveEvidence",
    "CustomLoss": "thetahat.mathematics.losses.custom:CustomLoss",
    "DateParts": "thetahat.models.preprocessing.column_encoders:DateParts",
    "DensityDirections": "thetahat.models.density.cells:Directions",
    "EarlyStopping": "thetahat.models.ensemble.gradient_boosting.rounds:Stopping",
    "Family": "thetahat.mathematics.losses.families:Family",
    "FittedParts": "thetahat.models.linear.inference.likelihood_inference:FittedParts",
    "GaussianCells": "thetahat.models.density.gaussian_cells:GaussianCells",
    "GaussianColumns": "thetahat.models.generative.naive_bayes.likelihoods:GaussianColumns",
    "GaussianPrior": "thetahat.mathematics.distributions.gaussian.prior:GaussianPrior",
    "GaussianPowers": "thetahat.mathematics.kernels.expansions:GaussianPowers",
    "GivenWeights": "thetahat.objective.network.initial_weights:GivenWeights",
    "GrownForest": "thetahat.models.tree.growth.grown_forest:GrownForest",
    "HalfLogOdds": "thetahat.models.ensemble.adaboost.votes:HalfLogOdds",
    "HalfspaceFrame": "thetahat.models.linear.margin.halfspace_lp:Frame",
    "HistogramColumns": "thetahat.models.generative.naive_bayes.likelihoods:HistogramColumns",
    "HistogramGrid": "thetahat.models.density.histogram.grid:Grid",
    "HuberEvidence": "thetahat.models.linear.inference.huber_intervals:HuberEvidence",
    "Indicators": "thetahat.models.preprocessing.column_encoders:Indicators",
    "Information": "thetahat.objective.likelihood.information:Information",
    "IsolationDraws": "thetahat.models.ensemble.isolation.growing:Draws",
    "KernelColumns": "thetahat.models.generative.naive_bayes.likelihoods:KernelColumns",
    "KernelSums": "thetahat.models.neighbors.search.kernel_sums:KernelSums",
    "KinkedCustomLoss": "thetahat.mathematics.losses.custom:KinkedCustomLoss",
    "LearningRate": "thetahat.mathematics.optimizers.stochastic.learning_rates:LearningRate",
    "LeastSquaresEvidence": "thetahat.models.linear.inference.least_squares_evidence:Evidence",
    "LevelCounts": "thetahat.models.generative.naive_bayes.level_counts:LevelCounts",
    "LikelihoodEvidence": "thetahat.models.linear.inference.likelihood_evidence:LikelihoodEvidence",
    "LinearAround": "thetahat.mathematics.kernels.polynomial:LinearAround",
    "LinearFit": "thetahat.mathematics.linalg.least_squares:LinearFit",
    "LinearPosterior": "thetahat.mathematics.distributions.gaussian.posterior:LinearPosterior",
    "LinearPredictor": "thetahat.objective.predictor:LinearPredictor",
    "Link": "thetahat.mathematics.losses.links:Link",
    "Means": "thetahat.data.summaries.means:Means",
    "Moments": "thetahat.data.summaries.moments:Moments",
    "MomentsFrame": "thetahat.data.summaries.frame:Frame",
    "NeighborGraph": "thetahat.models.neighbors.search.graph:NeighborGraph",
    "NeighborIndex": "thetahat.models.neighbors.search.index:NeighborIndex",
    "NumberEncoder": "thetahat.models.preprocessing.column_encoders:NumberEncoder",
    "ObliqueDirections": "thetahat.models.tree.growth.directions:Directions",
    "OutOfBagErrors": "thetahat.models.ensemble.bagging.out_of_bag:OutOfBagErrors",
    "PackedTrees": "thetahat.models.tree.packed:PackedTrees",
    "PerOutput": "thetahat.mathematics.losses.per_output:PerOutput",
    "PlainNumber": "thetahat.models.preprocessing.column_encoders:PlainNumber",
    "PruningSequence": "thetahat.models.tree.pruning:PruningSequence",
    "QuantileSummary": "thetahat.data.summaries.quantiles:QuantileSummary",
    "RankedTrees": "thetahat.models.ensemble.adaboost.ranked_trees:RankedTrees",
    "ReferenceSoftmax": "thetahat.mathematics.losses.multiclass.reference_softmax:ReferenceSoftmax",
    "ResponsePart": "thetahat.models.nonlinear.response_transform:_OfResponse",
    "RidgeEvidence": "thetahat.models.linear.inference.ridge_intervals:RidgeEvidence",
    "RowDraws": "thetahat.models.ensemble.forest.growing:RowDraws",
    "ScaledLearner": "thetahat.models.ensemble.gradient_boosting.members:ScaledLearner",
    "Schema": "thetahat.data.columns.schema:Schema",
    "SeenRows": "thetahat.models.linear.bayesian.bayesian_linear_regression:SeenRows",
    "SelfTrainingRound": "thetahat.models.semi_supervised.self_training:Round",
    "Separation": "thetahat.objective.likelihood.separation:Separation",
    "SmoothPerOutput": "thetahat.mathematics.losses.per_output:SmoothPerOutput",
    "SummedLearners": "thetahat.models.ensemble.gradient_boosting.members:SummedLearners",
    "Targets": "thetahat.mathematics.losses.base:Targets",
    "Tree": "thetahat.models.tree.structure:Tree",
    "TreeColumns": "thetahat.models.tree.growth.columns:TreeColumns",
    "TriangularFactor": "thetahat.mathematics.linalg.triangular_factor:TriangularFactor",
    "UniformCells": "thetahat.models.density.uniform_cells:UniformCells",
    "Votes": "thetahat.models.ensemble.adaboost.votes:Votes",
    "WordCounts": "thetahat.models.preprocessing.column_encoders:Words",
}
"""Classes that are part of models but not public."""

FUNCTIONS = {
    "inner_product": "thetahat.models.preprocessing.similarity_features:inner_product",
    "linear_function": "thetahat.objective.curves.curve:linear_function",
    "log_odds": "thetahat.models.nonlinear.response_transform:_log_odds",
    "probability": "thetahat.models.nonlinear.response_transform:_probability",
}
"""Functions of arrays that are part of models; they only compute."""


def identity_of(thing: Any) -> str | None:
    """The name of a class or function of this library in model files, or None."""
    declared = _declared_identities().get(f"{thing.__module__}:{thing.__qualname__}")
    if declared is not None:
        return declared
    own = str(thing.__qualname__)
    candidates = (own, *(f"{namespace}.{own}" for namespace in NAMESPACES))
    return next((name for name in candidates if _public(name) is thing), None)


def identified_class(name: str) -> Any:
    """The class with this name or earlier path, or None."""
    name = _current(name)
    found = _at(DECLARED[name]) if name in DECLARED else _public(name)
    return found if isinstance(found, type) else None


def identified_function(name: str) -> Any:
    """The function with this name or earlier path, or None.

    Only declared functions count. A public one may write files, and must not be called because a
    file says so.
    """
    name = _current(name)
    return _at(FUNCTIONS[name]) if name in FUNCTIONS else None


def _current(name: str) -> str:
    return earlier_paths().get(name, name) if ":" in name else name


def _at(place: str) -> Any:
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


@cache
def earlier_paths() -> dict[str, str]:
    """Module path and class → name, for files written before names were introduced."""
    text = files("thetahat.persistence").joinpath("earlier_paths.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def _public(name: str) -> Any:
    """The object with this public name, or None; imports only the module that defines it."""
    namespace, _, own = name.rpartition(".")
    if not namespace:
        return getattr(thetahat, name) if name in NAMES and name not in NAMESPACES else None
    if namespace not in NAMESPACES:
        return None
    module = getattr(thetahat, namespace)
    return getattr(module, own) if own in module.__all__ else None


@cache
def _declared_identities() -> dict[str, str]:
    return {place: name for name, place in (DECLARED | FUNCTIONS).items()}
