"""Classes, missing values, outliers, columns alike, numbers in text, and drift."""

import numpy as np
import pandas as pd
import pytest

import thetahat as th
from thetahat.data.columns.quantities import mixed_units, numbers_in, read_quantities


def rows(n=300, seed=0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, 3)), columns=list("abc"))
    signal = X["a"] + random.normal(size=n)
    return X, signal.rename("spend"), pd.Series(np.where(signal > 0, "yes", "no"), name="churn")


class TestClasses:
    def test_one_class_has_nearly_all_rows(self):
        X, signal, _ = rows(1000)
        (found,) = th.check(X, np.where(signal > 3, "yes", "no")).of("classes")
        assert found.severity == "warning"
        assert "roc_auc" in found.action

    def test_rare_classes(self):
        X, _, y = rows()
        y = y.copy()
        y[[3, 7]] = "maybe"
        (found,) = th.check(X, y).of("classes")
        assert "maybe (2)" in found.what
        assert found.rows == (3, 7)

    @pytest.mark.parametrize("value", ["yes", 1, 0.5])
    def test_a_constant_target(self, value):
        X, _, _ = rows()
        (found,) = th.check(X, [value] * 300).severe
        assert found.check == "target"
        assert "y has the same value in all 300 rows" in found.what

    def test_even_classes(self):
        X, _, y = rows()
        assert th.check(X, y).of("classes") == ()


class TestMissing:
    def test_gaps_that_depend_on_the_target(self):
        X, signal, _ = rows()
        X["b"] = X["b"].where(np.random.default_rng(1).random(300) > 0.3 * (signal > 0))
        (found,) = th.check(X, signal).of("missing")
        assert found.columns == ("b",)
        assert found.severity == "warning"

    def test_gaps_at_random(self):
        X, signal, _ = rows()
        X["b"] = X["b"].where(np.random.default_rng(1).random(300) > 0.2)
        assert th.check(X, signal).of("missing") == ()

    def test_columns_that_are_missing_together(self):
        X, signal, _ = rows()
        gone = np.random.default_rng(1).random(300) < 0.2
        X.loc[gone, ["b", "c"]] = np.nan
        (found,) = th.check(X, signal).of("missing")
        assert found.columns == ("b", "c")
        assert found.n_rows == gone.sum()

    def test_columns_that_are_mostly_missing(self):
        X, signal, _ = rows()
        X["b"] = X["b"].where(np.random.default_rng(1).random(300) > 0.7)
        (found,) = th.check(X, signal).of("missing")
        assert "1 column is missing in half" in found.what


class TestOutliers:
    def test_far_values(self):
        X, y, _ = rows()
        X.loc[17, "b"], y[5] = 900.0, -700.0
        column, target = th.check(X, y).of("outliers")
        assert (column.columns, column.rows) == (("b",), (17,))
        assert (target.columns, target.rows) == (("spend",), (5,))

    def test_a_number_that_stands_for_missing(self):
        X, y, _ = rows()
        X.loc[:9, "b"] = -999.0
        (found,) = th.check(X, y).of("outliers")
        assert "b is -999 in 10 rows" in found.what
        assert found.severity == "warning"

    def test_skewed_columns_have_no_outliers(self):
        X, y, _ = rows(2000)
        X["b"] = np.exp(2 * X["b"])
        assert th.check(X, y).of("outliers") == ()


class TestAlike:
    def test_proportional_numbers_and_renamed_categories(self):
        X, y, _ = rows()
        colour = np.random.default_rng(1).choice(["red", "blue", "green"], 300)
        german = pd.Series(colour).map({"red": "rot", "blue": "blau", "green": "gruen"})
        X = X.assign(inches=X["b"] / 2.54, colour=colour, farbe=german)
        (found,) = th.check(X, y).of("alike")
        assert found.columns == ("b", "inches", "colour", "farbe")

    def test_numbers_of_rows_and_their_dates(self):
        X, y, _ = rows()
        X = X.assign(id=np.arange(300), date=pd.date_range("2020-01-01", periods=300))
        assert th.check(X, y).of("alike") == ()

    def test_correlated_columns_that_differ(self):
        X, y, _ = rows()
        X["d"] = X["b"] + 0.2 * X["c"]
        assert th.check(X, y).of("alike") == ()


