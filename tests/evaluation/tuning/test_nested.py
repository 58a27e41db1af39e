"""Tuned models are scored on rows that had no part in their tuning."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

import thetahat as th
from thetahat.evaluation.compare import compared
from thetahat.evaluation.folds import folds_of
from thetahat.evaluation.tuning.nested import NestedTuning
from thetahat.evaluation.tuning.stack import NAME as STACK
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError

LONG = 1000.0


class Witness(ClassifierMixin, BaseEstimator):
    """Records the rows (column 0) that it is fitted to or predicts."""

    _search_space = {"level": (0, 1, 2, 3)}  # noqa: RUF012

    def __init__(self, level=0, seen=None):
        self.level, self.seen = level, seen

    def __sklearn_clone__(self):
        return Witness(self.level, self.seen)

    def fit(self, X, y):
        self.seen.update(X[:, 0].astype(int).tolist())
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        self.seen.update(X[:, 0].astype(int).tolist())
        share = np.clip(0.5 + 0.1 * X[:, 1] * (1 + self.level), 0.0, 1.0)
        return np.column_stack([1 - share, share])

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)]


class Seven(RegressorMixin, BaseEstimator):
    """Predicts 7 for every row."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.full(len(X), 7.0)


def table(n=60, seed=0):
    random = np.random.default_rng(seed)
    X = np.column_stack([np.arange(n), random.standard_normal((n, 2))])
    return X, np.where(X[:, 1] + 0.5 * random.standard_normal(n) > 0, "yes", "no")


@pytest.mark.parametrize("by", ["rows", "groups", "time"])
def test_a_fold_never_sees_its_held_out_rows(by):
    X, y = table()
    seen = set()
    models = {"witness": Witness(seen=seen), "other": Witness(level=1, seen=seen)}
    groups = np.arange(60) // 3 if by == "groups" else None
    cv = 3
    if by == "time":
        cv = [(np.arange(30), np.arange(30, 45)), (np.arange(45), np.arange(45, 60))]
    folds = folds_of(cv, X, y, classifier=True, groups=groups)
    order = np.arange(60.0) if by == "time" else None
    tuning = NestedTuning(
        models, X, y, folds, scoring="accuracy", limit=LONG, groups=groups, order=order
    )
    for number, (train, test) in enumerate(folds):
        seen.clear()
        tuning.fit("witness", number)
        tuning.fit("other", number)
        tuning.fit_stack(number)
        assert seen <= set(train.tolist())
        assert not seen & set(test.tolist())


def test_the_final_stack_is_fitted_to_all_rows():
    X, y = table(90)
    models = {"line": th.LogisticRegression(), "neighbours": th.KNeighborsClassifier()}
    folds = folds_of(3, X, y, classifier=True)
    tuning = NestedTuning(models, X, y, folds, scoring="accuracy", limit=LONG)
    for name in models:
        for number in range(3):
            tuning.fit(name, number)
    assert tuning.why_no_stack() == ""
    final = tuning.final_model(STACK)
    assert (final.predict(X) == y).mean() > 0.8
    (line,) = [each for each in final.estimators_ if hasattr(each, "coef_")]
    alone = th.LogisticRegression(**tuning.setting("line")).fit(X, y)
    np.testing.assert_array_equal(line.coef_, alone.coef_)


def test_noise_does_not_look_like_signal():
    """The best of 16 settings on noise looks good in the search, but not on the held-out rows.

    The mean of four tables is taken: a single table of noise may look like signal by chance.
    """
    models = {"constant": th.ConstantClassifier(), "neighbours": th.KNeighborsClassifier()}
    searched, nested = [], []
    for seed in range(4):
        random = np.random.default_rng(seed)
        X, y = random.standard_normal((90, 4)), random.integers(0, 2, 90)
        searched.append(th.tune(th.KNeighborsClassifier(), X, y).score)
        found = th.compare(models, X, y, time_limit=LONG).evaluations["neighbours"]
        nested.append(found.scores["accuracy"].mean())
    assert np.mean(nested) < np.mean(searched)
    assert np.mean(nested) < 0.6  # 0.5 and four standard errors


