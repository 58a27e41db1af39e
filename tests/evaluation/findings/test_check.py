"""Traps that ordinary tables hold, and clean tables in which nothing severe is found."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm
from sklearn import datasets

import thetahat as th
from thetahat.evaluation.findings.leaks import find_leaks
from thetahat.evaluation.findings.table import checked_table


def rows(n=300, d=4, seed=0):
    """Independent columns, and a target of numbers and of classes that depends on two of them."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, d)), columns=[f"c{j}" for j in range(d)])
    signal = X["c0"] - 0.5 * X["c1"] + random.normal(size=n)
    return X, signal.rename("spend"), pd.Series(np.where(signal > 0, "yes", "no"), name="churn")


def checks(found, severity="severe"):
    return [each.check for each in found if each.severity == severity]


CLEAN = {
    name: (lambda name=name: getattr(datasets, f"load_{name}")(return_X_y=True, as_frame=True))
    for name in ("diabetes", "breast_cancer", "digits", "wine", "iris")
}


@pytest.mark.parametrize("name", [*CLEAN, "fair", "fair as classes", "independent"])
def test_nothing_severe_in_clean_tables(name):
    if name.startswith("fair"):
        data = sm.datasets.fair.load_pandas().data
        y = data["affairs"] if name == "fair" else data["affairs"] > 0
        X = data.drop(columns="affairs")
    elif name == "independent":
        X, y, _ = rows()
    else:
        X, y = CLEAN[name]()
    found = th.check(X, y)
    assert found.severe == (), str(found)


def test_the_order_of_time_is_found_in_co2():
    data = sm.datasets.co2.load_pandas().data.dropna().reset_index()
    data.columns = ["date", "co2"]
    for table in (data, data.sample(frac=1.0, random_state=0)):
        found = th.check(table[["date"]], table["co2"])
        assert checks(found) == ["time"]
        assert found.severe[0].columns == ("date",)
    assert checks(th.check(data[["date"]], data["co2"], time="date")) == []


class TestTime:
    def test_numbers_that_rise_and_are_named_so(self):
        X, y, _ = rows()
        walk = y + np.cumsum(np.random.default_rng(1).normal(size=len(y)))
        assert checks(th.check(X.assign(year=np.arange(len(y)) / 12), walk)) == ["time"]

    @pytest.mark.parametrize("kind", ["dates", "periods", "dates beside a column named index"])
    def test_an_index_of_dates_is_the_time_of_the_rows(self, kind):
        X, y, _ = rows()
        walk = y + np.cumsum(np.random.default_rng(1).normal(size=len(y)))
        X.index = pd.date_range("2020-01-01", periods=len(y))
        X = X.to_period("D") if kind == "periods" else X
        X = X.assign(**{"index": 1.0, "index 2": 2.0}) if "beside" in kind else X
        (found,) = th.check(X, walk).of("time")
        assert found.columns == ("index 3" if "beside" in kind else "index",)
        assert th.check(X.rename_axis("day"), walk).of("time")[0].columns == ("day",)
        assert th.check(X.reset_index(drop=True), walk).of("time") == ()

    def test_an_order_without_information_is_not_reported(self):
        X, y, _ = rows()
        dated = X.assign(date=pd.date_range("2020-01-01", periods=len(y)))
        assert th.check(dated, y).of("time") == ()

    def test_the_birthday_of_a_customer_is_not_the_time_of_the_row(self):
        X, y, _ = rows()
        born = pd.Timestamp("1980-01-01") + pd.to_timedelta((100 * y).round(), unit="D")
        assert th.check(X.assign(birth_date=born), y).of("time") == ()

    def test_early_and_late_rows_that_differ(self):
        X, y, _ = rows()
        late = np.arange(len(y)) > len(y) / 2
        X = X.assign(c2=X["c2"] + 3 * late, date=pd.date_range("2020-01-01", periods=len(y)))
        (found,) = th.check(X, y).of("time")
        assert "early and late rows" in found.what.lower()

    def test_a_time_that_is_no_column(self):
        X, y, _ = rows(50)
        with pytest.raises(th.errors.ParameterError, match="no such column"):
            th.check(X, y, time="when")


