"""Rows that ensembles pass on unchanged are refused as those of other models are."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import thetahat as th

X = np.arange(40.0).reshape(10, 4)
REFUSED = {
    "1D array": pd.Series(X[:, 0]),
    "X is masked at 3 of 40 places": np.ma.array(X, mask=X > 36),
    "2 columns named 'a'": pd.DataFrame(X, columns=list("aabb")),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    with pytest.raises(th.errors.DataError, match=what):
        th.BaggingRegressor(n_estimators=2).fit(REFUSED[what], X[:, 0])


@pytest.mark.parametrize("name", ["StackingClassifier", "VotingClassifier", "BaggingClassifier"])
def test_damaged_sparse_rows_are_refused_before_rows_are_selected(name):
    X = sparse.csr_matrix(np.random.default_rng(0).standard_normal((60, 4)))
    X.indptr = X.indptr.copy()
    X.indptr[3] = 10**6
    member = th.LogisticRegression()
    given = member if name == "BaggingClassifier" else [("a", member)]
    with pytest.raises(th.errors.DataError, match="is damaged"):
        getattr(th, name)(given).fit(X, np.arange(60) % 2)


def test_equal_names_of_columns_are_refused():
    X = pd.DataFrame(np.eye(6)[:, :4], columns=list("aacd"))
    with pytest.raises(th.errors.DataError, match="2 columns named 'a'"):
        th.VotingClassifier([("a", th.GaussianNB())]).fit(X, np.arange(6) % 2)
