"""Online learners: worked rounds, bounds on every stream tried, streams, questions, refusals."""

import numpy as np
import pytest

import thetahat as th
from thetahat import online


def boolean_rows(n, width, random=0):
    return np.random.default_rng(random).integers(0, 2, (n, width)).astype(float)


# Disjunctions.


def test_a_negative_row_removes_its_true_literals():
    learner = online.MonotoneDisjunction()
    assert learner.predict_one([0, 1, 1, 0, 0, 1, 0]) is True
    learner.learn_one([0, 1, 1, 0, 0, 1, 0], False)
    assert np.flatnonzero(~learner.literals_).tolist() == [1, 2, 5]  # x₂, x₃, x₆
    assert learner.mistakes_ == 1


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("negations", [False, True])
def test_mistake_bounds_of_disjunctions_hold(seed, negations):
    random = np.random.default_rng(seed)
    width = int(random.integers(2, 12))
    truth = random.random((2, width)) < 0.3
    if not negations:
        truth[1] = False

    def concept(x):
        return bool((x.astype(bool) & truth[0]).any() or (~x.astype(bool) & truth[1]).any())

    learner = online.Disjunction() if negations else online.MonotoneDisjunction()
    teacher = online.Teacher(concept, lambda r: boolean_rows(1, width, r)[0], seed)
    game = online.play(learner, teacher, rounds=300)
    assert game.bound == width + negations
    assert game.bound_holds
    assert game.inconsistent_round is None
    assert not game.ended_early


def test_a_teacher_labels_what_it_draws_by_its_concept():
    """The same rows in every iteration, for a seed; labels are the concept's."""
    teacher = online.Teacher(lambda x: bool(x[0]), lambda r: r.integers(0, 2, 3), 7)
    rounds = [[next(lesson) for _ in range(30)] for lesson in (iter(teacher), iter(teacher))]
    rows, labels = zip(*rounds[0], strict=True)
    assert set(np.unique(rows)) == {0, 1}
    np.testing.assert_array_equal(labels, np.array(rows)[:, 0] == 1)
    np.testing.assert_array_equal(rows, [row for row, _ in rounds[1]])


def test_the_worst_teacher_reaches_the_bound():
    """One variable false at a time costs the monotone learner a mistake each, n in all."""
    rows = [(np.eye(6)[i], False) for i in range(6)]
    assert online.play(online.MonotoneDisjunction(), rows).mistakes == 6


def test_the_first_mistake_with_negations_removes_half_the_literals():
    learner = online.Disjunction().learn_one([1, 0, 1], False)
    assert learner.literals_.sum() == 3


def test_negations_are_the_monotone_learner_on_the_complement_expansion():
    X = boolean_rows(60, 4)
    y = (X[:, 0] == 1) | (X[:, 2] == 0)
    plain = online.MonotoneDisjunction().fit(th.boolean_complement(X), y)
    both = online.Disjunction().fit(X, y)
    assert plain.mistakes_ == both.mistakes_
    np.testing.assert_array_equal(plain.literals_.reshape(2, 4), both.literals_)


def test_an_inconsistent_teacher_is_reported():
    rows = [([1, 0], False), ([1, 0], True), ([0, 1], True)]
    game = online.play(online.MonotoneDisjunction(), rows)
    assert game.inconsistent_round == 2
    assert "agrees with the rows up to round 2" in str(game)


def test_streams_that_end_early_say_so():
    game = online.play(online.MonotoneDisjunction(), [([1, 0], True)], rounds=5)
    assert game.ended_early
    assert game.rounds == 1
    with pytest.raises(th.errors.DataError, match="never ends"):
        online.play(online.MonotoneDisjunction(), online.Teacher(any, lambda r: [1.0]))


@pytest.mark.parametrize("seed", range(10))
def test_winnow_keeps_its_bound_among_many_variables(seed):
    random = np.random.default_rng(seed)
    X = (random.random((400, 200)) < 0.1).astype(float)
    relevant = random.choice(200, 3, replace=False)
    learner = online.Winnow(n_relevant=3).fit(X, X[:, relevant].any(axis=1))
    assert learner.mistakes_ <= learner.mistake_bound_
    eliminated = online.MonotoneDisjunction().fit(X, X[:, relevant].any(axis=1))
    assert learner.mistakes_ < eliminated.mistakes_


# The perceptron.