class TestCopies:
    def test_equal_rows(self):
        X, y, _ = rows()
        again = pd.concat([X, X[:30]], ignore_index=True)
        found = th.check(again, pd.concat([y, y[:30]], ignore_index=True))
        assert checks(found) == ["copies"]
        assert found.severe[0].n_rows == 60
        assert set(found.severe[0].rows) == {*range(30), *range(300, 330)}

    def test_an_identifier_does_not_hide_copies(self):
        X, y, _ = rows()
        again = pd.concat([X, X[:30]], ignore_index=True)
        again["id"] = [f"r{k}" for k in range(len(again))]
        assert "copies" in checks(th.check(again, pd.concat([y, y[:30]], ignore_index=True)))

    def test_rows_that_are_nearly_equal(self):
        X, y, _ = rows()
        noise = 1e-4 * np.random.default_rng(1).normal(size=(30, 4))
        again = pd.concat([X, X[:30] + noise], ignore_index=True)
        found = th.check(again, pd.concat([y, y[:30]], ignore_index=True))
        assert checks(found) == ["copies"]
        assert "60 rows nearly equal another row" in found.severe[0].what

    def test_coincidences_of_a_few_categories_are_not_copies(self):
        random = np.random.default_rng(0)
        X = random.integers(0, 3, size=(500, 3))
        assert th.check(X, random.normal(size=500)).of("copies") == ()

    def test_equal_rows_with_other_labels(self):
        X, _, y = rows()
        again = pd.concat([X, X[:30]], ignore_index=True)
        other = np.where(y[:30] == "yes", "no", "yes")
        found = th.check(again, np.concatenate([y, other]))
        assert any("another value of" in each.what for each in found.of("copies"))

    def test_the_share_of_wrong_predictions_is_that_of_the_rows_concerned(self):
        X, _, y = rows(100)
        X.iloc[1], y.iloc[0], y.iloc[1] = X.iloc[0], "yes", "no"
        (found,) = th.check(X, y).of("copies")
        assert found.rows == (0, 1)
        assert "at least 50.0% of the predictions for these rows are wrong" in found.why


class TestTestRows:
    """Test rows that equal training rows."""

    def test_copies(self):
        X, y, _ = rows()
        X = X.assign(kind=np.random.default_rng(1).choice(["p", "q"], 300), gap=np.nan)
        other = rows(50, seed=1)[0].assign(kind="q", gap=np.nan)
        test = pd.concat([other, X[:100].assign(id=np.arange(100))], ignore_index=True)
        (found,) = th.check(X.assign(id=np.arange(300)), y, test=test).of("copies")
        assert found.severity == "severe"
        assert "100 test rows equal a training row in all columns, 66.7%" in found.what
        assert found.rows == tuple(range(50, 150))
        assert th.check(X, y, test=other).of("copies") == ()

    def test_coincidences(self):
        random = np.random.default_rng(0)
        X = random.integers(0, 3, size=(500, 3))
        test = random.integers(0, 3, size=(200, 3))
        assert th.check(X, random.normal(size=500), test=test).of("copies") == ()


LEAKS = {
    "a linear copy": lambda y, random: 3.0 * y + 1.0,
    "a curve": lambda y, random: np.exp(y / 3),
    "not monotone": lambda y, random: np.round(y, 3),
    "a copy with noise": lambda y, random: y + 0.02 * random.normal(size=len(y)),
}


class TestLeaks:
    @pytest.mark.parametrize("shape", LEAKS)
    def test_numbers(self, shape):
        X, y, _ = rows()
        column = LEAKS[shape](y, np.random.default_rng(1))
        found = th.check(X.assign(secret=column), y)
        assert checks(found) == ["leaks"]
        assert found.severe[0].columns == ("secret",)

    def test_categories(self):
        X, _, y = rows()
        random = np.random.default_rng(1)
        code = np.where(y == "yes", random.choice(["a", "b"], 300), random.choice(["c", "d"], 300))
        assert checks(th.check(X.assign(status=code), y)) == ["leaks"]

    @pytest.mark.parametrize("share", [1.0, 0.4])
    def test_a_date_that_is_present_for_one_class_only(self, share):
        X, _, y = rows()
        there = (y == "yes") & (np.random.default_rng(1).random(300) < share)
        dates = pd.Series(pd.date_range("2024-01-01", periods=300)).where(there)
        found = th.check(X.assign(cancel_date=dates), y)
        assert checks(found) == ["leaks"]
        assert "cancel_date" in found.severe[0].what

    def test_numbers_that_are_present_for_a_rare_class_only(self):
        """Their values explain a little less than their presence, which hid the severe finding."""
        random = np.random.default_rng(5)
        y = (np.arange(1000) % 33 == 0).astype(int)
        refund = np.where(y == 1, random.random(1000), np.nan)
        X = np.column_stack([random.standard_normal((1000, 2)), refund])
        (found,) = th.check(X, y, names=["p", "q", "refund"]).of("leaks")
        assert (found.severity, found.columns) == ("severe", ("refund",))

    def test_a_name_after_the_target(self):
        X, _, y = rows()
        found = th.check(X.assign(churn_reason=np.arange(300) % 7), y)
        assert [each.columns for each in found.of("leaks")] == [("churn_reason",)]

    def test_a_strong_column_is_not_a_leak(self):
        X, _, _ = rows()
        y = 3 * X["c0"] + np.random.default_rng(1).normal(size=300)
        assert th.check(X, y.rename("spend")).of("leaks") == ()