QUANTITIES = {
    "dollars": (["$104.98", "$1,204.50", "-$5"], [104.98, 1204.5, -5.0], "$"),
    "areas": (["78.4 m²", "12 m²"], [78.4, 12.0], "m²"),
    "shares": (["12 %", "3.5%"], [12.0, 3.5], "%"),
    "decimal commas": (["1.234,5", "12,25", "3"], [1234.5, 12.25, 3.0], ""),
    "thousands": (["1,234", "5,678,901"], [1234.0, 5678901.0], ""),
    "three decimals": (["0,730", "1,234"], [0.73, 1.234], ""),
    "crowns": (["12 345,6 kr", "3 kr"], [12345.6, 3.0], "kr"),
    "stars": (["5 stars", "4.5 stars"], [5.0, 4.5], "stars"),
    "plain": (["1e5", "-2"], [1e5, -2.0], ""),
}
NO_QUANTITIES = {
    "codes": ["12a", "13b", "14x"],
    "one letter": ["12x", "13x"],
    "dates": ["31.01.2024", "01.12.2023"],
    "ISO dates": ["2024-01-31", "2023-12-01"],
    "times": ["12:30", "08:15"],
    "ranges": ["10-20", "20-30"],
    "versions": ["1.2.3", "1.2.4"],
    "ranks": ["1st", "2nd", "3rd"],
    "words": ["red", "blue"],
    "blanks": ["", " "],
    "nothing": [],
}


class TestTextNumbers:
    @pytest.mark.parametrize("name", QUANTITIES)
    def test_notations(self, name):
        values, numbers, unit = QUANTITIES[name]
        read = read_quantities(values)
        assert read.numbers.tolist() == numbers
        assert read.unit == unit
        assert numbers_in(values, read.written).tolist() == numbers

    @pytest.mark.parametrize("name", NO_QUANTITIES)
    def test_text_that_is_no_number(self, name):
        assert read_quantities(NO_QUANTITIES[name]) is None

    def test_another_unit_is_not_read(self):
        assert np.isnan(numbers_in(["5 €"], "unit $")).all()

    def test_mixed_units_are_named(self):
        X, y, _ = rows()
        grams = np.round(np.abs(X["b"]) * 2000 + np.arange(300), 3)
        X["mass"] = [f"{g / 1000:g} kg" if k % 2 else f"{g:g} g" for k, g in enumerate(grams)]
        found = th.check(X, y)
        (units,) = found.of("numbers")
        assert units.columns == ("mass",)
        assert "mixed units: " in units.what
        assert {"kg", "g"} <= set(units.what.replace(",", " ").split())
        assert all("mass" not in each.columns for each in found.of("identifiers"))

    @pytest.mark.parametrize(
        "values",
        [["1 kg", "2 kg", "3 kg"], ["12 Main", "13 Oak", "14 Main", "15 Oak"], ["1 day", "2 days"]],
        ids=["one unit", "streets", "singular and plural"],
    )
    def test_no_mixed_units(self, values):
        assert mixed_units(values) == ()

    def test_prices_are_read_and_reported(self):
        X, y, _ = rows()
        X["price"] = [f"${abs(value) * 100:,.2f}" for value in X["b"]]
        (found,) = th.check(X, y).of("numbers")
        assert found.columns == ("price",)
        assert "unit $" in found.what

    def test_targets_in_text(self):
        X, y, _ = rows()
        found = th.check(X, [f"{value:.3f} kg" for value in y])
        assert found.task == "regression"

    def test_numbers_and_words(self):
        X, y, _ = rows()
        mixed = [str(k % 40) if k % 3 else "unknown" + "abcdefgh"[k % 8] for k in range(300)]
        (found,) = th.check(X.assign(age=mixed), y).of("numbers")
        assert found.columns == ("age",)


