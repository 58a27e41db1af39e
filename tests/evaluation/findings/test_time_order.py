"""The time of rows: dates of every type, dates as text, and series beside each other."""

import numpy as np
import pandas as pd
import pytest

import thetahat as th

DATES = pd.date_range("2020-01-01", periods=200)
WALK = np.cumsum(np.random.default_rng(0).normal(size=200))
TYPES = {
    "dates": DATES,
    "dates of a zone": DATES.tz_localize("Europe/Berlin"),
    "periods": DATES.to_period("D"),
    "Python's dates": [each.date() for each in DATES],
    "ISO text": DATES.strftime("%Y-%m-%d"),
    "German text": DATES.strftime("%d.%m.%Y"),
    "months in words": DATES.strftime("%b %d, %Y"),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", TYPES)
def test_dates_of_every_type_are_times_and_no_identifiers(name):
    found = th.check(pd.DataFrame({"when": TYPES[name]}), WALK)
    assert [each.columns for each in found.of("time")] == [("when",)]
    assert found.of("identifiers") == ()
    assert len(found.of("dates")) == ("text" in name or "words" in name)


def panel(random, n_series=4, length=75):
    """Rows of several series with the same times, in any order."""
    return pd.DataFrame(
        {
            "shop": np.repeat([f"s{k}" for k in range(n_series)], length),
            "when": np.tile(DATES[:length], n_series),
            "x": random.normal(size=n_series * length),
        }
    )


@pytest.mark.parametrize("numbers", [False, True])
def test_series_beside_each_other(numbers):
    random = np.random.default_rng(0)
    X = panel(random)
    y = np.concatenate([np.cumsum(random.normal(size=75)) for _ in range(4)])
    X["shop"] = X["shop"].str[1:].astype(int) if numbers else X["shop"]
    rows = random.permutation(len(X))
    (found,) = th.check(X.iloc[rows], y[rows]).of("time")
    assert found.severity == "severe"
    assert "of the same shop that follow each other in when" in found.what


def test_levels_of_series_are_not_taken_for_time():
    random = np.random.default_rng(1)
    X = panel(random, 10, 30)
    y = np.repeat(random.normal(size=10), 30) * 3 + random.normal(size=300)
    assert th.check(X, y).of("time") == ()
