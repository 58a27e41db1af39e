"""Rows that ensembles pass on unchanged are refused as those of other models are."""

import numpy as np
import pandas as pd
import pytest

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
