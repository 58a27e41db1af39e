"""Folds of a Dask collection are selected and fitted by the workers, with the answer of memory."""

import numpy as np
import pytest

import thetahat as th
from tests.dask_rows import chunked, synchronous  # noqa: F401
from thetahat.data.distributed import dask_source
from thetahat.data.distributed.dask_source import DaskSource
from thetahat.data.row_subset import some_rows
from thetahat.data.views import reweighted
from thetahat.foundation.errors import DataError

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


def table(n=180):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((n, 3))
    score = X[:, 0] - X[:, 1] + rng.logistic(size=n)
    return X, np.array(["low", "mid", "top"])[np.digitize(score, [-1.0, 1.0])], rng.random(n) + 0.1


CASES = {
    "three classes": ({"tol": 1e-9}, False),
    "weights": ({"class_weight": "balanced"}, True),
    "score": ({"scoring": "neg_log_loss"}, False),
    "shares": ({"l1_ratios": [0.0, 0.5], "solver": "saga", "max_iter": 5000, "tol": 1e-9}, True),
    "mean of folds": ({"refit": False}, False),
}


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_the_answer_of_memory(case, kept, monkeypatch):
    settings, weighted = CASES[case]
    X, y, weight = table()
    weight = weight if weighted else None
    y = y if case == "three classes" else y == "mid"
    model = th.LogisticRegressionCV(
        **{"Cs": 3, "cv": 3, "use_legacy_attributes": False, "random_state": 0, **settings}
    )
    here = {name: np.copy(each) for name, each in vars(model.fit(X, y, weight)).items()}
    monkeypatch.setattr(DaskSource, "blocks", None)  # no row is read by the client
    if not kept:
        monkeypatch.setattr(dask_source, "TAKEN_SHARE", 0.0)
    there = model.fit(chunked(X, 70), chunked(y, 70), chunked(weight, 70))
    for name in ("scores_", "coefs_paths_", "coef_", "intercept_", "C_", "l1_ratio_"):
        np.testing.assert_allclose(getattr(there, name), here[name], rtol=1e-6, atol=1e-8)


def test_the_same_partitions_give_the_same_bits():
    X, y, weight = (chunked(each, 70) for each in table())
    model = th.LogisticRegressionCV(Cs=3, cv=3, use_legacy_attributes=False)
    first = model.fit(X, y, weight).coef_.tobytes()
    assert model.fit(X, y, weight).coef_.tobytes() == first


def test_weights_by_position_stay_with_their_rows():
    X, _, weight = table(90)
    source = th.from_dask(chunked(X, 40))

    def of_rows(block):
        return weight[block.start : block.start + block.n_rows]

    rows = np.array([3, 50, 51, 80])
    seen = some_rows(reweighted(source, of_rows, lazy=True, by_position=True), rows)
    np.testing.assert_array_equal(
        np.concatenate([block.weight for block in seen.blocks()]), weight[rows]
    )


def test_a_fold_without_weight_is_an_error():
    X, y, _ = table(60)
    weight = np.repeat([0.0, 1.0], 30)
    folds = [(np.arange(30, 60), np.arange(30))]
    with pytest.raises(DataError, match="total weight of 0"):
        th.LogisticRegressionCV(Cs=2, cv=folds).fit(X, y, weight)