class TestDrift:
    def test_rows_of_the_same_distribution(self):
        X, y, _ = rows(600)
        assert th.check(X[:300], y[:300], test=X[300:]).of("drift") == ()

    def test_small_tables_of_the_same_distribution(self):
        """Gaps in a fifth of the cells were found to differ in 78% of such tables."""
        for seed in range(8):
            random = np.random.default_rng((41, seed))
            X = random.standard_normal((50, 5))
            X[random.random(X.shape) < 0.2] = np.nan
            assert th.check(X[:30], test=X[30:]).of("drift") == ()

    def test_gaps_that_are_new(self):
        X = np.random.default_rng(42).standard_normal((100, 3))
        X[70:90, 1] = np.nan
        (found,) = th.check(X[:60], test=X[60:], names=["p", "q", "r"]).of("drift")
        assert found.columns == ("q",)

    def test_a_column_that_moved(self):
        X, y, _ = rows(600)
        later = X[300:].assign(b=X["b"] + 2)
        (found,) = th.check(X[:300], y[:300], test=later).of("drift")
        assert found.columns == ("b",)
        assert found.severity in ("warning", "severe")

    def test_categories_that_are_new(self):
        X, y, _ = rows(600)
        X["shop"] = np.random.default_rng(1).choice(["p", "q"], 600)
        later = X[300:].copy()
        later.loc[later.index[:5], "shop"] = "r"
        (found,) = th.check(X[:300], y[:300], test=later).of("drift")
        assert "shop (1)" in found.what

    def test_a_column_that_is_lacking(self):
        X, y, _ = rows(600)
        (found,) = th.check(X[:300], y[:300], test=X[300:][["a", "b"]]).severe
        assert found.columns == ("c",)


def test_targets_may_be_a_categorical_of_pandas():
    random = np.random.default_rng(0)
    X, y = random.standard_normal((60, 2)), np.where(random.random(60) < 0.1, "a", "b")
    assert str(th.check(X, pd.Categorical(y))) == str(th.check(X, y))


def test_wide_tables_are_checked_in_linear_time(monkeypatch):
    """Columns are never compared with each other to see which are the same."""

    def refuse(one, other):
        raise AssertionError("columns were compared")

    monkeypatch.setattr("thetahat.evaluation.findings.table.CheckedColumn.__eq__", refuse)
    random = np.random.default_rng(0)
    th.check(random.standard_normal((60, 40)), random.standard_normal(60))


class TestNames:
    def test_classes_in_several_spellings(self):
        X, _, y = rows()
        y = y.where(X["b"] > 0, y.str.upper() + " ")
        X["colour"] = np.where(X["c"] > 0, "red", "Red")
        target, column = th.check(X, y).of("spelling")
        assert target.severity == "warning"
        assert "'NO ' = 'no'" in target.what
        assert column.columns == ("colour",)

    def test_identifiers_are_not_alike(self):
        X, signal, _ = rows()
        X["phone"] = [f"+49 {k * 7919}" for k in range(300)]
        X["iban"] = [f"DE{k * 104729}" for k in range(300)]
        assert th.check(X, signal).of("alike") == ()

    def test_codes_with_leading_zeros_are_not_numbers(self):
        X, signal, _ = rows()
        X["postal"] = np.where(X["b"] > 0, "01067", "10115")
        assert th.check(X, signal).of("numbers") == ()

    def test_the_time_is_not_called_an_identifier(self):
        X = pd.DataFrame({"year": np.arange(1700, 2000)})
        found = th.check(X, np.cumsum(np.random.default_rng(0).normal(size=300)))
        assert [each.check for each in found] == ["time"]

    @pytest.mark.parametrize(("name", "groups"), [("patient", 1), ("patient_age", 0)])
    def test_columns_named_after_what_rows_belong_to(self, name, groups):
        X, signal, _ = rows()
        X[name] = np.repeat(np.arange(30), 10)
        shift = np.random.default_rng(2).permutation(30)[X[name]]
        assert len(th.check(X, signal + shift).of("groups")) == groups

    def test_numbers_for_a_missing_target(self):
        X, signal, _ = rows()
        (found,) = th.check(X, signal.where(np.arange(300) % 80 > 0, 9999.0)).of("outliers")
        assert "spend is 9999 in 4 rows" in found.what
