"""Linear and quadratic programs, their multipliers, and the conditions that prove an optimum."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import thetahat as th

opt = th.optimizers


def positive(d, rng):
    root = rng.normal(size=(d + 2, d))
    return root.T @ root / d


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("sparse", [False, True])
def test_linear_program_meets_its_conditions(seed, sparse):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(12, 4)), rng.random(12) + 0.5
    A = np.vstack([A, np.eye(4), -np.eye(4)])
    b = np.append(b, np.full(8, 5.0))
    E, cost = rng.normal(size=(1, 4)), rng.normal(size=4)
    found = opt.linear_program(
        cost, inequalities=(sp.csr_array(A) if sparse else A, b), equalities=(E, [0.1])
    )
    kkt = opt.kkt_violation(
        found.point,
        cost,
        inequalities=(A, b),
        inequality_multipliers=found.inequality_multipliers,
        equalities=(E, [0.1]),
        equality_multipliers=found.equality_multipliers,
    )
    assert kkt.largest < 1e-9
    dual = -b @ found.inequality_multipliers - 0.1 * found.equality_multipliers[0]
    assert found.value == pytest.approx(dual)  # strong duality
    assert linprog(cost, A, b, E, [0.1], bounds=(None, None)).fun == pytest.approx(found.value)


def test_feasibility_alone():
    wedge = ([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], [1.0, 0.0, 0.0])
    point = opt.linear_program(inequalities=wedge).point
    assert np.all(np.asarray(wedge[0]) @ point <= np.asarray(wedge[1]) + 1e-12)
    empty = opt.linear_program(inequalities=([[1.0], [-1.0]], [0.0, -1.0]))
    assert not empty.feasible
    assert empty.value == np.inf
    assert empty.point is None
    endless = opt.linear_program([-1.0], lower=0.0)
    assert (endless.status, endless.value, endless.feasible) == ("unbounded", -np.inf, True)
    with pytest.raises(th.errors.ParameterError, match="nothing to do"):
        opt.linear_program()


@pytest.mark.parametrize("seed", range(5))
def test_box_quadratic_program_meets_its_conditions(seed):
    rng = np.random.default_rng(seed)
    Q, c = positive(6, rng), rng.normal(size=6) * 3
    found = opt.box_quadratic_program(Q, c, -0.5, 1.0)
    box = (np.vstack([-np.eye(6), np.eye(6)]), np.append(np.full(6, 0.5), np.ones(6)))
    kkt = opt.kkt_violation(
        found.point,
        Q @ found.point + c,
        inequalities=box,
        inequality_multipliers=found.inequality_multipliers,
    )
    assert kkt.largest < 1e-8
    for _ in range(100):
        other = np.clip(found.point + rng.normal(size=6), -0.5, 1.0)
        assert other @ Q @ other / 2 + c @ other >= found.value - 1e-9


def test_box_quadratic_program_is_the_dual_of_the_support_vector_machine():
    """min ¼‖Σ αyx‖² − Σα in 0 ≤ α ≤ C, with 2β = Σ αyx and the bias inside x."""
    random = np.random.default_rng(1)
    X = np.column_stack([random.normal(size=(30, 2)), np.ones(30)])
    y = np.where(X[:, 0] + 0.5 * random.normal(size=30) > 0, 1.0, -1.0)
    signed, C = y[:, None] * X, 0.7
    alpha = opt.box_quadratic_program(signed @ signed.T / 2, -np.ones(30), 0.0, C).point
    beta = signed.T @ alpha / 2
    dual = alpha.sum() - (signed.T @ alpha) @ (signed.T @ alpha) / 4
    primal = beta @ beta + C * np.maximum(0, 1 - signed @ beta).sum()
    assert primal - dual == pytest.approx(0.0, abs=1e-6)
    # ‖β‖² + CΣξ is twice ½‖β‖² + (C/2)Σξ.
    model = th.LinearSVC(loss="hinge", C=C / 2, tol=1e-10).fit(X[:, :2], y)
    np.testing.assert_allclose(model.coef_[0], beta[:2], atol=1e-4)
    margin = signed @ beta
    assert np.all(alpha[margin > 1 + 1e-3] < 1e-6)
    np.testing.assert_allclose(alpha[margin < 1 - 1e-3], C, atol=1e-9)


@pytest.mark.parametrize("repeated", [False, True])
def test_equality_quadratic_program_meets_its_conditions(repeated):
    random = np.random.default_rng(2)
    Q, c = positive(5, random), random.normal(size=5)
    E, e = random.normal(size=(2, 5)), random.normal(size=2)
    if repeated:
        E, e = np.vstack([E, E[0] + E[1]]), np.append(e, e.sum())
    found = opt.equality_quadratic_program(Q, c, (E, e))
    kkt = opt.kkt_violation(
        found.point,
        Q @ found.point + c,
        equalities=(E, e),
        equality_multipliers=found.equality_multipliers,
    )
    assert kkt.largest < 1e-10
    if not repeated:
        system = np.block([[Q, E.T], [E, np.zeros((2, 2))]])
        whole = np.linalg.solve(system, np.append(-c, e))
        np.testing.assert_allclose(found.point, whole[:5], atol=1e-10)
        np.testing.assert_allclose(found.equality_multipliers, whole[5:], atol=1e-10)


def test_the_lagrangian_of_ridge_gives_its_dual():
    """min ½‖r‖² + τ/2‖β‖² with r = y − Xβ: the multipliers of that equality are τ·(XXᵀ + τ)⁻¹y."""
    random = np.random.default_rng(3)
    X, y, tau = random.normal(size=(7, 3)), random.normal(size=7), 0.4
    Q = np.diag(np.append(np.full(3, tau), np.ones(7)))
    found = opt.equality_quadratic_program(Q, np.zeros(10), (np.hstack([X, np.eye(7)]), y))
    dual = np.linalg.solve(X @ X.T + tau * np.eye(7), y)
    np.testing.assert_allclose(found.equality_multipliers, -tau * dual, atol=1e-12)
    ridge = th.Ridge(alpha=tau, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(found.point[:3], ridge.coef_, atol=1e-10)
    np.testing.assert_allclose(found.point[:3], X.T @ dual, atol=1e-12)


def test_the_lagrangian_of_categorical_counts_gives_their_shares():
    """max Σ N_k log p_k with Σ p = 1: N_k/p_k = ν = N, so p_k = N_k/N; Newton's steps are QPs."""
    counts = np.array([3.0, 5.0, 2.0])
    p = np.full(3, 1 / 3)
    for _ in range(30):
        step = opt.equality_quadratic_program(
            np.diag(counts / p**2), -counts / p, (np.ones((1, 3)), [0.0])
        )
        p = p + step.point
    np.testing.assert_allclose(p, counts / 10, atol=1e-12)
    assert -step.equality_multipliers[0] == pytest.approx(-counts.sum())
    kkt = opt.kkt_violation(
        p,
        -counts / p,
        equalities=(np.ones((1, 3)), [1.0]),
        equality_multipliers=[counts.sum()],
        inequalities=(-np.eye(3), np.zeros(3)),
    )
    assert kkt.largest < 1e-9


