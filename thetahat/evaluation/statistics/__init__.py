"""Tests and intervals for counts, means, variances, proportions, paired scores, ranks and AUC."""

from thetahat.evaluation.statistics.counts import (
    chi_square_fit,
    chi_square_independence,
    proportion_interval,
)
from thetahat.evaluation.statistics.means import mean_interval, mean_test, variance_ratio
from thetahat.evaluation.statistics.outcome import HypothesisTest, Interval
from thetahat.evaluation.statistics.paired import (
    corrected_resampled_t,
    five_by_two_cv,
    mcnemar,
    paired_t,
)
from thetahat.evaluation.statistics.ranking_quality import auc_difference, auc_interval
from thetahat.evaluation.statistics.ranks import friedman, nemenyi, wilcoxon

__all__ = [
    "HypothesisTest",
    "Interval",
    "auc_difference",
    "auc_interval",
    "chi_square_fit",
    "chi_square_independence",
    "corrected_resampled_t",
    "five_by_two_cv",
    "friedman",
    "mcnemar",
    "mean_interval",
    "mean_test",
    "nemenyi",
    "paired_t",
    "proportion_interval",
    "variance_ratio",
    "wilcoxon",
]


def __dir__() -> list[str]:
    return sorted(__all__)