class TestCompare:
    def test_a_stack_that_cannot_be_made_is_said(self):
        X, y = table()
        y = (y == "yes").astype(float)
        models = {"one": Seven(), "two": th.LinearRegression()}
        with pytest.warns(UserWarning, match="stack of the best is left out.*fold 1 has 1"):
            found = th.compare(models, X, y, cv=2, time_limit=LONG, stack=True)
        assert "stack of the best is left out" in found.notes[-1]
        assert set(found.evaluations) == {"one", "two"}

    def test_the_name_of_the_stack_is_taken(self):
        X, y = table()
        models = {STACK: th.ConstantClassifier(), "two": th.LogisticRegression()}
        with pytest.raises(ParameterError, match="'stack of the best', which is the name"):
            th.compare(models, X, y, cv=2, time_limit=LONG)

    def test_tuning_helps_where_the_default_is_bad(self):
        random = np.random.default_rng(0)
        X = random.standard_normal((120, 8))
        y = X @ random.standard_normal(8) + random.standard_normal(120)
        models = {"few": th.KNeighborsRegressor(1), "mean": th.ConstantRegressor()}
        plain = th.compare(models, X, y).evaluations["few"]
        tuned = th.compare(models, X, y, time_limit=LONG).evaluations["few"]
        assert tuned.scores["r2"].mean() > plain.scores["r2"].mean() + 0.1

    @pytest.mark.parametrize(
        "task", ["numbers", pytest.param("two classes", marks=pytest.mark.slow), "three classes"]
    )
    def test_a_stack_is_about_as_good_as_its_best_member(self, task):
        random = np.random.default_rng(0)
        X = random.standard_normal((150, 3))
        signal = X[:, 0] + np.sin(2 * X[:, 1])
        if task == "numbers":
            y = signal + 0.3 * random.standard_normal(150)
            models = {"ridge": th.RidgeCV(), "neighbours": th.KNeighborsRegressor()}
        else:
            cuts = [0.0] if task == "two classes" else [-0.8, 0.8]
            y = np.array(["a", "b", "c"])[np.searchsorted(cuts, signal)]
            models = {"line": th.LogisticRegression(), "neighbours": th.KNeighborsClassifier()}
        result = th.compare(models, X, y, cv=3, time_limit=LONG, stack=True)
        metric = result.metric
        scores = {name: each.scores[metric].mean() for name, each in result.evaluations.items()}
        assert set(scores) == {*models, STACK}
        assert scores[STACK] > max(scores[name] for name in models) - 0.03

    def test_same_seed_same_result(self):
        X, y = table(90)
        models = {"line": th.LogisticRegression(), "neighbours": th.KNeighborsClassifier()}
        first, again = (th.compare(models, X, y, cv=3, time_limit=LONG) for _ in range(2))
        with th.config(threads=1):
            alone = th.compare(models, X, y, cv=3, time_limit=LONG)
        for other in (again, alone):
            for name, each in first.evaluations.items():
                np.testing.assert_array_equal(each.predictions, other.evaluations[name].predictions)

    def test_models_without_a_space_are_named(self):
        data = th.datasets.make_linear(40, 2, noise=1.0, random_state=0)
        models = {
            "plain": th.LinearRegression(),
            "shrunk": th.Ridge(),
            "mean": th.ConstantRegressor(),
        }
        found = th.compare(models, data.X, data.y, cv=2, time_limit=LONG)
        (note,) = found.notes
        assert note.startswith("not tuned, because they declare no values")
        assert {"plain", "mean"} == set(note.partition(": ")[2].split(", "))
        assert note in str(found)
        del models["mean"]
        (note,) = th.compare(models, data.X, data.y, cv=2, time_limit=LONG).notes
        assert note.endswith("because it declares no values of parameters to try: plain")
        assert not th.compare(models, data.X, data.y, cv=2).notes

    def test_refusals(self):
        X, y = table()
        models = {"line": th.LogisticRegression(), "neighbours": th.KNeighborsClassifier()}
        with pytest.raises(ParameterError, match="needs a time limit"):
            th.compare(models, X, y, stack=True)
        with pytest.raises(CapabilityError, match="the fit of model 'neighbours'"):
            th.compare(models, X, y, time_limit=1, sample_weight=np.ones(60))
        with pytest.raises(ParameterError, match="time_limit='soon'"):
            th.compare(models, X, y, time_limit="soon")