def test_each_condition_is_noticed_alone():
    line = (np.array([[1.0, 0.0]]), np.array([1.0]))  # x ≤ 1
    at = opt.kkt_violation([1.0, 0.0], [-2.0, 0.0], inequalities=line, inequality_multipliers=[2.0])
    assert at.largest == 0.0
    off = opt.kkt_violation([1.0, 0.0], [-2.0, 0.0], inequalities=line)
    assert (off.stationarity, off.primal, off.dual, off.complementarity) == (2.0, 0.0, 0.0, 0.0)
    outside = opt.kkt_violation([3.0, 0.0], [0.0, 0.0], inequalities=line)
    assert outside.primal == 2.0
    negative = opt.kkt_violation(
        [1.0, 0.0], [1.0, 0.0], inequalities=line, inequality_multipliers=[-1.0]
    )
    assert (negative.stationarity, negative.dual) == (0.0, 1.0)
    slack = opt.kkt_violation(
        [0.0, 0.0], [-2.0, 0.0], inequalities=line, inequality_multipliers=[2.0]
    )
    assert slack.complementarity == 2.0
    with pytest.raises(th.errors.ParameterError, match="one row and one number per constraint"):
        opt.kkt_violation([1.0], [1.0], inequalities=line)


def test_programs_without_an_optimum_say_so():
    E = np.array([[1.0, 0.0], [1.0, 0.0]])
    program = opt.equality_quadratic_program(np.eye(2), np.zeros(2), (E, [0.0, 1.0]))
    assert program.status == "infeasible"
    flat = np.diag([1.0, 0.0])
    program = opt.equality_quadratic_program(flat, np.array([0.0, 1.0]), (E[:1], [0.0]))
    assert program.status == "unbounded"
    with pytest.raises(th.errors.CapabilityError, match="negative curvature along the constraints"):
        opt.equality_quadratic_program(np.diag([1.0, -1.0]), np.zeros(2), (E[:1], [0.0]))
    with pytest.raises(th.errors.ParameterError, match="symmetric"):
        opt.box_quadratic_program([[1.0, 1.0], [0.0, 1.0]], [0.0, 0.0])
    with pytest.raises(th.errors.ParameterError, match=r"lower\[1\]=3 is above upper\[1\]=2"):
        opt.box_quadratic_program(np.eye(2), np.zeros(2), [0.0, 3.0], 2.0)
    with pytest.raises(th.errors.ParameterError, match=r"must be \(d, d\)"):
        opt.box_quadratic_program(np.eye(3), np.zeros(2))
    with pytest.raises(th.errors.DataError, match="finite"):
        opt.box_quadratic_program([[np.nan]], [0.0])


