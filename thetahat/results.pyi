# Written by `python -m tests.public_stub`; do not edit.

from thetahat.catalog import Taxonomy as Taxonomy
from thetahat.evaluation.cluster_count import ClusterCount as ClusterCount
from thetahat.evaluation.compare import Comparison as Comparison
from thetahat.evaluation.conformal_prediction.result import Conformal as Conformal
from thetahat.evaluation.confusion import Confusion as Confusion
from thetahat.evaluation.contributions.result import Contributions as Contributions
from thetahat.evaluation.curves.bend import Elbow as Elbow
from thetahat.evaluation.curves.calibration import CalibrationCurve as CalibrationCurve
from thetahat.evaluation.curves.growth import ScoreCurve as ScoreCurve
from thetahat.evaluation.curves.precision_recall import PrecisionRecallCurve as PrecisionRecallCurve
from thetahat.evaluation.curves.roc import RocCurve as RocCurve
from thetahat.evaluation.curves.stages import StagedCurve as StagedCurve
from thetahat.evaluation.curves.threshold import Threshold as Threshold
from thetahat.evaluation.dependence import PartialDependence as PartialDependence
from thetahat.evaluation.evaluate import Evaluation as Evaluation
from thetahat.evaluation.findings.finding import Finding as Finding
from thetahat.evaluation.findings.finding import Findings as Findings
from thetahat.evaluation.importance import Importances as Importances
from thetahat.evaluation.pairs import Pair as Pair
from thetahat.evaluation.regression_errors import RegressionErrors as RegressionErrors
from thetahat.evaluation.resampling.bias_variance import BiasVariance as BiasVariance
from thetahat.evaluation.resampling.bootstrap_result import BootstrapResult as BootstrapResult
from thetahat.evaluation.resampling.resampled_bias_variance import ResampledBiasVariance as ResampledBiasVariance
from thetahat.evaluation.search import Search as Search
from thetahat.evaluation.tree_pruning.pruning import Pruning as Pruning
from thetahat.evaluation.tuning.tune import Tuning as Tuning
from thetahat.mathematics.distributions.gaussian.normal_fit import NormalFit as NormalFit
from thetahat.mathematics.kernels.mercer import MercerCheck as MercerCheck
from thetahat.mathematics.lowrank.approximation import LowRank as LowRank
from thetahat.mathematics.lowrank.choice import RankChoice as RankChoice
from thetahat.mathematics.lowrank.decompositions import Eigen as Eigen
from thetahat.mathematics.lowrank.decompositions import SVD as SVD
from thetahat.mathematics.optimizers.solution import Outcome as Outcome
from thetahat.mathematics.optimizers.solution import Solution as Solution
from thetahat.migration.patching import Swapped as Swapped
from thetahat.models.cluster.hierarchy.dendrogram import Dendrogram as Dendrogram
from thetahat.models.linear.bayesian.posterior import PosteriorSummary as PosteriorSummary
from thetahat.models.linear.inference.least_squares_evidence import LinearSummary as LinearSummary
from thetahat.models.linear.inference.likelihood_summary import LikelihoodRatio as LikelihoodRatio
from thetahat.models.linear.inference.likelihood_summary import LikelihoodSummary as LikelihoodSummary
from thetahat.models.linear.margin.best_halfspace import Halfspace as Halfspace
from thetahat.models.nonlinear.certainty import NonlinearSummary as NonlinearSummary
from thetahat.models.tree.description import DescriptionLength as DescriptionLength
from thetahat.models.tree.display.regions import Region as Region
from thetahat.models.tree.display.regions import TreeRegions as TreeRegions
from thetahat.persistence.description import FileDescription as FileDescription

__all__ = [
    "BiasVariance",
    "BootstrapResult",
    "CalibrationCurve",
    "ClusterCount",
    "Comparison",
    "Conformal",
    "Confusion",
    "Contributions",
    "Dendrogram",
    "DescriptionLength",
    "Eigen",
    "Elbow",
    "Evaluation",
    "FileDescription",
    "Finding",
    "Findings",
    "Halfspace",
    "Importances",
    "LikelihoodRatio",
    "LikelihoodSummary",
    "LinearSummary",
    "LowRank",
    "MercerCheck",
    "NonlinearSummary",
    "NormalFit",
    "Outcome",
    "Pair",
    "PartialDependence",
    "PosteriorSummary",
    "PrecisionRecallCurve",
    "Pruning",
    "RankChoice",
    "Region",
    "RegressionErrors",
    "ResampledBiasVariance",
    "RocCurve",
    "SVD",
    "ScoreCurve",
    "Search",
    "Solution",
    "StagedCurve",
    "Swapped",
    "Taxonomy",
    "Threshold",
    "TreeRegions",
    "Tuning",
]
