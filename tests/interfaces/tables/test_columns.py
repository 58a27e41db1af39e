"""What the columns of a table are taken for, and why."""

import polars as pl
import pytest

import thetahat as th
from thetahat.interfaces.problem import pose
from thetahat.interfaces.tables.columns import find_columns, retyped, typed


def found(values, **asked):
    return find_columns(pl.DataFrame({"x": values}), asked)[0]


KINDS = {
    "numbers": (["1", "2.5", "-3e2", None] * 10, "numeric"),
    "numbers with decimal commas": (["1,5", "2,25"] * 10, "numeric"),
    "dates": (["2024-01-31", "2023-12-01"] * 10, "date"),
    "dates and times": (["2024-01-31 12:30:00", "2023-12-01 08:00:00"] * 10, "date"),
    "german dates": (["31.01.2024", "01.12.2023"] * 10, "date"),
    "words with an order": (["low", "high", "medium"] * 10, "ordinal"),
    "words without": (["red", "green", "blue"] * 10, "categorical"),
    "quoted words": (["'red'", "'green'"] * 10, "categorical"),
    "sentences": ([f"this is the sentence number {k}" for k in range(40)], "text"),
    "names of rows": ([f"row{k}" for k in range(40)], "drop"),
    "counts of rows": ([str(k) for k in range(40)], "drop"),
    "one value": (["a"] * 40, "drop"),
    "no value": ([None] * 40, "drop"),
}


@pytest.mark.parametrize("name", KINDS)
def test_kinds(name):
    values, kind = KINDS[name]
    result = found(pl.Series(values, dtype=pl.String))
    assert result.kind == kind, result.reason
    assert result.reason


def test_values_take_the_type_of_their_kind():
    table = pl.DataFrame(
        {
            "n": ["1", None, "3"] * 10,
            "d": ["2024-01-31", "2024-02-01", None] * 10,
            "o": ["low", "high", "medium"] * 10,
            "c": ["'a b'", "c", None] * 10,
        }
    )
    typed_table = typed(find_columns(table))
    assert typed_table["n"].to_list()[:3] == [1.0, None, 3.0]
    assert str(typed_table["d"][0]) == "2024-01-31 00:00:00"
    assert list(typed_table["o"].dtype.categories) == ["low", "medium", "high"]
    assert typed_table["c"].to_list()[:3] == ["a b", "c", None]


def test_numbers_with_some_words_among_them():
    result = found(pl.Series([str(k / 7) for k in range(98)] + ["abc", "def"]))
    assert result.kind == "numeric"
    assert result.n_missing == 2
    assert "2 of 100 values are not numbers (first 'abc' in row 99)" in result.warnings[0]


def test_kinds_can_be_asked_for():
    numbers = pl.Series(["1", "2", "3"] * 10)
    assert found(numbers, x="categorical").kind == "categorical"
    assert found(numbers, x="drop").kind == "drop"
    with pytest.raises(th.errors.ParameterError, match="kinds are numeric"):
        found(numbers, x="colour")
    with pytest.raises(th.errors.ParameterError, match="no column 'z'"):
        found(numbers, z="numeric")


def test_typed_files_keep_their_types():
    table = pl.DataFrame(
        {
            "when": pl.Series(["2024-01-01", "2024-02-02"] * 20).str.to_date(),
            "flag": [True, False] * 20,
            "grade": pl.Series(["a", "b"] * 20, dtype=pl.Enum(["b", "a"])),
            "list": [[1], [2]] * 20,
        }
    )
    assert [each.kind for each in find_columns(table)] == ["date", "numeric", "ordinal", "drop"]


