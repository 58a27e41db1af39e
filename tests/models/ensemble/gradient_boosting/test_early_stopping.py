"""Early stopping is decided by the number of all rows."""

import numpy as np
import pytest

import thetahat as th


@pytest.mark.parametrize("n_rows", [10_000, 10_001, 12_000])
def test_many_rows_stop_early(n_rows):
    """The rows held out belong to the count, so that 10 001 rows stop, too."""
    X = np.random.default_rng(0).normal(size=(n_rows, 1))
    y = (X[:, 0] > 0).astype(float)
    model = th.HistGradientBoostingRegressor(max_iter=10, n_iter_no_change=2, tol=0.1)
    stopped = model.fit(X, y).n_iter_ < 10
    assert stopped == model.do_early_stopping_ == (n_rows > 10_000)


def test_held_out_rows_may_not_take_a_class_away():
    X, y = np.ones((10, 1)), np.array(["a"] * 2 + ["b"] * 8)
    model = th.GradientBoostingClassifier(
        n_iter_no_change=5, random_state=0, validation_fraction=0.8
    )
    with pytest.raises(ValueError, match=r"no row of class 'a'.*Reduce validation_fraction"):
        model.fit(X, y)


def test_a_warm_start_after_early_stopping_goes_on():
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 3))
    model = th.HistGradientBoostingRegressor(
        max_iter=1000, early_stopping=True, n_iter_no_change=5, tol=1e-3, warm_start=True,
        random_state=0,
    ).fit(X, X[:, 0] + random.standard_normal(200))  # fmt: skip
    first = model.n_iter_
    model.fit(X, X[:, 0] + random.standard_normal(200))
    assert 0 < model.n_iter_ - first < 100
    assert len(model.validation_score_) == model.n_iter_ + 1


def test_out_of_bag_losses_are_zero_for_iterations_without_them():
    random = np.random.default_rng(0)
    X, y = random.standard_normal((100, 3)), random.standard_normal(100)
    model = th.GradientBoostingRegressor(n_estimators=5, warm_start=True, random_state=0).fit(X, y)
    assert not hasattr(model, "oob_scores_")
    model.set_params(n_estimators=8, subsample=0.5).fit(X, y)
    assert (model.oob_scores_[:5] == 0).all()
    assert (model.oob_scores_[5:] > 0).all()
    assert len(model.oob_improvement_) == 8
    model.set_params(n_estimators=9, subsample=1.0).fit(X, y)
    assert len(model.oob_scores_) == 9


def test_poisson_targets_that_are_all_zero_are_refused():
    with pytest.raises(ValueError, match="All 3 targets are 0"):
        th.HistGradientBoostingRegressor(loss="poisson").fit(np.zeros((3, 1)), np.zeros(3))


@pytest.mark.parametrize("fraction", [1e-9, 0.99, 1, 59, 60, 1000])
def test_both_parts_need_rows_of_each_class(fraction):
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = th.HistGradientBoostingClassifier(early_stopping=True, validation_fraction=fraction)
    with pytest.raises(ValueError, match=r"would hold out \d+ of 60 rows.* of each class\. Change"):
        model.fit(X, X[:, 0] > 0)


@pytest.mark.parametrize("fraction", [0.999, 60])
def test_both_parts_need_rows(fraction):
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = th.HistGradientBoostingRegressor(early_stopping=True, validation_fraction=fraction)
    with pytest.raises(ValueError, match=r"hold out 60 of 60 rows, .* at least one row\. Change"):
        model.fit(X, X[:, 0])
    assert model.set_params(validation_fraction=1).fit(X, X[:, 0]).n_iter_ > 0


def test_a_class_of_one_row_cannot_be_held_out():
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = th.GradientBoostingClassifier(n_iter_no_change=2)
    with pytest.raises(ValueError, match=r"only 1 member.* are: \[1\.0\].* Add rows"):
        model.fit(X, np.r_[1, np.zeros(59)])


def test_a_score_that_needs_all_classes_names_the_missing_one():
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = th.HistGradientBoostingClassifier(
        early_stopping=True, scoring="neg_log_loss", random_state=0
    )
    with pytest.raises(ValueError, match=r"class 'rare', which decide .* Increase validation_frac"):
        model.fit(X, np.r_[["rare"] * 2, ["usual"] * 58])