TAILS = {
    "normal": lambda z: z,
    "one outlier": lambda z: np.r_[z[1:], 100.0],
    "lognormal": lambda z: np.exp(2 * z),
    "both tails": lambda z: z**5,
}
COPIES = {
    "equal": lambda y: y,
    "affine": lambda y: 3 * y + 1,
    "falling": lambda y: -y,
    "ranks": lambda y: y.argsort().argsort(),
    "with gaps": lambda y: np.where(np.arange(len(y)) % 8 == 3, np.nan, y),
}


class TestExactCopies:
    """A column that determines the target is found for every tail and number of rows."""

    @pytest.mark.parametrize("n", [10, 25, 100, 1000])
    @pytest.mark.parametrize("tail", TAILS)
    @pytest.mark.parametrize("shape", COPIES)
    def test_numbers(self, n, tail, shape):
        random = np.random.default_rng(n)
        y = TAILS[tail](random.normal(size=n))
        X = np.c_[random.normal(size=(n, 2)), COPIES[shape](y)]
        found = th.check(X, y)
        assert [each.columns for each in found.of("leaks")] == [("x2",)]
        assert checks(found) == ["leaks"]

    def test_a_noisy_copy_of_a_skewed_target(self):
        random = np.random.default_rng(0)
        z = random.normal(size=1000)
        X = np.c_[random.normal(size=(1000, 2)), z + 1e-3 * random.normal(size=1000)]
        (found,) = th.check(X, np.exp(5 * z)).severe
        assert found.columns == ("x2",)
        assert "of the variance of the ranks of y" in found.what

    @pytest.mark.parametrize("n", [10, 14, 25, 60])
    @pytest.mark.parametrize("shape", ["codes", "blocks", "text"])
    def test_classes(self, n, shape):
        random = np.random.default_rng(n)
        y = random.permutation(np.arange(n) % 2)
        column = {
            "codes": 5 - 2 * y,
            "blocks": 3 * y + random.random(n),
            "text": np.where(y == 1, "paid", "open"),
        }[shape]
        found = th.check(pd.DataFrame(random.normal(size=(n, 2))).assign(secret=column), y)
        assert [each.columns for each in found.severe] == [("secret",)]

    def test_rows_that_are_numbered_by_class(self):
        X, _, y = rows(200)
        X = X.assign(id=np.arange(200))
        found = th.check(X, np.sort(y))
        assert [each.columns for each in found.severe] == [("id",)]
        assert found.of("identifiers") == ()
        assert [each.columns for each in th.check(X, y).of("identifiers")] == [("id",)]

    def test_a_rank_of_the_target_is_no_identifier(self):
        X, y, _ = rows()
        found = th.check(X.assign(place=y.argsort().argsort()), y)
        assert [each.columns for each in found.severe] == [("place",)]
        assert found.of("identifiers") == ()

    def test_coincidences_of_small_tables_are_not_leaks(self):
        for seed in range(100):
            random = np.random.default_rng(seed)
            n, d = int(random.integers(30, 120)), int(random.integers(1, 41))
            X = random.normal(size=(n, d))
            y = random.standard_cauchy(n) if seed % 2 else (random.random(n) < 0.2).astype(int)
            assert find_leaks(checked_table(X, y)) == []

    def test_counts_that_are_never_both_positive(self):
        count = np.random.default_rng(0).integers(1, 100, size=60)
        place = np.arange(60)
        y = np.where(place < 15, count, 0)
        X = np.c_[np.where(place > 40, count, 0), np.random.default_rng(1).normal(size=60)]
        assert th.check(X, y).of("leaks") == ()


