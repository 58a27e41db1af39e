"""With ``verbose``, ensembles print how the fit ended."""

import numpy as np
import pytest

import thetahat as th

X = np.random.default_rng(0).standard_normal((40, 2))


@pytest.mark.parametrize(
    ("model", "made"),
    [
        (th.BaggingRegressor(n_estimators=3, verbose=1), "3 of 3 members"),
        (th.GradientBoostingRegressor(n_estimators=3, verbose=1), "3 of 3 iterations"),
        (th.HistGradientBoostingRegressor(max_iter=3, verbose=1), "3 of 3 iterations"),
    ],
    ids=str,
)
def test_the_last_line_says_how_the_fit_ended(model, made, capsys):
    model.fit(X, X[:, 0])
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(f"[{type(model).__name__}] ended after {made}, ")
    model.set_params(verbose=0).fit(X, X[:, 0])
    assert capsys.readouterr().out == ""
