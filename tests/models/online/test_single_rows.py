"""Rows given one by one meet the checks that `fit` makes of all rows."""

import numpy as np
import pytest
from scipy import sparse

import thetahat as th
from thetahat import online

LEARNERS = [
    online.MonotoneDisjunction,
    online.Disjunction,
    online.Winnow,
    online.OnlinePerceptron,
]


@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.parametrize("method", ["learn_one", "predict_one"])
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([1.0, np.nan], "column 1 of x is nan"),
        ([np.inf, 0.0], "column 0 of x is inf"),
        ([1.0, 0.0, 1.0], "x has 3 columns, but earlier rows had 2"),
        (["a", 1.0], "must be a row of numbers"),
        ([], "One row at a time"),
        ([[1.0, 0.0]], "One row at a time"),
    ],
)
def test_rows_that_fit_would_refuse_are_refused(kind, method, row, message):
    learner = kind()
    label = True if kind is not online.OnlinePerceptron else 1
    learner.learn_one([1.0, 0.0], label)
    before = {name: np.copy(each) for name, each in vars(learner).items() if name != "_agreement"}
    with pytest.raises(th.errors.DataError, match=message):
        getattr(learner, method)(row, *([label] if method == "learn_one" else []))
    for name, each in before.items():
        np.testing.assert_array_equal(each, vars(learner)[name])


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (online.Winnow(alpha=-1), "alpha=-1"),
        (online.Winnow(n_relevant=0), "n_relevant=0"),
        (online.OnlinePerceptron(start="one"), "start='one'.*Did you mean 'ones'"),
        (online.OnlinePerceptron(degree=0), "degree=0"),
        (online.OnlinePerceptron(separator=[np.nan, 0, 0]), "separator=.*finite"),
        (online.OnlinePerceptron(separator=["a", 0, 0]), "separator=.*finite"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "learn_one", "predict_one"])
def test_parameters_are_checked_by_every_way_in(learner, message, method):
    arguments = {
        "fit": ([[1.0, 2.0], [2.0, 1.0]], [0, 1]),
        "learn_one": ([1.0, 0.0], 1),
        "predict_one": ([1.0, 0.0],),
    }[method]
    with pytest.raises(th.errors.ParameterError, match=message):
        getattr(learner, method)(*arguments)


def test_a_separator_of_any_length_gives_the_same_bound():
    X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 0.5]])
    bounds = [
        online.OnlinePerceptron(bias=False, separator=[scale, -scale]).fit(X, [0, 1, 1])
        for scale in (1.0, 1e200, 1e-200)
    ]
    assert bounds[0].mistake_bound_ > 1
    assert bounds[1].mistake_bound_ == pytest.approx(bounds[0].mistake_bound_)
    assert bounds[2].mistake_bound_ == pytest.approx(bounds[0].mistake_bound_)


def test_a_game_takes_no_more_rows_than_it_plays():
    teacher = iter([([1, 0], True)] * 5)
    assert online.play(online.MonotoneDisjunction(), teacher, rounds=2).rounds == 2
    assert len(list(teacher)) == 3
    assert online.play(online.MonotoneDisjunction(), teacher, rounds=0).rounds == 0
    for rounds in (-1, 2.5, "a"):
        with pytest.raises(th.errors.ParameterError, match=f"rounds={rounds!r}"):
            online.play(online.MonotoneDisjunction(), teacher, rounds=rounds)


def test_a_game_is_played_by_learners_of_single_rows():
    with pytest.raises(
        th.errors.CapabilityError, match="needs predict_one and learn_one, which Ridge"
    ):
        online.play(th.Ridge(), [([1.0], 1.0)])


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_a_column_of_targets_is_judged_like_a_row_of_them():
    random = np.random.default_rng(0)
    X = random.standard_normal((400, 3))
    y = X @ [1.0, -2.0, 0.5] + random.standard_normal(400)
    losses = []
    for targets in (y, y[:, None]):
        model = th.SGDRegressor(random_state=0)
        stream = [(X[i : i + 40], targets[i : i + 40]) for i in range(0, 400, 40)]
        losses.append(online.progressive_validation(model, stream).losses)
    np.testing.assert_array_equal(losses[0], losses[1])


def test_targets_of_another_shape_are_refused():
    class Forgetful(online.MonotoneDisjunction):
        def predict(self, X):
            return super().predict(X)[1:]

    stream = [(np.eye(3), [1, 0, 0])] * 2
    with pytest.raises(
        th.errors.DataError, match=r"shape \(3,\), but the model predicts shape \(2,\)"
    ):
        online.progressive_validation(Forgetful(), stream, classes=[0, 1])


@pytest.mark.parametrize("form", ["csr", "coo"])
@pytest.mark.parametrize("query", ["uncertainty", "random"])
def test_questions_about_a_sparse_pool(form, query):
    random = np.random.default_rng(0)
    dense = np.where(random.random((80, 4)) < 0.5, random.standard_normal((80, 4)), 0.0)
    labels = (dense[:, 0] + dense[:, 1] > 0).astype(int)
    asked = [
        online.active_learning(
            th.LogisticRegression(),
            pool,
            labels.__getitem__,
            questions=15,
            query=query,
            random_state=0,
        ).asked
        for pool in (dense, sparse.coo_array(dense).asformat(form))
    ]
    np.testing.assert_array_equal(asked[0], asked[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"questions": 5.5}, "questions=5.5 must be a whole number"),
        ({"questions": 1}, "questions=1 must be a whole number ≥ 2"),
        ({"questions": 20}, "questions=20 must not exceed the number of rows of the pool, 9"),
        ({"questions": 5, "start": -5}, "start=-5"),
        ({"questions": 5, "start": 2.5}, "start=2.5"),
    ],
)
def test_questions_are_counted(options, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        online.active_learning(th.AxisParallelRectangle(), np.zeros((9, 1)), int, **options)
