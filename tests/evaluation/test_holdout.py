"""Hold-out sets: uses are counted and paid for, and answers hold whoever chooses the models."""

import copy
import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

import thetahat as th
from thetahat.evaluation.proportion_tails import MOST_NATS, bounds_of_share


def hold_out(n=400, **options):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 2))
    y = np.where(X[:, 0] + random.standard_normal(n) > 0, "yes", "no")
    return th.HoldOut(X, y, **options)


def ask(hold, models):
    """Every model's answer, without the warning of reuse."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", th.errors.ReuseWarning)
        return [hold.error(model) for model in models]


def alike(model, count):
    """Models that differ in name only, so that each counts as a use."""
    models = [copy.deepcopy(model) for _ in range(count)]
    for number, each in enumerate(models):
        each.number_ = number
    return models


class Says:
    """A model that returns given predictions."""

    def __init__(self, labels):
        self.labels = labels

    def predict(self, X):
        return self.labels


class Vote:
    """The majority of linear classifiers."""

    def __init__(self, *directions):
        self.directions = np.array(directions)

    def predict(self, X):
        return (np.mean(X @ self.directions.T > 0, axis=1) > 0.5).astype(int)


def majority_of_those_that_looked_good(seed, **options):
    """400 random directions are tested on coins, and the better half votes: its error is ½."""
    random = np.random.default_rng(seed)
    X, y = random.standard_normal((4000, 50)), random.integers(0, 2, 4000)
    hold = th.HoldOut(X, y, random_state=seed, **options)
    directions = random.standard_normal((400, 50))
    answers = ask(hold, [Vote(direction) for direction in directions])
    good = [d for d, a in zip(directions, answers, strict=True) if a.estimate < 0.5]
    return ask(hold, [Vote(*good)])[0]


@pytest.mark.parametrize("options", [{}, {"step": 0.02}, {"planned": 401}])
def test_answers_hold_for_models_that_earlier_answers_chose(options):
    for seed in range(5):
        last = majority_of_those_that_looked_good(seed, **options)
        assert last.estimate < 0.48
        assert 0.5 in last


def test_models_said_to_be_fixed_must_be():
    """What "beforehand" promises is false for models chosen by answers; the default is not."""
    found = [majority_of_those_that_looked_good(seed, chosen="beforehand") for seed in range(5)]
    assert sum(0.5 not in last for last in found) >= 3


def test_uses_of_a_hold_out_set_are_counted_and_paid_for():
    hold = hold_out(random_state=0, chosen="beforehand")
    model = LogisticRegression().fit(hold.X_train, hold.y_train)
    answers = ask(hold, alike(model, 4))
    assert hold.uses == 4
    assert (np.diff([answer.high - answer.low for answer in answers]) > 0).all()
    assert [answer.level for answer in answers] == pytest.approx(
        [1 - 0.05 / (k * (k + 1)) for k in (1, 2, 3, 4)]
    )
    assert hold.confidence_left(0.1) == pytest.approx(
        max(0.0, 1 - 8 * np.exp(-2 * hold.n_held * 0.01))
    )
    assert "used 4 times" in repr(hold)
    assert "chosen beforehand" in repr(hold)


def test_the_share_of_a_use_is_divided_by_the_answers_before():
    hold = hold_out(random_state=0)
    model = LogisticRegression().fit(hold.X_train, hold.y_train)
    first, second, third = ask(hold, alike(model, 3))
    n = hold.n_held
    assert 1 - first.level == pytest.approx(0.05 / 2)
    assert 1 - second.level == pytest.approx(0.05 / 6 / (n + 1))  # one of n + 1 answers
    assert 1 - third.level == pytest.approx(0.05 / 12 / (n + 1) / 2)  # and once more the same
    exact = th.statistics.proportion_interval(
        round(third.estimate * n), n, method="clopper_pearson", level=third.level
    )
    assert (third.low, third.high) == pytest.approx((exact.low, exact.high))
    assert hold.confidence_left(0.4) == pytest.approx(
        1 - 24 * (n + 1) * 2 * np.exp(-2 * n * 0.4**2)
    )
    assert hold.confidence_left(0.05) == 0.0


def test_parts_of_all_answers_add_up_to_one_at_most():
    hold = hold_out(n=80)
    for answers in ([], [7], [7, 3, 9]):
        hold._answers = answers
        assert sum(np.exp(-hold._nats(answer)) for answer in range(hold.n_held + 1)) <= 1 + 1e-12


def test_rounded_answers_tell_less():
    y = np.tile([0, 1], 2000)
    X = y[:, None].astype(float)
    last = {}
    for step in (None, 0.01):
        hold = th.HoldOut(X, y, step=step)
        truth = hold._y
        wrong = [np.where(np.arange(1000) < 200 + k % 7, 1 - truth, truth) for k in range(20)]
        last[step] = ask(hold, [Says(labels) for labels in wrong])[-1]
    assert last[0.01].estimate == pytest.approx(0.2)
    assert last[None].estimate == pytest.approx(0.205)
    assert last[0.01].high - last[0.01].low < 0.85 * (last[None].high - last[None].low)
    assert hold.confidence_left(0.004) == 0.0


def test_late_answers_are_never_called_certain():
    answer = majority_of_those_that_looked_good(0)
    assert answer.level < 1
    assert "100% interval" not in str(answer)
    assert "99.999% interval" in str(th.statistics.proportion_interval(5, 10, level=0.99999))


def test_bounds_of_a_share_go_on_where_floats_end():
    for least, most in ((0, 0), (30, 30), (30, 40), (100, 100)):
        sure = [bounds_of_share(least, most, 100, nats) for nats in (3, MOST_NATS, 2 * MOST_NATS)]
        low, high = np.array(sure).T
        assert (np.diff(low) <= 0).all()
        assert (np.diff(high) >= 0).all()
    low, high = bounds_of_share(200, 200, 5000, MOST_NATS + 1e-9)
    exact = bounds_of_share(200, 200, 5000, MOST_NATS)
    assert low <= exact[0]
    assert high >= exact[1]
    assert (low, high) == pytest.approx(exact, abs=2e-3)
    tail = stats.binom.logsf(199, 5000, low)
    assert tail <= -MOST_NATS - np.log(2)


def test_reuse_warns_once():
    hold = hold_out(random_state=0)
    model = LogisticRegression().fit(hold.X_train, hold.y_train)
    first, second, third = alike(model, 3)
    hold.error(first)
    with pytest.warns(th.errors.ReuseWarning, match="used a second time"):
        hold.error(second)
    hold.error(third)


@pytest.mark.parametrize("optimism_first", [True, False])
@pytest.mark.parametrize("planned", [None, 1])
def test_error_and_optimism_of_a_model_are_one_use(optimism_first, planned):
    hold = hold_out(random_state=0, planned=planned)
    for number, model in enumerate(
        [
            LogisticRegression().fit(hold.X_train, hold.y_train),
            th.RandomForestClassifier(5, random_state=0).fit(hold.X_train, hold.y_train),
        ][: planned or 2],
        start=1,
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if number > 1 else "error")
            optimism = hold.optimism(model) if optimism_first else None
            answer = hold.error(model)
            optimism = hold.optimism(model)
        assert hold.error(copy.deepcopy(model)) is answer
        assert hold.uses == number
        own = np.mean(model.predict(hold.X_train) != hold.y_train)
        assert optimism == pytest.approx(answer.estimate - own)


@pytest.mark.parametrize("models", [1, 5])
def test_the_size_of_the_bound_is_the_least_that_keeps_the_confidence(models):
    """One model: 185 held-out rows determine its error to 0.1 with confidence 95%, 184 do not."""
    size = th.theory.holdout_size(0.1, 0.05, models=models)
    for n, enough in ((size, True), (size - 1, False)):
        hold = hold_out(2 * n, share=0.5, stratify=False, planned=models, chosen="beforehand")
        assert hold.n_held == n
        model = LogisticRegression().fit(hold.X_train, hold.y_train)
        answers = ask(hold, alike(model, models))
        assert (hold.confidence_left(0.1) >= 0.95) == enough
        assert all(answer.high - answer.low < 0.2 for answer in answers)


def test_a_model_that_was_fitted_again_is_another_use():
    hold = hold_out(random_state=0)
    model = LogisticRegression().fit(hold.X_train, hold.y_train)
    hold.error(model)
    with pytest.warns(th.errors.ReuseWarning):
        hold.error(model.set_params(C=1e-3).fit(hold.X_train, hold.y_train))
    assert hold.uses == 2


def test_models_that_cannot_be_pickled_count_every_time():
    hold = hold_out(random_state=0)
    model = Says(hold._y)
    model.function = lambda: None
    ask(hold, [model, model])
    assert hold.uses == 2


def test_all_answers_hold_together():
    """The best of many useless models looks good; its interval still holds the truth, one half."""
    random, broken = np.random.default_rng(4), 0
    for trial in range(200):
        y = random.integers(0, 2, 200)
        hold = th.HoldOut(np.zeros((200, 1)), y, share=0.5, random_state=trial, chosen="beforehand")
        guesses = random.integers(0, 2, (20, hold.n_held))
        broken += any(0.5 not in answer for answer in ask(hold, map(Says, guesses)))
    assert broken / 200 <= 0.05


def test_planned_uses_share_alike_and_are_refused_beyond():
    hold = hold_out(random_state=0, planned=2, chosen="beforehand")
    model = LogisticRegression().fit(hold.X_train, hold.y_train)
    first, second = ask(hold, alike(model, 2))
    assert first.level == second.level == pytest.approx(0.975)
    with pytest.raises(th.errors.ParameterError, match="2 planned uses are spent"):
        hold.error(model)  # a third model


def test_optimism_of_a_memoriser_is_positive_and_splits_are_stratified():
    from sklearn.tree import DecisionTreeClassifier

    hold = hold_out(random_state=1)
    model = DecisionTreeClassifier(random_state=0).fit(hold.X_train, hold.y_train)
    assert hold.optimism(model) > 0.1
    rare = np.repeat(["a", "b"], [380, 20])
    assert np.sum(th.HoldOut(np.zeros((400, 1)), rare).y_train == "b") == 15


def test_a_column_of_labels_is_the_labels():
    random = np.random.default_rng(1)
    X = random.standard_normal((200, 2))
    y = (X[:, 0] > 0).astype(int)
    flat, column = th.HoldOut(X, y), th.HoldOut(X, y[:, None])
    model = LogisticRegression().fit(flat.X_train, flat.y_train)
    assert column.error(model) == flat.error(model)
    np.testing.assert_array_equal(column.y_train, flat.y_train)
    labels = model.predict(flat._X)[:, None]
    assert th.HoldOut(X, y).error(Says(labels)) == th.HoldOut(X, y).error(model)


X_FEW, Y_FEW = np.arange(40.0)[:, None], np.arange(40) % 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: th.HoldOut([[1.0]], [1], share=0.25), "no training rows or no held-out rows"),
        (lambda: th.HoldOut([[1.0]], [1], share=0.0), "share=0.0"),
        (lambda: hold_out().confidence_left(0.0), "accuracy=0.0"),
        (lambda: hold_out(planned=2.5), "planned=2.5 must be None, or a whole number"),
        (lambda: hold_out(planned="a"), "planned='a'"),
        (lambda: hold_out(planned=0), "planned=0"),
        (lambda: hold_out(chosen="never"), "chosen='never'"),
        (lambda: hold_out(step=0), "step=0"),
        (lambda: th.HoldOut(X_FEW, X_FEW / 3), "0.333333 at row 1, which is not a class label"),
        (lambda: th.HoldOut(X_FEW, np.where(Y_FEW, np.nan, 1.0)), "target of row . is missing"),
        (
            lambda: th.HoldOut(X_FEW, Y_FEW).error(th.Ridge().fit(X_FEW, Y_FEW)),
            "Ridge is a regressor",
        ),
        (lambda: th.HoldOut(X_FEW, Y_FEW).error(Says(Y_FEW)), r"shape \(40,\) for 10 rows"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(th.errors.ThetahatError, match=message):
        call()
