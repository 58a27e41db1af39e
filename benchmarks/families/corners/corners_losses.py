"""Deviances, Huber's loss and the lasso at the edges: small, wide, sparse, single precision.

Each case has the objective that both libraries minimise as its quality, and the bar that thetahat
takes no longer than the peer.
"""

from __future__ import annotations

from benchmarks.families.corners.corners_regression import (
    POWER,
    SINGLE,
    case,
    dense,
    deviance,
    huber,
    lasso,
    sparse,
)

CASES = (
    case(
        "PoissonRegressor sparse 20000×1000",
        sparse(20_000, 1000, 0.01, "counts"),
        deviance("Poisson"),
    ),
    case(
        "PoissonRegressor sparse 1000×200", sparse(1000, 200, 0.05, "counts"), deviance("Poisson")
    ),
    case("PoissonRegressor 100×10", dense(100, 10, "counts"), deviance("Poisson")),
    case("PoissonRegressor 1000×100", dense(1000, 100, "counts"), deviance("Poisson")),
    case("PoissonRegressor 10000×50", dense(10_000, 50, "counts"), deviance("Poisson")),
    case(
        "GammaRegressor sparse 20000×1000",
        sparse(20_000, 1000, 0.01, "positive"),
        deviance("Gamma"),
    ),
    case("GammaRegressor 1000×100", dense(1000, 100, "positive"), deviance("Gamma")),
    case("GammaRegressor 10000×50", dense(10_000, 50, "positive"), deviance("Gamma")),
    case(
        "TweedieRegressor 10000×50 float32",
        dense(10_000, 50, "positive", SINGLE),
        deviance("Tweedie"),
        power=POWER,
        link="log",
    ),
    case("HuberRegressor 200×1000", dense(200, 1000, "outliers"), huber()),
    case("HuberRegressor sparse 20000×5000", sparse(20_000, 5000, 0.002, "outliers"), huber()),
    case("HuberRegressor sparse 1000×200", sparse(1000, 200, 0.05, "outliers"), huber()),
    case("HuberRegressor 100×10", dense(100, 10, "outliers"), huber()),
    case("HuberRegressor 1000×100", dense(1000, 100, "outliers"), huber()),
    case("Lasso 200×1000", dense(200, 1000), lasso(0.1), alpha=0.1),
    case("Lasso 1000×100", dense(1000, 100), lasso(0.01), alpha=0.01),
    case("Lasso 100×10", dense(100, 10), lasso(0.1), alpha=0.1),
    case("Lasso sparse 1000×200", sparse(1000, 200, 0.05), lasso(0.01), alpha=0.01),
    case("MultiTaskLasso 400×2000", dense(400, 2000, "several"), lasso(0.1), alpha=0.1),
    case("MultiTaskLasso 100×10", dense(100, 10, "several"), lasso(0.1), alpha=0.1),
)

STUDIES = ()
