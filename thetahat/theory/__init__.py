"""Learning theory and decisions: bounds, sample sizes, Bayes' rule on tables and grids."""

from thetahat.theory.amplify import Amplified, amplify
from thetahat.theory.boosting import (
    boosting_error_bound,
    boosting_factor,
    boosting_rounds,
    boosting_sample_size,
)
from thetahat.theory.class_sizes import (
    disjunction_class_size,
    halfspace_class_size,
    tree_class_size,
)
from thetahat.theory.decision.bayes_decision import Decisions, bayes_decision
from thetahat.theory.decision.bayes_table import BayesTable
from thetahat.theory.decision.decision_errors import DecisionErrors
from thetahat.theory.decision.decision_problem import DecisionProblem
from thetahat.theory.decision.grid_posterior import GridPosterior
from thetahat.theory.decision.likelihood_rules import (
    class_posterior,
    likelihood_decision,
    log_odds,
    log_odds_decision,
)
from thetahat.theory.decision.regions import DecisionRegion, threshold_rule
from thetahat.theory.decision.regression_function import RegressionFunction, regression_function
from thetahat.theory.dimensions import Dimensionality, curse_of_dimensionality
from thetahat.theory.error_bounds import cover_hart, log_growth, true_error_bound, vc_bound
from thetahat.theory.estimator_properties import (
    EstimatorProperties,
    ExactProperties,
    estimator_properties,
    gaussian_mean,
    gaussian_variance,
)
from thetahat.theory.experiments import ErrorBySize, consistency, true_error
from thetahat.theory.inequalities import chebyshev, hoeffding, markov, union_bound
from thetahat.theory.neighbor_error import neighbor_error
from thetahat.theory.rademacher import RademacherComplexity, rademacher
from thetahat.theory.sample_size import (
    amplification_rounds,
    holdout_size,
    pac_failure,
    pac_sample_size,
    rectangle_sample_size,
)
from thetahat.theory.simulate import BoundSimulation, simulate
from thetahat.theory.vc_dimension import vc_dimension

__all__ = [
    "Amplified",
    "BayesTable",
    "BoundSimulation",
    "DecisionErrors",
    "DecisionProblem",
    "DecisionRegion",
    "Decisions",
    "Dimensionality",
    "ErrorBySize",
    "EstimatorProperties",
    "ExactProperties",
    "GridPosterior",
    "RademacherComplexity",
    "RegressionFunction",
    "amplification_rounds",
    "amplify",
    "bayes_decision",
    "boosting_error_bound",
    "boosting_factor",
    "boosting_rounds",
    "boosting_sample_size",
    "chebyshev",
    "class_posterior",
    "consistency",
    "cover_hart",
    "curse_of_dimensionality",
    "disjunction_class_size",
    "estimator_properties",
    "gaussian_mean",
    "gaussian_variance",
    "halfspace_class_size",
    "hoeffding",
    "holdout_size",
    "likelihood_decision",
    "log_growth",
    "log_odds",
    "log_odds_decision",
    "markov",
    "neighbor_error",
    "pac_failure",
    "pac_sample_size",
    "rademacher",
    "rectangle_sample_size",
    "regression_function",
    "simulate",
    "threshold_rule",
    "tree_class_size",
    "true_error",
    "true_error_bound",
    "union_bound",
    "vc_bound",
    "vc_dimension",
]


def __dir__() -> list[str]:
    return sorted(__all__)
