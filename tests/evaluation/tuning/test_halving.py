"""Rounds of settings, samples, folds, and the plan of the time."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import get_scorer

import thetahat as th
from thetahat.evaluation.tuning.halving import MOST_ROWS, halve, rounds_for
from thetahat.evaluation.tuning.inner_folds import TrainingRows
from thetahat.evaluation.tuning.time_plan import TimePlan, Took

R2 = get_scorer("r2")


class Recorder(RegressorMixin, BaseEstimator):
    """Predicts column 1 plus `error`, and records how often it is fitted, with how many rows."""

    def __init__(self, error=0.0, log=None):
        self.error, self.log = error, log

    def __sklearn_clone__(self):
        return Recorder(self.error, self.log)

    def fit(self, X, y):
        if self.error == "refused":
            raise ValueError("this setting cannot be fitted")
        self.log.append((self.error, len(X)))
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return X[:, 1] + self.error


def rows_of(n, *, seed=0, **options):
    X = np.random.default_rng(seed).standard_normal((n, 2))
    return TrainingRows(X, X[:, 1].copy(), False, **options)


def never():
    return False


class Inert(Recorder):
    """Predicts with the error, whatever the other parameter is."""

    def __init__(self, error=0.0, other=0, log=None):
        super().__init__(error, log)
        self.other = other

    def __sklearn_clone__(self):
        return Inert(self.error, self.other, self.log)


def test_settings_without_another_effect_are_not_kept_for_the_next_round():
    log = []
    errors, others = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6), (1, 2, 3)
    settings = [{"error": error, "other": other} for error in errors for other in others]
    found = halve(Inert(log=log), rows_of(100), settings, R2, seed=0, stop=never, last=never)
    assert found.chosen.setting == {"error": 0.1, "other": 1}
    fits = {error: sum(one == error for one, _ in log) for error in errors}
    assert fits == dict.fromkeys(errors, 5 + 2)  # five folds, and the first one for two others


class TestRounds:
    @pytest.mark.parametrize("n", [5, 300, 5000, 5001, 30_000, 200_000])
    def test_settings_fall_while_rows_or_folds_rise(self, n):
        rounds = rounds_for(n, 18)
        assert [each.settings for each in rounds] == ([18, 9, 6] if n <= 5000 else [18, 6, 3])
        work = [each.rows * each.folds for each in rounds]
        assert work == sorted(work)
        assert rounds[-1].rows == min(n, MOST_ROWS)

    def test_a_single_setting_needs_one_round(self):
        assert len(rounds_for(1000, 1)) == 1

    @pytest.mark.parametrize(("n", "least"), [(100, 6), (30_000, 3)])
    @pytest.mark.parametrize("n_settings", [2, 3, 5, 6, 7, 18, 50])
    def test_several_settings_reach_the_last_round(self, n, least, n_settings):
        counts = [each.settings for each in rounds_for(n, n_settings)]
        assert counts[0] == n_settings
        assert counts == sorted(counts, reverse=True)
        assert counts[-1] >= min(least, n_settings)

    def test_a_setting_that_is_best_on_all_folds_but_not_on_the_first_is_chosen(self):
        """Few settings are all compared on all folds."""
        rows = rows_of(100)
        first = set(rows.folds(0)[0][1].tolist())
        rows.X[:, 0] = np.arange(100)

        def score(learner, X, y):
            on_first = set(X[:, 0].astype(int).tolist()) == first
            return learner.error if on_first else -learner.error

        settings = [{"error": error} for error in (1.0, 2.0, 3.0, 0.0)]
        model = Recorder(log=[])
        found = halve(model, rows, settings, score, seed=0, stop=never, last=never)
        assert found.chosen.setting == {"error": 0.0}
        assert all(len(each.scores) == 5 for each in found.tried)

    def test_the_best_setting_is_chosen_with_few_fits(self):
        log = []
        settings = [{}, *({"error": error} for error in (5.0, 0.1, 2.0, 3.0, 4.0, 6.0, 7.0, 8.0))]
        model = Recorder(error=1.0, log=log)
        found = halve(model, rows_of(100), settings, R2, seed=0, stop=never, last=never)
        assert found.chosen.setting == {"error": 0.1}
        assert found.complete
        assert len(log) == 9 * 1 + 6 * 2 + 6 * 2
        assert found.score == found.chosen.mean(100, 5)
        np.testing.assert_array_equal(np.sort(found.held), np.arange(100))

    def test_without_time_the_model_stays_as_it_is(self):
        log = []
        model = Recorder(error=1.0, log=log)
        settings = [{}, {"error": 0.0}]
        found = halve(
            model, rows_of(50), settings, R2, seed=0, stop=lambda: True, last=lambda: True
        )
        assert (found.chosen.setting, found.complete, log) == ({}, False, [])

    def test_the_last_round_is_reserved_for_the_chosen_setting(self):
        log = []
        model = Recorder(error=1.0, log=log)
        settings = [{}, {"error": 0.5}, {"error": 0.0}]
        found = halve(
            model, rows_of(50), settings, R2, seed=0, stop=lambda: len(log) == 2, last=never
        )
        assert found.chosen.setting == {"error": 0.5}
        assert not found.complete
        assert len(found.outputs) == 50

    def test_settings_that_fail_are_left_out(self):
        model = Recorder(error=1.0, log=[])
        settings = [{}, {"error": "refused"}, {"error": 0.5}]
        found = halve(model, rows_of(60), settings, R2, seed=0, stop=never, last=never)
        assert found.chosen.setting == {"error": 0.5}
        assert "cannot be fitted" in str(found.tried[1].error)


class TestInnerRows:
    def test_samples_keep_rare_classes(self):
        y = np.repeat(["no", "yes"], [4990, 10])
        rows = TrainingRows(np.zeros((5000, 1)), y, True)
        sample = rows.sample(500, 0)
        assert len(sample) == 500 == len(set(sample.tolist()))
        assert (y[sample] == "yes").sum() == 10

    def test_groups_stay_together(self):
        groups = np.repeat(np.arange(20), 5)
        rows = rows_of(100, groups=groups)
        for train, test in rows.folds(0):
            assert not set(groups[train]) & set(groups[test])

    def test_later_rows_are_held_out_in_the_order_of_time(self):
        time = np.random.default_rng(1).permutation(100).astype(float)
        rows = rows_of(100, order=time)
        folds = rows.folds(0)
        assert all(time[train].max() < time[test].min() for train, test in folds)
        assert len(folds[0][0]) == max(len(train) for train, _ in folds)

    @pytest.mark.parametrize("n", [1, 2, 3])
    def test_too_few_rows_have_no_folds_or_few(self, n):
        assert len(rows_of(n).folds(0)) <= n // 2


class TestTimePlan:
    def plan(self, limit, n_train=160):
        models = {"mean": th.ConstantRegressor(), "boosted": th.HistGradientBoostingRegressor()}
        counts = {"mean": 1, "boosted": 18}
        return TimePlan(models, counts, rows_of(200), n_train, n_train // 4, 5, limit, 0)

    def test_more_time_gives_larger_shares(self):
        short, long = self.plan(0.001), self.plan(1000.0)
        assert long.names == ["mean", "boosted"]  # the shortest fits first
        mean, boosted = long.start("mean", 0), long.start("boosted", 0)
        assert short.start("boosted", 0).seconds < 1 < boosted.seconds
        assert mean.seconds < boosted.seconds < boosted.for_last_round

    def test_only_large_tables_are_sampled(self):
        assert self.plan(0.001).start("boosted", 0).rows is None
        assert self.plan(0.001, 160_000).start("boosted", 0).rows <= 10_000
        assert self.plan(1e6, 160_000).start("boosted", 0).rows is None

    def test_a_machine_that_becomes_busy_gives_smaller_shares(self):
        plan = self.plan(1e5, 160_000)
        before = plan.start("boosted", 0)
        plan.end("boosted", 0, 160_000, Took(thread=1e3, clock=1e8, fit=1e-3))
        assert plan.slower > 1e4
        after = plan.start("boosted", 1)
        assert (after.rows or 160_000) < (before.rows or 160_000)

    def test_fits_that_take_longer_than_estimated_are_made_on_fewer_rows(self):
        plan = self.plan(1e5, 160_000)
        before = plan.start("boosted", 0)
        plan.end("boosted", 0, 160_000, Took(thread=1e3, clock=1e3, fit=1e9))
        assert (plan.start("boosted", 1).rows or 160_000) < (before.rows or 160_000)

    def test_models_that_cannot_be_finished_are_left_out_but_two_are_kept(self):
        models = {name: th.ConstantRegressor() for name in "abcd"}
        counts = dict.fromkeys(models, 1)
        plan = TimePlan(models, counts, rows_of(200), 160, 40, 2, 0.0, 0)
        begun = [name for name in "abcd" if plan.start(name, 0) is not None]
        assert len(begun) == 2
        assert plan.late == set("abcd") - set(begun)
        assert all(plan.start(name, 1) is None for name in plan.late)

    def test_models_whose_fits_take_next_to_nothing_are_not_left_out(self):
        models = {name: th.ConstantRegressor() for name in "abcd"}
        plan = TimePlan(models, dict.fromkeys(models, 1), rows_of(200), 160, 40, 2, 20.0, 0)
        plan.deadline -= 30.0
        assert all(plan.start(name, 0) is not None for name in "abcd")
