"""Self-training: the same rounds as the peer's, better than the labels alone, refusals."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import SelfTrainingClassifier as Peer

import thetahat as th

RANDOM = np.random.default_rng(0)
KIND = RANDOM.integers(0, 3, 300)
X = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.0]])[KIND] + RANDOM.standard_normal((300, 2))
PARTIAL = np.where(RANDOM.random(300) < 0.08, KIND, -1)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"threshold": 0.95, "max_iter": None},
        {"threshold": 0.9999, "max_iter": 3},
        {"criterion": "k_best", "k_best": 25},
        {"criterion": "k_best", "k_best": 25, "max_iter": 2},
        {"max_iter": 0},
    ],
    ids=str,
)
def test_the_rounds_are_those_of_scikit_learn(options):
    ours = th.SelfTrainingClassifier(th.LogisticRegression(), **options).fit(X, PARTIAL)
    theirs = Peer(th.LogisticRegression(), **options).fit(X, PARTIAL)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.termination_condition_ == theirs.termination_condition_
    np.testing.assert_array_equal(ours.transduction_, theirs.transduction_)
    np.testing.assert_array_equal(ours.labeled_iter_, theirs.labeled_iter_)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-10)


def test_unlabelled_rows_teach():
    """Eight labels per class in twenty columns; the other rows show where the heaps end."""
    random = np.random.default_rng(3)
    errors = []
    for _ in range(5):
        kind = random.integers(0, 2, 400)
        rows = random.standard_normal((400, 20))
        rows[:, 0] += np.where(kind, 2.0, -2.0)
        few = np.concatenate([np.flatnonzero(kind == k)[:8] for k in (0, 1)])
        partial = np.full(400, -1)
        partial[few] = kind[few]
        alone = th.LogisticRegression().fit(rows[few], kind[few])
        model = th.SelfTrainingClassifier(criterion="k_best", k_best=20, max_iter=None)
        model.fit(rows, partial)
        errors.append([1 - each.score(rows, kind) for each in (alone, model)])
    alone, taught = np.mean(errors, axis=0)
    assert taught < 0.7 * alone


def test_with_all_labels_it_is_its_learner():
    model = th.SelfTrainingClassifier().fit(X, KIND)
    assert model.n_iter_ == 0
    assert model.termination_condition_ == "all_labeled"
    alone = th.LogisticRegression().fit(X, KIND)
    np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))


def test_text_labels_come_as_objects():
    names = np.array(["ant", "bee", "cow"], dtype=object)
    partial = np.where(PARTIAL < 0, -1, names[PARTIAL])
    model = th.SelfTrainingClassifier().fit(X, partial)
    assert set(model.predict(X)) == set(names)
    codes = th.SelfTrainingClassifier().fit(X, PARTIAL)
    np.testing.assert_array_equal(model.predict(X), names[codes.predict(X)])


def test_weights_count_rows():
    random = np.random.default_rng(1)
    weight = random.integers(1, 3, 300)
    weighted = th.SelfTrainingClassifier().fit(X, PARTIAL, sample_weight=weight)
    repeated = th.SelfTrainingClassifier().fit(
        np.repeat(X, weight, axis=0), np.repeat(PARTIAL, weight)
    )
    np.testing.assert_allclose(
        weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-5, atol=1e-8
    )


def test_time_limits_keep_the_last_round():
    with th.config(max_time=1e-9), pytest.warns(ConvergenceWarning):
        model = th.SelfTrainingClassifier(criterion="k_best").fit(X, PARTIAL)
    assert model.n_iter_ == 1
    assert model.score(X, KIND) > 0.5


@pytest.mark.parametrize("verbose", [True, 1, 2])
def test_progress_is_printed_when_asked_for(verbose, capsys):
    th.SelfTrainingClassifier(verbose=verbose).fit(X, PARTIAL)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("End of iteration 1, added ")
    assert len(set(lines)) == len(lines)


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({}, np.full(300, -1), "no row has a label"),
        ({}, PARTIAL[:5], "inconsistent numbers of samples"),
        ({}, None, "requires y"),
        ({"threshold": 1.0}, PARTIAL, "threshold=1.0 must be below 1"),
        ({"estimator": th.Ridge()}, PARTIAL, "has no predict_proba"),
        ({"criterion": "best"}, PARTIAL, "one of 'threshold'"),
        ({}, np.where(PARTIAL < 0, -1, 1), "one class"),
    ],
)
def test_refusals_name_the_rule_and_the_remedy(options, y, message):
    with pytest.raises(ValueError, match=message):
        th.SelfTrainingClassifier(**options).fit(X, y)


def test_data_for_which_self_training_does_nothing_are_reported():
    X, y = [[-3.0], [-2.0], [2.0], [3.0]], [0, -1, -1, 1]
    with pytest.warns(UserWarning, match=r"k_best is larger .*\(5 > 2\)"):
        th.SelfTrainingClassifier(criterion="k_best", k_best=5).fit(X, y)
    with pytest.warns(UserWarning, match="no unlabeled samples"):
        th.SelfTrainingClassifier().fit(X, [0, 0, 1, 1])


class Noting(LogisticRegression):
    """A classifier that notes what it is passed."""

    def fit(self, X, y, sample_weight=None, marks=None):
        self.seen_ = {"fit": marks}
        return super().fit(X, y, sample_weight)

    def predict(self, X, sign=None):
        self.seen_["predict"] = sign
        return super().predict(X)


def test_metadata_are_routed_to_the_base_estimator():
    with config_context(enable_metadata_routing=True):
        base = Noting().set_fit_request(marks=True, sample_weight=True)
        base = base.set_predict_request(sign=True).set_score_request(sample_weight=True)
        model = th.SelfTrainingClassifier(base)
        marks = np.arange(300)
        model.fit(X, PARTIAL, marks=marks, sample_weight=np.ones(300))
        np.testing.assert_array_equal(
            model.estimator_.seen_["fit"], marks[model.labeled_iter_ >= 0]
        )
        model.predict(X, sign="here")
        assert model.estimator_.seen_["predict"] == "here"
        half = model.score(X, KIND, sample_weight=np.arange(300) < 150)
        assert half == pytest.approx(np.mean(model.predict(X)[:150] == KIND[:150]))
        with pytest.raises(TypeError, match="other"):
            model.predict_proba(X, other=1)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "score"])
def test_other_arguments_need_metadata_routing(method):
    model = th.SelfTrainingClassifier()
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        model.fit(X, PARTIAL, marks=1)
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        getattr(model.fit(X, PARTIAL), method)(X, marks=1)


@pytest.mark.parametrize(
    "model", [th.SelfTrainingClassifier(), th.EmbeddingNetwork(max_iter=1), th.LaplacianSVM()]
)
@pytest.mark.parametrize("kind", [str, bytes, object])
def test_the_text_of_an_unlabelled_row_is_no_class(model, kind):
    y = np.array(["a", "-1", "-1", "-1", "b"] * 4)
    with pytest.raises(th.errors.DataError, match="12 of 20 labels are the text '-1'"):
        model.fit(np.arange(20.0)[:, None], y.astype(kind))


def test_missing_labels_of_pandas_are_named():
    pandas = pytest.importorskip("pandas")
    y = np.array(["a", -1, -1, pandas.NA, "b"] * 4, dtype=object)
    with pytest.raises(th.errors.DataError, match="labels are missing"):
        th.SelfTrainingClassifier().fit(np.arange(20.0)[:, None], y)