@pytest.mark.parametrize("seed", range(30))
def test_perceptron_bound_and_both_claims_hold(seed):
    random = np.random.default_rng(seed)
    d = int(random.integers(2, 8))
    separator = random.standard_normal(d)
    separator /= np.linalg.norm(separator)
    X = random.standard_normal((300, d)) * random.uniform(0.5, 2.0)
    X = X[np.abs(X @ separator) > 0.1]
    learner = online.OnlinePerceptron(bias=False, separator=separator)
    learner.fit(X, X @ separator > 0)
    assert learner.mistakes_ <= learner.mistake_bound_
    assert learner.margin_ == pytest.approx(np.abs(X @ separator).min())
    along, square = np.array([(0.0, 0.0), *learner.progress_]).T
    assert (np.diff(along) >= learner.margin_ - 1e-12).all()
    assert (np.diff(square) <= learner.radius_**2 + 1e-12).all()


def test_mistakes_times_squared_margin_stay_below_one_for_unit_rows():
    largest = 0.0
    for seed in range(300):
        random = np.random.default_rng(seed)
        separator = np.array([1.0, 0.0, 0.0])
        X = random.standard_normal((60, 3))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        X = X[np.abs(X @ separator) > 0.2]
        learner = online.OnlinePerceptron(bias=False, separator=separator)
        learner.fit(X, X @ separator > 0)
        largest = max(largest, learner.mistakes_ * learner.margin_**2)
    assert largest <= 1.0


def test_a_threshold_other_than_zero_is_a_constant_feature():
    random = np.random.default_rng(1)
    X = random.uniform(-1, 1, (400, 2))
    y = X[:, 0] > 0.3
    with_bias = online.OnlinePerceptron()
    for _ in range(20):
        with_bias.partial_fit(X, y, classes=[False, True])
    assert np.mean(with_bias.predict(X) == y) > 0.95
    ones = np.column_stack([X, np.ones(400)])
    same = online.OnlinePerceptron(bias=False).fit(ones, y)
    np.testing.assert_allclose(same.weights_, online.OnlinePerceptron().fit(X, y).weights_)


def test_polynomial_thresholds_are_halfspaces_of_monomials():
    random = np.random.default_rng(2)
    X = random.uniform(-1, 1, (600, 2))
    y = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 > 0.5, 1, -1)
    X, y = X[np.abs((X**2).sum(axis=1) - 0.5) > 0.05], y[np.abs((X**2).sum(axis=1) - 0.5) > 0.05]
    separator = [0.0, 0.0, 1.0, 0.0, 1.0, -0.5]  # x₁, x₂, x₁², x₁x₂, x₂², 1
    circle = online.OnlinePerceptron(degree=2, separator=separator)
    for _ in range(40):
        circle.partial_fit(X, y, classes=[-1, 1])
    assert (circle.predict(X) == y).mean() > 0.98
    assert circle.mistakes_ <= circle.mistake_bound_
    expanded = th.MonomialExpansion(degree=2, include_bias=False).fit_transform(X)
    explicit = online.OnlinePerceptron().fit(expanded, y)
    assert explicit.mistakes_ == online.OnlinePerceptron(degree=2).fit(X, y).mistakes_
    assert online.OnlinePerceptron().fit(X, y).mistakes_ > 100


def test_other_starts_and_single_rows():
    learner = online.OnlinePerceptron(start="ones", bias=False)
    assert learner.predict_one([1.0, 1.0]) == 1
    learner.learn_one([1.0, 1.0], -1)
    np.testing.assert_allclose(learner.weights_, 0.0)
    assert learner.mistake_bound_ is None


# Experts.


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("beta", [None, 0.3, 0.9])
def test_hedge_keeps_its_bounds(seed, beta):
    random = np.random.default_rng(seed)
    rounds, experts = int(random.integers(1, 500)), int(random.integers(1, 20))
    losses = random.random((rounds, experts)) ** random.uniform(0.2, 3.0, experts)
    run = online.Hedge(beta=beta, rounds=rounds).run(losses)
    assert run.bounds_hold
    assert (run.tuned_bound is None) == (beta is not None)


def test_hedge_nears_the_best_expert():
    random = np.random.default_rng(1)
    means = np.linspace(0.3, 0.7, 10)
    losses = (random.random((1000, 10)) < means).astype(float)
    run = online.Hedge(rounds=1000).run(losses)
    assert run.bounds_hold
    assert run.regret[-1] / 1000 < 0.07
    assert run.losses[-200:].mean() < run.losses[:50].mean()
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    assert run.plot().get_xlabel() == "round"
    plt.close("all")