@pytest.mark.parametrize(
    ("Q", "c", "upper", "point"),
    [
        ([[0.0]], [-1.0], 1.0, [1.0]),
        ([[0.0]], [1.0], 1.0, [0.0]),
        ([[0.0]], [0.0], np.inf, [0.0]),
        ([[1.0, 0.0], [0.0, 0.0]], [-1.0, -1.0], 1.0, [1.0, 1.0]),
        ([[1.0, 0.0], [0.0, 1e-15]], [-1.0, -5e-16], 1.0, [1.0, 0.5]),
    ],
)
def test_box_programs_without_curvature_go_where_the_slope_leads(Q, c, upper, point):
    found = opt.box_quadratic_program(Q, c, 0.0, upper, tolerance=1e-18)
    assert found.status == "optimal"
    np.testing.assert_allclose(found.point, point)


@pytest.mark.parametrize(
    ("Q", "c", "lower", "upper"),
    [
        ([[0.0]], [-1.0], 0.0, np.inf),
        ([[0.0]], [1.0], -np.inf, 0.0),
        ([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0], 0.0, np.inf),
        (np.ones((2, 2)), [1.0, -1.0], [-np.inf, 0.0], np.inf),
    ],
)
def test_box_programs_that_fall_for_ever_say_so(Q, c, lower, upper):
    assert opt.box_quadratic_program(Q, c, lower, upper).status == "unbounded"


def test_flat_directions_that_the_box_closes_have_an_optimum():
    # v = (1, −1) has no curvature, but x ≥ 0 ends it on both sides.
    found = opt.box_quadratic_program(np.ones((2, 2)), [1.0, -1.0], 0.0)
    assert found.status == "optimal"
    np.testing.assert_allclose(found.point, [0.0, 1.0], atol=1e-9)


@pytest.mark.parametrize("Q", [[[0.0, -5.0], [-5.0, 0.0]], [[-1.0]], np.diag([1.0, -1e-3])])
def test_box_programs_that_curve_downwards_are_refused(Q):
    with pytest.raises(th.errors.CapabilityError, match="its smallest eigenvalue is"):
        opt.box_quadratic_program(Q, np.ones(len(Q)), 0.0, 1.0)


def test_exhausted_steps_are_no_optimum():
    Q = np.array([[1.0, 0.999], [0.999, 1.0]])
    found = opt.box_quadratic_program(Q, [-1.0, 0.5], -1e3, 1e3, max_steps=3)
    assert found.status == "steps exhausted"
    assert found.point is not None
    assert opt.box_quadratic_program(Q, [-1.0, 0.5], -1e3, 1e3).status == "optimal"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cost": [np.nan]}, r"cost\[0\] = nan, but it must be finite"),
        ({"cost": "a"}, "cost='a' must be a real number"),
        ({"cost": [[1.0]]}, r"cost has shape \(1, 1\); it must be \(d,\)"),
        ({"cost": [1.0], "inequalities": ([[1.0, 2.0]], [1.0])}, r"they must be \(m, 1\)"),
        ({"cost": [1.0], "equalities": ([[1.0]], [1.0, 2.0])}, r"equalities have shapes"),
        ({"cost": [1.0], "inequalities": ([[np.inf]], [1.0])}, r"inequalities\[0\]\[0, 0\] = inf"),
        ({"cost": [1.0], "inequalities": [[1.0]]}, r"must be a pair \(matrix, vector\)"),
        ({"cost": [1.0], "lower": [0.0, 1.0]}, r"lower has shape \(2,\); pass one number, or 1"),
        ({"cost": [1.0], "upper": np.nan}, "upper = nan"),
    ],
)
def test_linear_programs_refuse_what_is_none(arguments, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        opt.linear_program(**arguments)


def test_conditions_are_those_of_one_point():
    with pytest.raises(
        th.errors.ParameterError, match=r"point has shape \(1,\) and gradient \(2,\)"
    ):
        opt.kkt_violation([1.0], [1.0, 2.0])
    with pytest.raises(th.errors.ParameterError, match=r"inequality_multipliers has shape \(2,\)"):
        opt.kkt_violation(
            [1.0], [1.0], inequalities=([[1.0]], [1.0]), inequality_multipliers=[1.0, 2.0]
        )