class TestProblems:
    def test_tasks(self, houses):
        assert pose(houses, "price").task == "regression"
        assert pose(houses, "sold").task == "classification"
        whole = houses.with_columns(pl.Series("stars", [1, 2, 3, 4] * 60))
        assert pose(whole, "stars").task == "classification"
        assert pose(whole, "stars", task="regression").task == "regression"

    def test_classes_that_are_left_out_are_not_counted(self, houses):
        labels = [*(["good", "bad"] * 120)[:-1], "odd"]
        problem = pose(houses.with_columns(pl.Series("class", labels)), "class")
        assert problem.reason == "2 classes"
        assert any("(odd) is left out" in note for note in problem.notes)
        numbers = [*([1, 2, 3] * 80)[:-1], 7]
        found = pose(houses.with_columns(pl.Series("stars", numbers)), "stars")
        assert found.reason == "3 distinct whole numbers"
        assert pose(houses, "price").reason == f"numbers, {houses['price'].n_unique()} distinct"

    def test_numbers_as_classes_keep_their_values(self, houses):
        halves = houses.with_columns(pl.Series("stars", [0.5, 0.75, 1e300, 2.0] * 60))
        y = pose(halves, "stars", task="classification").y
        assert set(y) == {"0.5", "0.75", "1e+300", "2.0"}

    def test_identifiers_and_constants_are_left_out(self, houses):
        kinds = pose(houses, "price").kinds
        assert "id" not in kinds
        assert "nothing" not in kinds
        assert "id" in pose(houses, "price", keep=("id",)).kinds

    def test_numbers_with_mixed_units_are_left_out_and_said(self, houses):
        masses = [f"{k + 1} kg" if k % 2 else f"{k + 1} g" for k in range(houses.height)]
        problem = pose(houses.with_columns(pl.Series("mass", masses)), "price")
        (mass,) = (each for each in problem.columns if each.name == "mass")
        assert mass.kind == "drop"
        assert mass.reason.startswith("numbers with mixed units: ")

    def test_the_target_under_another_name_is_left_out_and_said(self, houses):
        leaky = houses.with_columns(
            pl.col("sold").replace_strict({"yes": "Y", "no": "N"}).alias("was_sold"),
            pl.col("price").alias("cost"),
        )
        problem = pose(leaky, "sold")
        assert "was_sold" not in problem.kinds
        left_out = {each.name: each.reason for each in problem.columns if each.kind == "drop"}
        assert left_out["was_sold"] == "a copy of the target sold"
        assert "was_sold" in pose(leaky, "sold", keep=("was_sold",)).kinds

    def test_rows_without_a_target_are_left_out_and_said(self, houses):
        holes = houses.with_columns(
            pl.when(pl.int_range(pl.len()) < 7).then(None).otherwise(pl.col("price")).alias("price")
        )
        problem = pose(holes, "price")
        assert problem.n_rows == len(problem.y) == houses.height - 7
        assert any("7 rows without a value of price" in note for note in problem.notes)

    def test_classes_of_one_row_are_left_out_and_said(self, houses):
        odd = houses.with_columns(
            pl.when(pl.int_range(pl.len()) == 3)
            .then(pl.lit("maybe"))
            .otherwise("sold")
            .alias("sold")
        )
        problem = pose(odd, "sold")
        assert set(problem.y) == {"yes", "no"}
        assert any("maybe" in note for note in problem.notes)

    @pytest.mark.parametrize(
        ("change", "target", "message"),
        [
            ({}, "prize", "no column 'prize'. Did you mean 'price'"),
            ({}, "Price", "Did you mean 'price'"),
            ({}, "nothing", "is 'x' in every row"),
            ({"price": pl.lit(None)}, "price", "missing in all 240 rows"),
            ({}, "built", "is a date"),
            ({"price": pl.int_range(pl.len()).cast(pl.String) + "x"}, "price", "too many for"),
            ({"price": pl.lit(float("inf"))}, "price", "in every row"),
        ],
        ids=["absent", "case", "constant", "missing", "date", "identifier", "infinite"],
    )
    def test_targets_that_cannot_be_predicted(self, houses, change, target, message):
        table = houses.with_columns(**change)
        with pytest.raises(th.errors.DataError, match=message):
            pose(table, target)

    def test_nothing_to_learn_from(self, houses):
        with pytest.raises(th.errors.DataError, match="only column"):
            pose(houses.select("price"), "price")
        with pytest.raises(th.errors.DataError, match="No column is left"):
            pose(houses.select("price", "nothing", "id"), "price")

    def test_tens_of_thousands_of_categories(self):
        n = 60_000
        table = pl.DataFrame(
            {
                "who": [f"c{(7919 * k) % 40_000}" for k in range(n)],
                "x": [float(k % 97) for k in range(n)],
                "y": [float(k % 89) for k in range(n)],
            }
        )
        problem = pose(table, "y")
        assert problem.kinds["who"] == "categorical"
        vectorizer = th.TableVectorizer(problem.kinds).fit(problem.X)
        assert len(vectorizer.get_feature_names_out()) <= 53


@pytest.mark.parametrize("word", ["unknown", "-", "n.a.", "#DIV/0!"])
def test_words_for_a_missing_number(word):
    result = found(pl.Series([str(k / 7) for k in range(40)] + [word] * 20))
    assert (result.kind, result.n_missing) == ("numeric", 20)
    assert "20 of 60 values are not numbers" in result.warnings[0]
    assert found(pl.Series([word, "+"] * 20)).kind == "categorical"
    assert found(pl.Series(["3", "4", word, word, word] * 8)).kind == "categorical"


def test_digits_with_leading_zeros_are_codes():
    assert found(pl.Series(["01067", "10115"] * 20)).kind == "categorical"
    assert found(pl.Series([f"{k:02d}" for k in range(12)] * 4)).kind == "numeric"
    assert found(pl.Series(["10115", "80331"] * 20)).kind == "numeric"


@pytest.mark.parametrize("write", ["({:,.2f})", "(${:,.2f})", "{:.2f}-", "−{:.2f}"])
def test_negative_numbers_of_accounts(write):
    usual = "${:,.2f}" if "$" in write else "{:.2f}"
    result = found(pl.Series([usual.format(k + 0.5) for k in range(20)] + [write.format(1234.5)]))
    assert result.kind == "numeric"
    assert result.values[-1] == -1234.5
    again = retyped(pl.Series([write.format(7)]), "numeric", result.written)
    assert again.to_list() == [-7]


def test_numbers_in_parentheses_throughout_are_no_negative_numbers():
    assert found(pl.Series(["(1)", "(2)"] * 20)).kind == "categorical"
