"""Learning theory: concentration inequalities, sample sizes, and bounds on the true error."""

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
    "BoundSimulation",
    "Dimensionality",
    "ErrorBySize",
    "EstimatorProperties",
    "ExactProperties",
    "RademacherComplexity",
    "amplification_rounds",
    "amplify",
    "boosting_error_bound",
    "boosting_factor",
    "boosting_rounds",
    "boosting_sample_size",
    "chebyshev",
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
    "log_growth",
    "markov",
    "neighbor_error",
    "pac_failure",
    "pac_sample_size",
    "rademacher",
    "rectangle_sample_size",
    "simulate",
    "tree_class_size",
    "true_error",
    "true_error_bound",
    "union_bound",
    "vc_bound",
    "vc_dimension",
]


def __dir__() -> list[str]:
    return sorted(__all__)