class Weighted(Witness):
    """Requires that every row comes with its own weight."""

    def __sklearn_clone__(self):
        return Weighted(self.level, self.seen)

    def fit(self, X, y, sample_weight=None):
        assert sample_weight.tolist() == (X[:, 0] + 1.0).tolist()
        return super().fit(X, y)


class TestRowWeights:
    def test_every_fit_has_the_weights_of_its_rows(self):
        X, y = table()
        models = {"a": Weighted(seen=set()), "b": Weighted(1, seen=set())}
        weight = X[:, 0] + 1.0
        found = th.compare(models, X, y, cv=3, time_limit=LONG, stack=True, sample_weight=weight)
        assert list(found.evaluations["a"].scores) == ["accuracy"]

    def test_equal_weights_change_nothing(self):
        data = th.datasets.make_linear(120, 3, noise=1.0, random_state=0)
        models = {"ridge": th.Ridge(), "tree": th.DecisionTreeRegressor(max_depth=3)}
        plain, weighted = (
            th.compare(models, data.X, data.y, cv=2, time_limit=LONG, stack=True, **weights)
            for weights in ({}, {"sample_weight": np.ones(120)})
        )
        for name, each in plain.evaluations.items():
            scores = weighted.evaluations[name].scores["r2"]
            np.testing.assert_allclose(scores, each.scores["r2"], rtol=1e-6)

    def test_rows_without_weight_have_no_part_in_the_fit(self):
        random = np.random.default_rng(0)
        X = random.standard_normal((300, 2))
        wrong = np.arange(300) < 150
        y = np.where(wrong, -5.0, 5.0) * X[:, 0] + random.standard_normal(300)
        models = {"line": th.LinearRegression(), "mean": th.ConstantRegressor()}
        found = th.compare(
            models, X, y, cv=2, time_limit=LONG, sample_weight=np.where(wrong, 1e-9, 1.0)
        )
        held = found.evaluations["line"].predictions
        assert np.corrcoef(held, X[:, 0])[0, 1] > 0.99

    def test_rows_of_weight_zero_have_no_part_in_the_choice_of_settings(self):
        random = np.random.default_rng(0)
        X = random.standard_normal((90, 2))
        y = np.sin(3 * X[:, 0]) + 0.3 * random.standard_normal(90)
        without = np.arange(90) % 3 == 0
        models = {"tree": th.DecisionTreeRegressor(random_state=0), "kernel": th.KernelRidge()}

        def predicted(targets):
            weight = np.where(without, 0.0, 1.0)
            found = th.compare(
                models, X, targets, cv=3, time_limit=LONG, stack=True, sample_weight=weight
            )
            return {name: each.predictions for name, each in found.evaluations.items()}

        one, other = predicted(y), predicted(np.where(without, 9.0 * X[:, 1], y))
        assert set(one) == {"tree", "kernel", STACK}
        for name, each in one.items():
            np.testing.assert_array_equal(each, other[name])


class TestInterrupt:
    def interrupted(self, after, stopped):
        X, y = table(90)
        models = {
            "constant": th.ConstantClassifier(),
            "line": th.LogisticRegression(),
            "neighbours": th.KNeighborsClassifier(),
        }
        folds = folds_of(3, X, y, classifier=True)

        def progress(done, total, name):
            if done == after:
                raise KeyboardInterrupt

        tuning = NestedTuning(models, X, y, folds, scoring="accuracy", limit=LONG)
        tuning.models = models
        return compared(
            models,
            X,
            y,
            cv=folds,
            scoring="accuracy",
            groups=None,
            random_state=0,
            progress=progress,
            tuning=tuning,
            stack=True,
            stopped=stopped,
        )

    def test_finished_models_are_kept(self):
        stopped = []
        with th.config(threads=1):
            result = self.interrupted(7, stopped)
        assert set(result.evaluations) == {"constant", "line"}
        assert stopped == ["neighbours"]

    def test_one_model_is_no_comparison(self):
        with th.config(threads=1), pytest.raises(KeyboardInterrupt):
            self.interrupted(4, [])

    def test_others_raise(self):
        with th.config(threads=1), pytest.raises(KeyboardInterrupt):
            self.interrupted(7, None)