class TestIdentifiers:
    def test_names_and_numbers_of_rows(self):
        X, y, _ = rows()
        X = X.assign(
            key=[f"k{k}" for k in range(300)], id=np.random.default_rng(0).permutation(300)
        )
        (found,) = th.check(X, y).of("identifiers")
        assert found.columns == ("key", "id")

    def test_groups_of_rows(self):
        X, y, _ = rows()
        patient = np.arange(300) // 10
        y = y + 3 * np.random.default_rng(1).normal(size=30)[patient]
        (found,) = th.check(X.assign(patient_id=patient), y).of("groups")
        assert found.columns == ("patient_id",)

    def test_constants(self):
        X, y, _ = rows()
        (found,) = th.check(X.assign(one=1, nothing=np.nan), y).of("constants")
        assert found.columns == ("one", "nothing")


HOSTILE = {
    "no rows": (np.empty((0, 3)), np.empty(0)),
    "no columns": (pd.DataFrame(index=range(5)), np.arange(5.0)),
    "one row": ([[1.0, 2.0]], [1.0]),
    "two rows": ([[1.0, 2.0], [1.0, 2.0]], [1.0, 1.0]),
    "all missing": (np.full((40, 3), np.nan), np.arange(40.0)),
    "targets all missing": (np.ones((40, 3)), np.full(40, np.nan)),
    "infinite": (np.full((40, 2), np.inf), np.arange(40.0)),
    "huge": (1e308 * np.linspace(-1, 1, 80).reshape(40, 2), 1e308 * np.linspace(-1, 1, 40)),
    "cells of any type": (
        pd.DataFrame(
            {"a": [[1], {"b": 2}, None, "x", 3.5] * 10, "b": [10**400] * 50}, dtype=object
        ),
        ["p", "q"] * 25,
    ),
    "mixed labels": (np.random.default_rng(0).normal(size=(40, 2)), [1, "a"] * 20),
    "constant target": (np.random.default_rng(0).normal(size=(40, 2)), ["a"] * 40),
    "booleans": (np.random.default_rng(0).random((40, 2)) > 0.5, [True, False] * 20),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.filterwarnings("error")
def test_hostile_tables(name):
    X, y = HOSTILE[name]
    for checked in (th.check(X, y), th.check(X)):
        assert str(checked).strip()


@pytest.mark.parametrize("kind", [pl.DataFrame, lambda X: pl.DataFrame(X).to_arrow(), np.asarray])
def test_tables_of_other_libraries(kind):
    X, y, _ = rows()
    X = X.assign(secret=2.0 * y)
    found = th.check(kind(X), y.to_numpy(), names=list(X.columns))
    assert [each.columns for each in found.severe] == [("secret",)]


def test_findings_as_values_and_as_text():
    X, y, _ = rows()
    found = th.check(X.assign(secret=2.0 * y, one=1), y)
    assert found.summary == "1 severe finding, 1 note"
    assert [each.severity for each in found] == ["severe", "note"]
    data = found[0].as_data()
    assert data["columns"] == ["secret"]
    assert data["severity"] == "severe"
    assert "secret alone explains 99.9% of the variance of spend" in str(found)


def test_arguments_that_do_not_fit():
    X, y, churn = rows(40)
    with pytest.raises(th.errors.ParameterError, match="task="):
        th.check(X, y, task="ranking")
    with pytest.raises(th.errors.ParameterError, match="2 names for 4 columns"):
        th.check(X, y, names=["a", "b"])
    with pytest.raises(th.errors.DataError, match="40 rows"):
        th.check(X, y[:30])
    with pytest.raises(th.errors.DataError, match="text"):
        th.check(X, churn, task="regression")
    with pytest.raises(th.errors.DataError, match="x0 holds complex numbers"):
        th.check([[1.0, 2j], [2.0, 3.0]])
    with pytest.raises(th.errors.DataError, match="y holds complex numbers"):
        th.check(X, y.to_numpy() + 1j)
    with pytest.raises(th.errors.DataError, match="X is masked at 1 of 160 places"):
        th.check(np.ma.masked_equal(X.to_numpy(), X.to_numpy()[3, 1]), y)
    with pytest.raises(th.errors.DataError, match="y is masked"):
        th.check(X, np.ma.masked_equal(y.to_numpy(), y.iloc[3]))
