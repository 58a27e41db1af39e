"""Single-row steps: by hand, beside scikit-learn's, and one way to take them beside another."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as sk
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.reference.kernels import splitmix_orders
from thetahat.data.source import Block, Source
from thetahat.data.views import reweighted

RANDOM = np.random.default_rng(0)
N, D = 300, 5
X = RANDOM.standard_normal((N, D))
SLOPES = RANDOM.standard_normal(D)
Y = X @ SLOPES + 1.0 + 0.3 * RANDOM.standard_normal(N)
SIGNS = np.where(X @ SLOPES + 0.5 * RANDOM.standard_normal(N) > 0, 1, -1)
CLASSES = np.array(["a", "b", "c"])[np.digitize(X @ SLOPES, [-1.0, 1.0])]

IN_ORDER = {"shuffle": False, "tol": None, "max_iter": 3}
SCHEDULES = {
    "constant": {"learning_rate": "constant", "eta0": 0.02},
    "invscaling": {"learning_rate": "invscaling", "eta0": 0.05, "power_t": 0.25},
    "root": {"learning_rate": "invscaling", "eta0": 0.05, "power_t": 0.5},
    "adaptive": {"learning_rate": "adaptive", "eta0": 0.02},
}
PENALTIES = {
    "none": {"penalty": None},
    "l2": {"penalty": "l2", "alpha": 0.01},
    "l1": {"penalty": "l1", "alpha": 0.01},
    "elasticnet": {"penalty": "elasticnet", "alpha": 0.02, "l1_ratio": 0.4},
}
CLASSIFICATION = ("hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron")
REGRESSION = ("squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive")


@dataclass(frozen=True, kw_only=True)
class InBlocks(Source):
    """Rows that come 70 at a time, and cannot be looked up by their number."""

    rows: np.ndarray
    targets: np.ndarray
    has_target: bool = True

    @property
    def n_rows(self):
        return len(self.rows)

    def blocks(self):
        for start in range(0, self.n_rows, 70):
            rows = slice(start, start + 70)
            yield Block(X=self.rows[rows], y=self.targets[rows], start=start)


def parameters(model):
    return np.concatenate([np.ravel(model.coef_), np.ravel(model.intercept_)])


def assert_same(one, other, **tolerance):
    tolerance = {"rtol": 1e-9, "atol": 1e-11} | tolerance
    np.testing.assert_allclose(parameters(one), parameters(other), **tolerance)


# --- by hand -----------------------------------------------------------------------------------


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


def logistic_by_hand(orders, tau0):
    """w⁰ = 0; w ← w + τ(y − σ(wᵀx))x for labels 0 and 1, τ = τ₀/t, in the orders of some epochs."""
    w, labels, t = np.zeros(D), (SIGNS + 1) / 2, 0
    for order in orders:
        for i in order:
            t += 1
            w = w + tau0 / t * (labels[i] - sigmoid(w @ X[i])) * X[i]
    return w


LOGISTIC = {"loss": "log_loss", "penalty": None, "fit_intercept": False, "tol": None, "max_iter": 2}


def test_logistic_regression_by_single_rows_step_by_step():
    model = th.SGDClassifier(
        **LOGISTIC, learning_rate="invscaling", eta0=0.5, power_t=1.0, shuffle=False
    ).fit(X, SIGNS)
    by_hand = logistic_by_hand([range(N), range(N)], 0.5)
    np.testing.assert_allclose(model.coef_[0], by_hand, rtol=1e-12)


def test_logistic_regression_reshuffles_each_epoch():
    model = th.SGDClassifier(
        **LOGISTIC, learning_rate="invscaling", eta0=0.5, power_t=1.0, random_state=3
    ).fit(X, SIGNS)
    seeds = np.random.default_rng(3).integers(1 << 63, size=2, dtype=np.uint64)
    orders = [list(range(N)), list(range(N))]
    for seed, order in zip(seeds, orders, strict=True):
        splitmix_orders(int(seed))(order, N)
    assert orders[0] != orders[1]
    np.testing.assert_allclose(model.coef_[0], logistic_by_hand(orders, 0.5), rtol=1e-12)


def test_logistic_regression_by_the_library_method():
    """The same steps through LinearModel(loss, penalty, solver)."""
    method = th.optimizers.StochasticGradient(
        step=th.optimizers.InverseTime(0.5), random_state=3, batch_size=1
    )
    with pytest.warns(ConvergenceWarning):
        model = th.LinearModel(
            "logistic", "none", solver=method, fit_intercept=False, max_iter=2
        ).fit(X, (SIGNS + 1) / 2)
    random = np.random.default_rng(3)
    by_hand = logistic_by_hand([random.permutation(N) for _ in range(2)], 0.5)
    np.testing.assert_allclose(model.coef_, by_hand, rtol=1e-12)


def test_squared_loss_steps_against_the_residual():
    model = th.SGDRegressor(
        penalty=None, learning_rate="constant", eta0=0.1, shuffle=False, max_iter=1, tol=None
    ).fit([[1.0], [2.0]], [1.0, 3.0])
    # From (w, b) = 0: residual −1, so both grow by 0.1; then z = 0.3, residual −2.7.
    np.testing.assert_allclose([model.coef_[0], model.intercept_[0]], [0.1 + 0.54, 0.1 + 0.27])


@pytest.mark.parametrize(("rule", "size"), [("pa1", 0.2), ("pa2", 1 / (4 + 2.5))])
def test_passive_aggressive_steps_fit_their_row(rule, size):
    model = th.SGDClassifier(
        penalty=None, learning_rate=rule, eta0=0.2, shuffle=False, max_iter=1, tol=None
    ).fit([[2.0], [-9.0]], [1, 0])  # the second is right by far, and changes nothing
    np.testing.assert_allclose(model.coef_, [[2 * size]])


def test_optimal_rate_by_hand():
    alpha = 0.04
    first = alpha**-0.25
    model = th.SGDClassifier(
        alpha=alpha, fit_intercept=False, shuffle=False, max_iter=1, tol=None
    ).fit([[0.1], [-0.1]], [1, 0])
    second = 1 / (1 / first + alpha)
    np.testing.assert_allclose(model.coef_, [[first * 0.1 * (1 - second * alpha) + second * 0.1]])


# --- scikit-learn takes the same steps in the same order ------------------------------------------


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", CLASSIFICATION + REGRESSION)
def test_same_steps_as_scikit_learn_classifying(loss, schedule, penalty):
    options = {"loss": loss, **IN_ORDER, **SCHEDULES[schedule], **PENALTIES[penalty]}
    assert_same(
        th.SGDClassifier(**options).fit(X, SIGNS),
        sk.SGDClassifier(**options).fit(X, SIGNS),
        rtol=1e-7,
    )


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", REGRESSION)
def test_same_steps_as_scikit_learn_in_regression(loss, schedule, penalty):
    options = {"loss": loss, **IN_ORDER, **SCHEDULES[schedule], **PENALTIES[penalty]}
    assert_same(
        th.SGDRegressor(**options).fit(X, Y), sk.SGDRegressor(**options).fit(X, Y), rtol=1e-7
    )


@pytest.mark.parametrize("loss", ["hinge", "log_loss", "perceptron", "huber"])
@pytest.mark.parametrize("average", [False, True, 100])
def test_same_steps_as_scikit_learn_at_the_optimal_rate(loss, average):
    random = np.random.default_rng(1)
    options = {"loss": loss, "alpha": 0.01, "average": average, **IN_ORDER}
    weight = random.random(N)
    ours = th.SGDClassifier(**options).fit(X, CLASSES, sample_weight=weight)
    theirs = sk.SGDClassifier(**options).fit(X, CLASSES, sample_weight=weight)
    assert_same(ours, theirs, rtol=1e-7)
    assert ours.t_ == theirs.t_
    assert ours.n_iter_ == theirs.n_iter_


@pytest.mark.parametrize("rule", ["pa1", "pa2"])
def test_same_passive_aggressive_steps_as_scikit_learn(rule):
    options = {"learning_rate": rule, "penalty": None, "eta0": 0.1, **IN_ORDER}
    assert_same(
        th.SGDClassifier(**options).fit(X, SIGNS), sk.SGDClassifier(**options).fit(X, SIGNS)
    )
    options["loss"] = "epsilon_insensitive"
    assert_same(th.SGDRegressor(**options).fit(X, Y), sk.SGDRegressor(**options).fit(X, Y))


@pytest.mark.parametrize("adapts", [{}, {"learning_rate": "adaptive"}])
def test_stops_after_as_many_epochs_as_scikit_learn(adapts):
    options = {"shuffle": False, "penalty": None, **adapts}
    ours, theirs = th.SGDRegressor(**options).fit(X, Y), sk.SGDRegressor(**options).fit(X, Y)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.solution_.outcome is th.results.Outcome.CONVERGED
    assert_same(ours, theirs, rtol=1e-7)


# --- near the optimum --------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["log_loss", "hinge", "modified_huber"])
@pytest.mark.filterwarnings("ignore:LinearModel")  # a kinked optimum is never certain
def test_averaged_steps_come_near_the_optimum(loss):
    alpha, labels = 0.01, (SIGNS + 1) / 2 if loss == "log_loss" else SIGNS
    parts = {"loss": th.losses.named(loss), "penalty": th.penalties.L2(alpha)}
    best = th.LinearModel(loss=parts["loss"], penalty=parts["penalty"], tol=1e-3)
    best.fit(X, labels)
    model = th.SGDClassifier(
        loss, alpha=alpha, average=True, random_state=0, max_iter=60, tol=None
    ).fit(X, labels)

    def objective(coef, intercept):
        value = parts["loss"].value(labels, X @ coef + intercept).mean()
        return value + parts["penalty"].value(coef)

    lowest = objective(best.coef_, best.intercept_)
    assert objective(model.coef_[0], model.intercept_[0]) < 1.05 * lowest


def test_l1_leaves_columns_out():
    random = np.random.default_rng(2)
    wide = np.hstack([X, random.standard_normal((N, 20))])
    model = th.SGDRegressor(penalty="l1", alpha=0.1, random_state=0).fit(wide, Y)
    assert (model.coef_[:D] != 0).all()
    assert (model.coef_[D:] == 0).sum() >= 18


# --- one way and another ------------------------------------------------------------------------

OWN = {
    "squared_error": th.loss(lambda y, z: (z - y) ** 2 / 2),
    "log_loss": th.loss(lambda y, z: np.logaddexp(0, -y * z), targets="signs", link="logit"),
    "hinge": th.loss(lambda y, z: np.maximum(0, 1 - y * z), targets="signs"),
}


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", OWN)
def test_your_own_loss_takes_the_compiled_steps(loss, penalty):
    random = np.random.default_rng(3)
    options = {**PENALTIES[penalty], "learning_rate": "constant", "eta0": 0.02, "random_state": 0}
    options |= {"max_iter": 2, "tol": None, "average": 30}
    rows = np.where(X[:60] < 0, 0.0, X[:60])
    weight = random.integers(0, 3, 60)
    compiled = th.SGDClassifier(loss, **options).fit(rows, SIGNS[:60], sample_weight=weight)
    own = th.SGDClassifier(OWN[loss], **options).fit(rows, SIGNS[:60], sample_weight=weight)
    assert_same(own, compiled)
    sparse = th.SGDClassifier(OWN[loss], **options)
    assert_same(sparse.fit(sp.csr_array(rows), SIGNS[:60], sample_weight=weight), compiled)


def test_losses_with_a_link_predict_means():
    random = np.random.default_rng(4)
    counts = random.poisson(np.exp(0.3 * X[:, 0]))
    model = th.SGDRegressor("poisson", eta0=0.02, max_iter=5, tol=None, random_state=0)
    model.fit(X, counts)
    np.testing.assert_allclose(model.predict(X), np.exp(X @ model.coef_ + model.intercept_))


@pytest.mark.parametrize("penalty", PENALTIES)
def test_dense_equals_sparse_in_any_memory_order(penalty):
    rows = np.where(X < 0.3, 0.0, X)
    options = {**PENALTIES[penalty], "random_state": 0, "max_iter": 4, "tol": None, "average": True}
    expected = th.SGDClassifier(**options, learning_rate="constant").fit(rows, CLASSES)
    for other in (sp.csr_array(rows), sp.csc_array(rows), np.asfortranarray(rows)):
        assert_same(
            th.SGDClassifier(**options, learning_rate="constant").fit(other, CLASSES), expected
        )


def test_a_row_of_weight_zero_is_not_there():
    random = np.random.default_rng(5)
    weight = random.integers(0, 2, N).astype(float)
    kept = weight > 0
    options = {"random_state": 0, "max_iter": 3, "tol": None}
    weighted = th.SGDRegressor(**options).fit(X, Y, sample_weight=weight)
    without = th.SGDRegressor(**options).fit(X[kept], Y[kept])
    np.testing.assert_array_equal(parameters(weighted), parameters(without))
    assert weighted.t_ == without.t_ == 1 + 3 * kept.sum()


def test_one_against_the_rest_is_one_fit_per_class():
    options = {"random_state": 0, "max_iter": 4, "tol": None}
    together = th.SGDClassifier(**options).fit(X, CLASSES)
    for number, label in enumerate("abc"):
        alone = th.SGDClassifier(**options).fit(X, CLASSES == label)
        np.testing.assert_array_equal(together.coef_[number], alone.coef_[0])
        assert together.intercept_[number] == alone.intercept_[0]


def test_class_weights_are_sample_weights():
    weights = {"a": 2.0, "b": 0.5, "c": 1.0}
    options = {"random_state": 0, "max_iter": 4, "tol": None}
    by_class = th.SGDClassifier(class_weight=weights, **options).fit(X, CLASSES)
    by_row = th.SGDClassifier(**options).fit(
        X, CLASSES, sample_weight=[weights[label] for label in CLASSES]
    )
    assert_same(by_class, by_row)
    labels = CLASSES == "a"
    theirs = sk.SGDClassifier(class_weight="balanced", alpha=0.01, **IN_ORDER).fit(X, labels)
    ours = th.SGDClassifier(class_weight="balanced", alpha=0.01, **IN_ORDER).fit(X, labels)
    assert_same(ours, theirs, rtol=1e-7)


def test_softmax_of_two_classes_is_logistic_regression():
    """The difference of the two scores gets both their steps: twice the rate."""
    options = {"penalty": None, "learning_rate": "constant", "random_state": 0, "tol": None}
    both = th.SGDClassifier("softmax_cross_entropy", eta0=0.01, max_iter=2, **options)
    one = th.SGDClassifier("log_loss", eta0=0.02, max_iter=2, **options).fit(X, SIGNS)
    both.fit(X, SIGNS)
    assert both.coef_.shape == (2, D)
    np.testing.assert_allclose(both.coef_[1] - both.coef_[0], one.coef_[0], rtol=1e-9)
    np.testing.assert_allclose(both.predict_proba(X), one.predict_proba(X), atol=1e-9)
    jointly = th.SGDClassifier("softmax_cross_entropy", random_state=0, max_iter=5, tol=None)
    assert jointly.fit(X, CLASSES).score(X, CLASSES) > 0.8


def test_probabilities():
    model = th.SGDClassifier("log_loss", random_state=0).fit(X, SIGNS)
    z = model.decision_function(X)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], sigmoid(z))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    huber = th.SGDClassifier("modified_huber", random_state=0).fit(X, CLASSES)
    share = huber.predict_proba(X)
    raw = (np.clip(huber.decision_function(X), -1, 1) + 1) / 2
    some = raw.sum(axis=1) > 0
    np.testing.assert_allclose(share[some], raw[some] / raw[some].sum(axis=1, keepdims=True))
    np.testing.assert_allclose(share[~some], 1 / 3)
    with pytest.raises(AttributeError) as refusal:
        th.SGDClassifier().fit(X, SIGNS).predict_proba(X)
    assert "not available for loss='hinge'" in str(refusal.value.__cause__)


# --- as rows arrive ------------------------------------------------------------------------------


@pytest.mark.parametrize("average", [False, True, 400])
def test_partial_fits_are_epochs(average):
    options = {"shuffle": False, "average": average}
    whole = th.SGDClassifier(max_iter=3, tol=None, **options).fit(X, CLASSES)
    parts = th.SGDClassifier(**options)
    for _ in range(3):
        parts.partial_fit(X, CLASSES, classes=["a", "b", "c"])
    assert_same(parts, whole)
    assert parts.t_ == whole.t_
    regressor = th.SGDRegressor(**options)
    for _ in range(3):
        regressor.partial_fit(X, Y)
    assert_same(regressor, th.SGDRegressor(max_iter=3, tol=None, **options).fit(X, Y))


@pytest.mark.parametrize("loss", ["hinge", "softmax_cross_entropy"])
def test_partial_fits_of_blocks_are_an_epoch(loss):
    options = {"loss": loss, "shuffle": False, "average": True}
    parts = th.SGDClassifier(**options)
    for rows in np.split(np.arange(N), [70, 71, 200]):
        parts.partial_fit(X[rows], CLASSES[rows], classes=["a", "b", "c"])
    assert_same(parts, th.SGDClassifier(max_iter=1, tol=None, **options).fit(X, CLASSES))


def test_a_source_is_read_block_by_block():
    blocks = InBlocks(rows=X, targets=Y, n_features=D)
    options = {"max_iter": 20, "tol": None}
    in_order = th.SGDRegressor(shuffle=False, **options)
    assert_same(in_order.fit(blocks), th.SGDRegressor(shuffle=False, **options).fit(X, Y))
    shuffled = th.SGDRegressor(random_state=0, **options).fit(blocks)
    assert not np.array_equal(shuffled.coef_, in_order.coef_)
    np.testing.assert_allclose(shuffled.coef_, SLOPES, atol=0.1)
    again = th.SGDRegressor(random_state=0, **options).fit(blocks)
    np.testing.assert_array_equal(shuffled.coef_, again.coef_)


def test_rows_in_a_file(tmp_path):
    np.savetxt(tmp_path / "rows.csv", np.c_[X, SIGNS], delimiter=",")
    header = ",".join([f"x{j}" for j in range(D)] + ["label"])
    text = (tmp_path / "rows.csv").read_text()
    (tmp_path / "rows.csv").write_text(header + "\n" + text)
    source = th.scan(tmp_path / "rows.csv", target="label")
    options = {"max_iter": 3, "tol": None, "shuffle": False}
    from_file = th.SGDClassifier(**options).fit(source)
    assert_same(from_file, th.SGDClassifier(**options).fit(X, SIGNS))
    parts = th.SGDClassifier(shuffle=False).partial_fit(source, classes=[-1, 1])
    assert parts.t_ == N + 1


def test_a_memory_map_is_read_in_order(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    options = {"max_iter": 3, "tol": None, "random_state": 0}
    assert_same(th.SGDRegressor(**options).fit(mapped, Y), th.SGDRegressor(**options).fit(X, Y))


def test_warm_starts_and_given_starts():
    options = {"shuffle": False, "max_iter": 2, "tol": None, "learning_rate": "constant"}
    warm = th.SGDClassifier(warm_start=True, **options).fit(X, CLASSES)
    begin = warm.coef_.copy(), warm.intercept_.copy()
    given = th.SGDClassifier(**options).fit(X, CLASSES, coef_init=begin[0], intercept_init=begin[1])
    assert_same(warm.fit(X, CLASSES), given)
    assert_same(given, th.SGDClassifier(**options | {"max_iter": 4}).fit(X, CLASSES))


# --- when to stop ------------------------------------------------------------------------------


def test_early_stopping_judges_by_rows_held_out():
    options = {"early_stopping": True, "random_state": 0, "validation_fraction": 0.2}
    model = th.SGDClassifier(**options).fit(X, CLASSES)
    assert model.solution_.outcome is th.results.Outcome.CONVERGED
    assert model.solution_.gap_kind == "change of the held-out score"
    assert model.t_ == 1 + model.n_iter_ * 240
    # Scores no longer improve by more than 1: after the first epoch, five more.
    assert th.SGDRegressor(tol=1.0, **options).fit(X, Y).n_iter_ == 6


def test_too_few_epochs_are_reported():
    with pytest.warns(ConvergenceWarning, match="maximum number of iterations"):
        model = th.SGDRegressor(max_iter=2, random_state=0).fit(X, Y)
    assert model.solution_.outcome is th.results.Outcome.STEPS_EXHAUSTED


def test_time_limits_end_a_fit():
    with th.config(max_time=1e-9), pytest.warns(ConvergenceWarning, match="out of time"):
        model = th.SGDRegressor().fit(X, Y)
    assert model.n_iter_ == 1


def test_epochs_are_reported_and_an_interrupt_keeps_the_last():
    class Interrupting:
        seen = 0

        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            self.seen += context.task_name == "step"
            if self.seen == 3:
                raise KeyboardInterrupt

    options = {"shuffle": False, "tol": None}
    model = th.SGDClassifier(**options).set_callbacks(Interrupting())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, CLASSES)
    assert model.solution_.outcome is th.results.Outcome.INTERRUPTED
    assert_same(model, th.SGDClassifier(max_iter=3, **options).fit(X, CLASSES))


# --- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        ({"alpha": -1.0}, "alpha=-1.0 must be a number ≥ 0"),
        ({"l1_ratio": 1.5}, "l1_ratio=1.5 must be a number from 0 to 1"),
        ({"l1_ratio": None, "penalty": "elasticnet"}, "needs l1_ratio"),
        ({"penalty": "l3"}, "penalty='l3' must be one of 'l2'"),
        ({"learning_rate": "constant", "eta0": 0.0}, "eta0=0.0 must be a number > 0"),
        ({"learning_rate": "slow"}, "learning_rate='slow' must be one of"),
        ({"learning_rate": "optimal", "alpha": 0.0}, "alpha must be > 0"),
        ({"learning_rate": "pa1", "loss": "huber"}, "learning_rate='pa1' is only defined for"),
        ({"loss": "hing"}, "Did you mean 'hinge'"),
        ({"loss": th.losses.ZeroOne()}, "has no derivative"),
        ({"max_iter": 0}, "whole number ≥ 1"),
        ({"validation_fraction": 1.0}, "between 0 and 1"),
        ({"average": -3}, "average=-3"),
    ],
)
@pytest.mark.parametrize("kind", [th.SGDClassifier, th.SGDRegressor])
def test_parameters_out_of_range(kind, parameters, rule):
    with pytest.raises(th.errors.ThetahatError, match=rule):
        kind(**parameters).fit(X, SIGNS)


def test_the_first_partial_fit_names_the_classes():
    with pytest.raises(th.errors.DataError, match="classes must be passed on the first call"):
        th.SGDClassifier().partial_fit(X, CLASSES)
    with pytest.raises(th.errors.DataError, match="is a single class"):
        th.SGDClassifier().partial_fit(X, CLASSES, classes=["a"])
    model = th.SGDClassifier().partial_fit(X, CLASSES, classes=["a", "b", "c"])
    with pytest.raises(th.errors.DataError, match="not the same as on last call"):
        model.partial_fit(X, CLASSES, classes=["a", "b"])
    before = parameters(model)
    with pytest.raises(
        th.errors.DataError, match=r"1 of 2 labels belong to no class: 'd' .*first call"
    ):
        model.partial_fit(X[:2], ["a", "d"])
    with pytest.raises(ValueError, match="X has 3 features, but SGDClassifier is expecting 5"):
        model.partial_fit(X[:, :3], CLASSES)
    np.testing.assert_array_equal(parameters(model), before)
    model.partial_fit(X[:2], ["a", "a"])  # not every class need come every time


def test_partial_fit_refuses_what_needs_all_rows():
    with pytest.raises(th.errors.ParameterError, match="early_stopping should be False"):
        th.SGDRegressor(early_stopping=True).partial_fit(X, Y)
    with pytest.raises(
        th.errors.ParameterError, match="'balanced' is not supported for partial_fit"
    ):
        th.SGDClassifier(class_weight="balanced").partial_fit(X, SIGNS, classes=[-1, 1])


@pytest.mark.parametrize("kind", [th.SGDClassifier, th.Perceptron])
def test_one_class_only(kind):
    with pytest.raises(th.errors.DataError, match="one class only, 'a'"):
        kind().fit(X, np.full(N, "a"))


def test_text_and_boolean_labels():
    text = th.SGDClassifier(random_state=0).fit(X, np.where(SIGNS > 0, "yes", "no"))
    truth = th.SGDClassifier(random_state=0).fit(X, SIGNS > 0)
    assert_same(text, truth)
    assert truth.predict(X).dtype == bool
    assert set(text.predict(X)) == {"yes", "no"}


def test_steps_that_diverge_are_reported_with_a_remedy():
    with pytest.warns(ConvergenceWarning, match=r"diverged.*StandardScaler.*eta0 \(now 0.01\)"):
        model = th.SGDRegressor(random_state=0).fit(1e3 * X, Y)
    assert np.isfinite(model.coef_).all()
    assert model.solution_.outcome is th.results.Outcome.DIVERGED
    with pytest.raises(
        th.errors.DataError, match=r"diverged in epoch 1: the coefficients overflow.*Scale"
    ):
        th.SGDRegressor(random_state=0, eta0=1e300).fit(1e3 * X, Y)
    own = th.loss(lambda y, z: (z - y) ** 4)
    with pytest.raises(th.errors.DataError, match="diverged in epoch 1"):
        th.SGDRegressor(own, random_state=0, eta0=1e150, max_iter=1).fit(1e3 * X, Y)


def test_too_few_rows_to_hold_some_out():
    with pytest.raises(th.errors.DataError, match="one row of each class"):
        th.SGDClassifier(early_stopping=True).fit(X[:10], CLASSES[:10])
    with pytest.raises(th.errors.DataError, match="hold out 1 of 1 rows"):
        th.SGDRegressor(early_stopping=True).fit(X[:1], Y[:1])
    blocks = InBlocks(rows=X, targets=Y, n_features=D)
    with pytest.raises(th.errors.CapabilityError, match="early_stopping=False"):
        th.SGDRegressor(early_stopping=True).fit(blocks)


def test_starts_of_the_wrong_shape():
    with pytest.raises(th.errors.DataError, match=r"coef_init has shape \(2,\).*needs \(3, 5\)"):
        th.SGDClassifier().fit(X, CLASSES, coef_init=[0.0, 1.0])
    warm = th.SGDClassifier(warm_start=True, random_state=0).fit(X, SIGNS)
    with pytest.raises(
        th.errors.DataError, match="warm_start=True needs the classes of the previous fit"
    ):
        warm.fit(X, CLASSES)


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize("rows", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_missing_values_are_named(early_stopping, rows, value):
    bad = X.copy()
    bad[17, 2] = value
    with pytest.raises(th.errors.DataError, match=r"column 2.*row 17"):
        th.SGDRegressor(early_stopping=early_stopping).fit(rows(bad), Y)
    with pytest.raises(th.errors.DataError, match=r"column 2.*row 17"):
        th.SGDClassifier().partial_fit(rows(bad), CLASSES, classes=["a", "b", "c"])


def test_all_weights_zero():
    with pytest.raises(th.errors.DataError, match="all sample weights are zero"):
        th.SGDRegressor().fit(X, Y, sample_weight=np.zeros(N))
    blocks = InBlocks(rows=X, targets=Y, n_features=D)
    weightless = reweighted(blocks, lambda block: np.zeros(block.n_rows))
    with pytest.raises(th.errors.DataError, match="all sample weights are zero"):
        th.SGDRegressor().fit(weightless)


def test_class_losses_are_for_classes():
    with pytest.raises(th.errors.ParameterError, match="Use SGDClassifier"):
        th.SGDRegressor("softmax_cross_entropy").fit(X, Y)
    with pytest.raises(th.errors.DataError, match="are negative"):
        th.SGDRegressor("poisson").fit(X, Y)