class TestTune:
    def test_the_model_has_the_chosen_setting(self):
        random = np.random.default_rng(0)
        X = random.standard_normal((80, 2))
        y = X[:, 0] + 0.1 * random.standard_normal(80)
        found = th.tune(th.Ridge(alpha=1e6), X, y, space={"alpha": [1e3, 1e-3]})
        assert found.chosen == {"alpha": 1e-3}
        assert found.model.alpha == 1e-3
        assert found.model.n_features_in_ == 2
        assert found.settings[0] == found.chosen
        assert found.scores[0] == max(found.scores) == found.score
        assert "alpha=0.001" in str(found)
        assert found.folds == (5, 5, 5)
        assert "3 settings:" in str(found)
        assert str(found).count("(5 folds of 80 rows)") == 3

    def test_the_chosen_setting_is_the_best_of_the_last_round(self):
        data = th.datasets.make_linear(60, 5, noise=3.0, random_state=1)
        found = th.tune(th.Ridge(), data.X, data.y, space={"alpha": np.logspace(-3, 3, 17)})
        last = [score for score, folds in zip(found.scores, found.folds, strict=True) if folds == 5]
        assert len(last) == 6
        assert found.score == max(last)
        assert set(found.folds) == {1, 3, 5}

    @pytest.mark.parametrize("n", [1, 2, 3])
    def test_too_few_rows_are_refused(self, n):
        data = th.datasets.make_linear(20, 2, noise=1.0, random_state=0)
        with pytest.raises(DataError, match=f"Rows: {n}[.] Give at least 4"):
            th.tune(th.Ridge(), data.X[:n], data.y[:n])

    def test_a_class_with_one_row_is_refused(self):
        X, _ = table(20)
        y = np.array(["a"] * 19 + ["b"])
        with pytest.raises(DataError, match="The class 'b' has 1 row"):
            th.tune(th.LogisticRegression(), X, y)

    def test_if_all_values_of_a_space_fail_the_first_error_is_raised(self):
        data = th.datasets.make_linear(40, 2, noise=1.0, random_state=0)
        with pytest.raises(ParameterError, match="alpha=-"):
            th.tune(th.Ridge(), data.X, data.y, space={"alpha": [-1, -2]})
        found = th.tune(th.Ridge(), data.X, data.y, space={"alpha": [-1, 0.1]})
        assert [bool(error) for error in found.errors] == [False, False, True]
        assert "failed: Ridge: alpha=-1" in str(found)

    def test_scores_that_are_not_finite_are_refused(self):
        data = th.datasets.make_linear(40, 2, noise=1.0, random_state=0)
        with pytest.raises(DataError, match="is not finite on the held-out rows"):
            th.tune(th.Ridge(), data.X, data.y, scoring=lambda model, X, y: np.nan)

    def test_nothing_to_tune_is_said(self):
        data = th.datasets.make_linear(60, 5, noise=3.0, random_state=1)
        text = str(th.tune(th.LinearRegression(), data.X, data.y))
        assert "1 setting:" in text
        assert "Nothing was tuned" in text

    def test_a_limit_of_zero_fits_the_model_as_it_is(self):
        X, y = table()
        found = th.tune(th.KNeighborsClassifier(7), X, y, time_limit=0)
        assert found.model.n_neighbors == 7
        assert not found.complete

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"space": {"depth": [1]}}, "'depth' is not a parameter of KNeighborsClassifier"),
            ({"space": {"weights": "uniform"}}, "Give a sequence"),
            ({"n_settings": 0}, "n_settings=0"),
            ({"time_limit": "1 day"}, "time_limit='1 day'"),
            ({"scoring": ["accuracy", "f1"]}, "2 metrics"),
        ],
    )
    def test_refusals(self, options, message):
        X, y = table()
        with pytest.raises(ParameterError, match=message):
            th.tune(th.KNeighborsClassifier(), X, y, **options)

    def test_refuses_other_models(self):
        with pytest.raises(ParameterError, match="neither a classifier nor a regressor"):
            th.tune(th.KMeans(), *table())
