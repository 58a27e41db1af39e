"""The automatic solver is one that the parts can serve, for every pair of loss and penalty."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.mathematics.losses.base import Loss, Subdifferentiable
from thetahat.mathematics.penalties.base import Penalty
from thetahat.objective.choose import choose_solver, method_for
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor

opt, losses, penalties = th.optimizers, th.losses, th.penalties


def parts(namespace, base):
    """Every part of a namespace that its name alone makes."""
    found = [getattr(namespace, name) for name in namespace.__all__]
    kinds = [kind for kind in found if isinstance(kind, type) and issubclass(kind, base)]
    return [kind() for kind in kinds if kind not in (penalties.Combined,) and hasattr(kind, "name")]


def named_by(part):
    return type(part).__name__


LOSSES = [loss for loss in parts(losses, Loss) if not hasattr(loss, "function")]
PENALTIES = [*parts(penalties, Penalty), penalties.L1() & penalties.NonNegative()]


def test_discovery_found_them_all():
    assert len(LOSSES) >= 17
    assert len(PENALTIES) >= 9


@pytest.mark.parametrize("loss", LOSSES, ids=named_by)
@pytest.mark.parametrize("n_features", [3, 600])
def test_the_choice_serves_every_penalty(loss, n_features):
    outputs = 3 if loss.columns == "per class" else 0
    predictor = LinearPredictor(n_features, outputs)
    source = as_source(np.ones((4, n_features)), np.ones(4))
    for penalty in PENALTIES:
        assert_served(EmpiricalRisk(predictor, loss, penalty, source))


def assert_served(risk):
    if not isinstance(risk.loss, Subdifferentiable):
        with pytest.raises(th.errors.CapabilityError, match=r"no gradient.*Fit with a surrogate"):
            method_for(risk)
        return
    method, reason = method_for(risk)
    assert reason
    assert "\n" not in reason
    assert all(hasattr(risk, need) for need in method.needs)


@pytest.mark.parametrize(
    ("loss", "penalty", "n_parameters", "kind", "expected"),
    [
        (losses.Logistic(), penalties.L2(), 500, "memory", opt.Newton),
        (losses.Logistic(), penalties.L2(), 501, "memory", opt.LBFGS),
        (losses.Logistic(), penalties.L2(), 501, "stream", opt.Newton),
        (losses.Logistic(), penalties.L2(), 2001, "stream", opt.LBFGS),
        (losses.Huber(), penalties.NoPenalty(), 10, "memory", opt.Newton),
        (losses.Tukey(), penalties.L2(), 10, "memory", opt.IRLS),
        (losses.Tukey(), penalties.L2(), 9999, "memory", opt.LBFGS),
        (losses.Absolute(), penalties.L2(), 10, "memory", opt.InteriorPoint),
        (losses.Quantile(), penalties.L1(), 2000, "stream", opt.InteriorPoint),
        (losses.Absolute(), penalties.L1(), 2001, "memory", opt.SubgradientDescent),
        (losses.Quantile(), penalties.NonNegative(), 10, "memory", opt.SubgradientDescent),
        (losses.Hinge(), penalties.L2(), 1000, "memory", opt.AugmentedLagrangian),
        (losses.Hinge(), penalties.L2(), 1000, "stream", opt.AugmentedLagrangian),
        (losses.Hinge(), penalties.L2(), 1001, "memory", opt.DualCoordinateDescent),
        (losses.Hinge(), penalties.L2(), 1001, "stream", opt.InteriorPoint),
        (losses.Hinge(), penalties.L2(alpha=0.0), 10, "memory", opt.InteriorPoint),
        (losses.Hinge(), penalties.L1(), 10, "memory", opt.InteriorPoint),
        (losses.SquaredHinge(), penalties.L2(), 10, "memory", opt.Newton),
        (losses.EpsilonInsensitive(), penalties.L2(), 10, "memory", opt.AugmentedLagrangian),
        (losses.EpsilonInsensitive(), penalties.L1(), 10, "memory", opt.InteriorPoint),
        (losses.Squared(), penalties.L1(), 1000, "memory", opt.WorkingSets),
        (losses.Squared(), penalties.L1(), 1001, "memory", opt.WorkingSets),
        (losses.Squared(), penalties.L1(), 5000, "stream", opt.WorkingSets),
        (losses.Squared(), penalties.Box(), 5000, "stream", opt.CoordinateDescent),
        (losses.Squared(), penalties.NoPenalty(), 9999, "stream", opt.DirectLeastSquares),
        (losses.Squared(), penalties.L2(), 10, "memory", opt.DirectLeastSquares),
        (losses.Squared(), penalties.NonNegative(), 10, "memory", opt.DirectLeastSquares),
        (losses.Squared(), penalties.L1(), 5001, "stream", opt.ProximalGradient),
        (losses.Squared(), penalties.NonNegative(), 5001, "memory", opt.ProximalGradient),
        (losses.Squared(), penalties.GroupLasso(), 10, "memory", opt.ProximalGradient),
        (losses.Logistic(), penalties.ElasticNet(), 10, "memory", opt.ProximalNewton),
        (losses.Poisson(), penalties.L1(), 99999, "stream", opt.ProximalNewton),
        (losses.Poisson(), penalties.NonNegative(), 2000, "memory", opt.ProximalNewton),
        (losses.Poisson(), penalties.NonNegative(), 2001, "memory", opt.ProximalGradient),
        (losses.Logistic(), penalties.GroupLasso(), 10, "memory", opt.ProximalGradient),
    ],
    ids=str,
)
def test_the_choice_by_parts_and_size(loss, penalty, n_parameters, kind, expected):
    method, reason = choose_solver(loss, penalty, 1000, n_parameters, kind)
    assert type(method) is expected
    assert (method, reason) == choose_solver(loss, penalty, 1000, n_parameters, kind)


@pytest.mark.parametrize(
    ("n_rows", "n_parameters", "n_outputs", "kind", "expected"),
    [
        (200_000, 201, 0, "memory", opt.SketchedNewton),
        (200_000, 201, 0, "stream", opt.Newton),
        (60_000, 7850, 10, "memory", opt.SketchedNewton),
        (60_000, 21, 3, "memory", opt.Newton),
        (60_000, 21, 3, "stream", opt.Newton),
        (60_000, 30_010, 10, "memory", opt.LBFGS),
        (5_000, 1501, 0, "memory", opt.LBFGS),
    ],
    ids=str,
)
def test_many_rows_call_for_the_curvature_of_some(n_rows, n_parameters, n_outputs, kind, expected):
    loss = losses.SoftmaxCrossEntropy() if n_outputs else losses.Logistic()
    method, reason = choose_solver(loss, penalties.L2(), n_rows, n_parameters, kind, n_outputs)
    assert type(method) is expected
    assert reason


def test_several_outputs_are_no_single_quadratic():
    method, _ = choose_solver(losses.Squared(), penalties.L1(), 100, 8, n_outputs=2)
    assert method == opt.ProximalGradient()
    method, _ = choose_solver(losses.Absolute(), penalties.L2(), 100, 8, n_outputs=2)
    assert method == opt.SubgradientDescent()


def test_a_penalty_that_offers_nothing_is_refused():
    class Opaque(Penalty):
        name = "opaque"

        def value(self, theta):
            return 0.0

    with pytest.raises(
        th.errors.CapabilityError, match="Opaque has neither a gradient nor a proximal"
    ):
        choose_solver(losses.Squared(), Opaque(), 10, 3)


def test_a_solver_may_be_asked_for():
    source = as_source(np.eye(3), np.ones(3))
    risk = EmpiricalRisk(LinearPredictor(3), losses.Squared(), penalties.L2(), source)
    assert method_for(risk, "lbfgs") == (opt.LBFGS(), "requested")
    assert method_for(risk, opt.LBFGS(memory=3)) == (opt.LBFGS(memory=3), "requested")
    with pytest.raises(th.errors.ParameterError, match="Did you mean 'lbfgs'"):
        method_for(risk, "lbfs")


@pytest.mark.parametrize(
    ("columns", "alpha", "sparse", "expected"),
    [
        (40, 1e-3, False, opt.LBFGS),
        (40, 1e-9, False, opt.Newton),  # gradients would need more steps than the default limit
        (10, 1e-3, False, opt.Newton),  # the Hessian of so few numbers takes no time
        (40, 1e-3, True, opt.Newton),
    ],
)
def test_several_outputs_use_gradients(columns, alpha, sparse, expected):
    X = np.random.default_rng(0).standard_normal((300, columns))
    y = np.arange(300) % 3
    predictor = LinearPredictor(columns, 3)
    source = as_source(sp.csr_array(X) if sparse else X, y)
    penalty = penalties.L2(alpha)
    risk = EmpiricalRisk(predictor, losses.SoftmaxCrossEntropy(), penalty, source)
    assert type(method_for(risk)[0]) is expected


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (losses.Logistic(), opt.NewtonCG),
        (losses.SquaredHinge(), opt.NewtonCG),
        (losses.SquaredEpsilonInsensitive(0.1), opt.NewtonCG),
        (losses.Hinge(), opt.DualCoordinateDescent),
        (losses.EpsilonInsensitive(0.1), opt.DualCoordinateDescent),
        (losses.Squared(), opt.DirectLeastSquares),
    ],
    ids=lambda part: getattr(part, "__name__", type(part).__name__),
)
def test_sparse_rows_are_never_multiplied_out(loss, expected):
    import scipy.sparse

    X = scipy.sparse.random_array((60, 200), density=0.05, rng=np.random.default_rng(0)).tocsr()
    source = as_source(X, (np.arange(60) % 2).astype(float))
    risk = EmpiricalRisk(LinearPredictor(200), loss, penalties.L2(0.1), source)
    assert type(method_for(risk)[0]) is expected