def test_hedge_updates_as_written():
    hedge = online.Hedge(beta=0.5)
    assert hedge.update([0.0, 1.0, 0.5]) == pytest.approx(0.5)
    weights = np.array([1.0, 0.5, 0.5**0.5])
    np.testing.assert_allclose(hedge.weights_, weights / weights.sum())


def test_hedge_does_not_underflow():
    hedge = online.Hedge(beta=0.01)
    for _ in range(2000):
        hedge.update([1.0, 0.99])
    assert np.isfinite(hedge.weights_).all()
    assert hedge.weights_.sum() == pytest.approx(1.0)


# Streams and questions.


def test_progressive_validation_judges_before_it_learns():
    X = boolean_rows(400, 6)
    y = X[:, 1].astype(bool)
    stream = [(X[i : i + 40], y[i : i + 40]) for i in range(0, 400, 40)]
    found = online.progressive_validation(
        online.MonotoneDisjunction(), iter(stream), classes=[False, True]
    )
    learner, expected = online.MonotoneDisjunction(), []
    for number, (rows, labels) in enumerate(stream):
        if number:
            expected.append(np.mean(learner.predict(rows) != labels))
        learner.partial_fit(rows, labels, classes=[False, True])
    np.testing.assert_allclose(found.losses, expected)
    assert found.running[-1] == pytest.approx(found.mean_loss)


def test_questions_where_the_model_is_unsure_teach_more():
    random = np.random.default_rng(3)
    pool = random.uniform(-1, 1, (600, 2))
    labels = np.where(pool[:, 0] + 0.2 * pool[:, 1] > 0.1, "right", "left")

    from sklearn.linear_model import LogisticRegression

    finals = {}
    for query in ("uncertainty", "random"):
        found = online.active_learning(
            LogisticRegression(C=100.0),
            pool,
            labels.__getitem__,
            questions=30,
            query=query,
            test=(pool, labels),
            random_state=0,
        )
        finals[query] = found.scores[-1]
        assert found.scores.size == 21
        assert found.scores[-1] == pytest.approx(np.mean(found.model.predict(pool) == labels))
    assert finals["uncertainty"] > finals["random"]
    assert finals["uncertainty"] > 0.98


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: online.Hedge(), "Set beta, or rounds"),
        (lambda: online.Hedge(beta=1.0), "beta=1.0"),
        (lambda: online.Hedge(rounds=0), "rounds=0"),
        (lambda: online.Hedge(beta=0.5).update([0.5, 1.5]), "expert 1 has 1.5"),
        (lambda: online.Hedge(beta=0.5).update([np.inf]), "expert 0 has inf"),
        (lambda: online.Hedge(beta=0.5).update([np.nan]), "expert 0 has nan"),
        (lambda: online.Hedge(beta=0.5).run([]), "losses is empty"),
        (lambda: online.Hedge(beta=0.5).run([[0.1], [0.1, 0.2]]), "2 losses for 1 experts"),
        (lambda: online.Winnow(alpha=1.0).fit([[1.0], [0.0]], [1, 0]), "alpha=1.0"),
        (lambda: online.MonotoneDisjunction().partial_fit([[1.0]], [1]), "needs classes"),
        (
            lambda: (
                online.MonotoneDisjunction().fit([[1.0], [0.0]], [1, 0]).partial_fit([[1]], [7])
            ),
            "belong to no class: 7",
        ),
        (
            lambda: (
                online.MonotoneDisjunction().fit([[1.0], [0.0]], [1, 0]).partial_fit([[1, 0]], [1])
            ),
            "X has 2 features",
        ),
        (lambda: online.MonotoneDisjunction().fit([[1.0]] * 3, [1, 2, 3]), "3 classes"),
        (lambda: online.OnlinePerceptron(separator=[1.0]).fit([[1.0], [0.0]], [1, 0]), "φ has 2"),
        (lambda: online.OnlinePerceptron().predict_one([[1.0]]), "One row at a time"),
        (
            lambda: online.progressive_validation(th.Ridge(), [([[1.0]], [1.0])]),
            "needs partial_fit",
        ),
        (
            lambda: online.progressive_validation(
                online.Winnow(), [([[1.0]], [1])], classes=[0, 1]
            ),
            "ended before its second batch",
        ),
        (
            lambda: online.active_learning(
                th.AxisParallelRectangle(), np.zeros((9, 1)), lambda row: 1, questions=5
            ),
            "have one class, 1",
        ),
        (
            lambda: online.active_learning(
                th.AxisParallelRectangle(), np.zeros((9, 1)), int, questions=20
            ),
            "questions=20",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(th.errors.ThetahatError, match=message):
        call()
