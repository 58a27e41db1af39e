"""``thetahat check``, and the findings at the head of ``thetahat compare``."""

import json

import numpy as np
import polars as pl
import pytest

from thetahat.interfaces.command_line import main
from thetahat.interfaces.splits import time_folds


def run(capsys, *argv):
    """The exit code, what was printed, and what was said on the way."""
    code = main([str(each) for each in argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def numbers(n=200, seed=0):
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(2, n))
    return {"a": a, "b": b, "y": a + random.normal(size=n)}


@pytest.fixture
def written(tmp_path):
    def write(columns):
        path = tmp_path / "data.csv"
        pl.DataFrame(columns).write_csv(path)
        return path

    return write


def walk(n=300):
    """A random walk by date: its past says where it is, its columns do not."""
    random = np.random.default_rng(0)
    days = np.datetime64("2020-01-01") + np.arange(n).astype("timedelta64[D]")
    return {"day": days, "a": random.normal(size=n), "y": np.cumsum(random.normal(size=n))}


class TestCheck:
    def test_clean(self, capsys, written):
        code, out, _ = run(capsys, "check", written(numbers()), "-t", "y")
        assert (code, out) == (0, "nothing found\n")

    def test_severe(self, capsys, written):
        table = numbers()
        path = written({**table, "secret": 2 * table["y"], "one": ["x"] * 200})
        code, out, _ = run(capsys, "check", path, "-t", "y")
        assert code == 1
        first, *_, last = out.splitlines()
        assert first.startswith("✖ severe   leaks: secret alone explains")
        assert "--kind secret=drop" in out
        assert last == "1 severe finding, 1 note"
        assert "\033" not in out

    def test_json(self, capsys, written):
        table = {name: np.concatenate([each, each[:20]]) for name, each in numbers().items()}
        code, out, err = run(capsys, "check", written(table), "-t", "y", "--json", "-q")
        assert (code, err) == (1, "")
        (found,) = json.loads(out)["findings"]
        assert found["check"] == "copies"
        assert found["rows"][:2] == [1, 2]
        assert found["n_rows"] == 40

    def test_names_from_the_file_do_not_reach_the_terminal(self, capsys, written):
        table = numbers()
        code, out, err = run(
            capsys, "check", written({**table, "\033[31mred": 2 * table["y"]}), "-t", "y"
        )
        assert code == 1
        assert "\033" not in out + err

    def test_rows_of_a_second_file(self, capsys, written, tmp_path):
        later = numbers(seed=1)
        pl.DataFrame({"a": later["a"] + 4, "b": later["b"]}).write_csv(tmp_path / "later.csv")
        argv = ["check", written(numbers()), "-t", "y", "--json", "-q"]
        code, out, _ = run(capsys, *argv, "--test", tmp_path / "later.csv")
        assert code == 1
        (found,) = json.loads(out)["findings"]
        assert (found["check"], found["columns"]) == ("drift", ["a"])
        assert run(capsys, *argv)[0] == 0

    def test_numbers_with_a_unit(self, capsys, written):
        table = numbers()
        price = [f"${abs(value) * 1e4:,.2f}" for value in table["b"]]
        path = written({**table, "price": price, "y": [f"{value:.3f} kg" for value in table["y"]]})
        code, out, err = run(capsys, "check", path, "-t", "y")
        assert code == 0
        assert "regression of y" in err
        assert "price holds numbers written with separated thousands, unit $" in out

    def test_numbers_with_mixed_units(self, capsys, written):
        table = numbers()
        grams = np.round(np.abs(table["b"]) * 2e3) + np.arange(len(table["b"])) / 1e3
        weight = [f"{g:.3f} g" if k % 2 else f"{g / 1e3:.6f} kg" for k, g in enumerate(grams)]
        pack = ["500 g", "1 kg", "750 g", "2 kg"] * (len(weight) // 4)
        path = written({**table, "weight": weight, "pack": pack})
        _, out, err = run(capsys, "check", path, "-t", "y")
        assert "left out: weight (numbers with mixed units: kg, g" in err
        text = " ".join(out.split())
        assert f"weight holds numbers with mixed units: kg, g, such as '{weight[0]}'" in text
        assert "→ It is left out. Convert all values to one unit" in text
        assert "→ It is used as categories. Convert all values to one unit" in text
        code, _, err = run(capsys, "check", path, "-t", "weight")
        assert code == 1
        assert "The target 'weight' holds numbers with mixed units: kg, g. Convert" in err

    def test_numbers_among_words(self, capsys, written):
        table = numbers()
        values = [f"{value:.4f}" if k % 2 else "n/a?" for k, value in enumerate(table["b"])]
        path = written({**table, "mixed": values, "five": [5] * len(values)})
        text = " ".join(run(capsys, "check", path, "-t", "y")[1].split())
        assert "1 value is not a number: 'n/a?'." in text
        assert (
            "→ It is used as categories. Replace these values by missing ones, and convert the "
            "column to numbers. column mixed" in text
        )
        assert "five has the same value" in text
        assert "five holds numbers" not in text

    def test_rows_are_those_of_the_file(self, capsys, written):
        """Rows without a target are left out, but the others keep their numbers."""
        table = {name: [*each, *each[50:70]] for name, each in numbers().items()}
        table["y"][:10] = [None] * 10
        _, out, _ = run(capsys, "check", written(table), "-t", "y", "--json", "-q")
        (found,) = json.loads(out)["findings"]
        assert found["rows"] == [*range(51, 71), *range(201, 221)]


class TestCompare:
    MODELS = "ConstantRegressor,KNeighborsRegressor,RandomForestRegressor"

    def compared(self, capsys, path, *more):
        argv = ["compare", path, "-t", "y", "--models", self.MODELS, "--json", *more]
        code, out, err = run(capsys, *argv)
        assert code == 0, err
        return json.loads(out), err

    def test_time(self, capsys, written, tmp_path):
        path, report = written(walk()), tmp_path / "report.html"
        data, err = self.compared(capsys, path, "--report", report)
        assert data["splits"] == "5 folds in the order of day"
        assert data["models"][0]["score"] < 0.5
        (found,) = data["findings"]
        assert found["check"] == "time"
        assert "would seem to have r2 0." in found["action"]
        assert "▲ warning  time:" in err
        assert "order of day" in report.read_text()
        shuffled, _ = self.compared(capsys, path, "--no-time")
        assert shuffled["models"][0]["score"] > 0.8
        assert shuffled["splits"] == "5 folds"

    def test_copies(self, capsys, written):
        table = {name: np.concatenate([each, each]) for name, each in numbers().items()}
        data, _ = self.compared(capsys, written(table))
        assert data["splits"] == "5 folds, copies of a row kept together"
        (found,) = data["findings"]
        once, _ = self.compared(capsys, written(numbers()))
        scores = [
            next(each["score"] for each in some["models"] if each["name"] == "nearest neighbours")
            for some in (data, once)
        ]
        assert abs(scores[0] - scores[1]) < 0.15
        assert "would seem to have" in found["action"]

    def test_groups(self, capsys, written):
        random = np.random.default_rng(0)
        who = np.repeat(np.arange(40), 10)
        table = {
            "patient_id": who,
            "a": random.normal(size=40)[who] + 0.01 * random.normal(size=400),
            "y": random.normal(size=40)[who] + 0.1 * random.normal(size=400),
        }
        path = written(table)
        plain, _ = self.compared(capsys, path)
        assert plain["models"][0]["score"] > 0.5
        assert "groups" in [each["check"] for each in plain["findings"]]
        grouped, _ = self.compared(capsys, path, "--group", "patient_id")
        assert grouped["models"][0]["score"] < 0.2
        assert grouped["splits"] == "5 folds, groups of patient_id kept together"
        assert grouped["columns"]["patient_id"]["kind"] == "drop"

    def test_uneven_classes_are_scored_by_their_ranking(self, capsys, written):
        table = numbers(1000)
        table["y"] = np.where(table["y"] + table["a"] > 3, "ill", "well")
        argv = ["compare", written(table), "-t", "y", "--json", "-q"]
        models = ["--models", "ConstantClassifier,LogisticRegression"]
        data = json.loads(run(capsys, *argv, *models)[1])
        assert data["metric"] == "roc_auc"
        assert data["best"] == "logistic regression"
        (found,) = (each for each in data["findings"] if each["check"] == "classes")
        assert "Use roc_auc" in found["action"]
        data = json.loads(run(capsys, *argv, *models, "--scoring", "accuracy")[1])
        assert data["metric"] == "accuracy"

    def test_labels_that_all_models_contradict(self, capsys, written):
        table = numbers(300)
        table["y"] = np.where(table["a"] > 0, "p", "q")
        wrong = np.flatnonzero(np.abs(table["a"]) > 1)[:5]
        table["y"][wrong] = np.where(table["y"][wrong] == "p", "q", "p")
        models = "LogisticRegression,RandomForestClassifier,GaussianNB"
        code, out, _ = run(
            capsys, "compare", written(table), "-t", "y", "--json", "-q", "--models", models
        )
        assert code == 0
        found = next(each for each in json.loads(out)["findings"] if each["check"] == "labels")
        assert set(wrong + 1) <= set(found["rows"])

    @pytest.mark.parametrize("models", ["GaussianNB", "GaussianNB,KNeighborsClassifier"])
    def test_models_that_are_no_better_than_a_constant(self, capsys, written, models):
        table = numbers(200)
        table["y"] = np.where(np.random.default_rng(10).random(200) < 0.4, "p", "q")
        argv = ["compare", written(table), "-t", "y", "--json", "-q", "--models", models]
        code, out, _ = run(capsys, *argv)
        assert code == 0
        (found,) = [e for e in json.loads(out)["findings"] if e["check"] == "baseline"]
        assert "No model is better than the same prediction for every row" in found["what"]
        table["y"] = np.where(table["a"] > 0, "p", "q")
        out = run(capsys, *argv[:1], written(table), *argv[2:])[1]
        assert not [e for e in json.loads(out)["findings"] if e["check"] == "baseline"]

    @pytest.mark.parametrize("share", [0.5, 0.05])
    def test_models_that_learned_nothing_contradict_no_labels(self, capsys, written, share):
        table = numbers(300)
        order = np.argsort(np.random.default_rng(5).random(300))
        table["y"] = np.where(order < 300 * share, "p", "q")
        models = "LogisticRegression,LinearDiscriminantAnalysis,GaussianNB"
        argv = ["compare", written(table), "-t", "y", "--json", "-q", "--models", models]
        code, out, _ = run(capsys, *argv)
        assert code == 0
        assert not [each for each in json.loads(out)["findings"] if each["check"] == "labels"]

    def test_a_perfect_score_and_a_leak_are_said(self, capsys, written, tmp_path):
        table = numbers(300)
        path, report = written({**table, "secret": 2 * table["y"]}), tmp_path / "report.html"
        models = "ConstantRegressor,LinearRegression"
        argv = ["compare", path, "-t", "y", "--models", models, "--report", report]
        code, out, err = run(capsys, *argv)
        assert code == 0
        assert "perfect score: LinearRegression predicts y without error" in err
        assert "Do not rely on these scores before the severe finding has been checked." in out
        text = report.read_text()
        assert text.index("secret alone explains") < text.index("<h2>Models</h2>")
        code, out, _ = run(capsys, *argv[:6], "--kind", "secret=drop")
        assert "Do not rely" not in out

    def test_a_kind_that_loses_values_is_refused(self, capsys, written):
        table = numbers(40)
        path = written({**table, "b": [*map(str, range(38)), "many", "few"]})
        argv = ["compare", path, "-t", "y", "--kind", "b=numeric"]
        code, _, err = run(capsys, *argv)
        assert code == 1
        assert "--kind b=numeric: 2 of 40 values are not numbers (first 'many' in row 39)" in err

    @pytest.mark.parametrize(
        ("argv", "message"),
        [
            (["--time", "when"], "--time when: there is no column"),
            (["--time", "a", "--no-time"], "contradict"),
            (["--group", "team"], "no column 'team'"),
        ],
    )
    @pytest.mark.parametrize("command", ["compare", "check"])
    def test_orders_that_make_no_sense(self, capsys, written, command, argv, message):
        code, _, err = run(capsys, command, written(numbers()), "-t", "y", *argv)
        assert code == 1
        assert message in err


def test_a_constant_is_not_saved_silently(capsys, written, tmp_path):
    random = np.random.default_rng(0)
    noise = {name: random.normal(size=200) for name in ("a", "b", "y")}
    noise["y"] = noise["y"].round(2)
    model = tmp_path / "model.theta"
    code, out, err = run(
        capsys, "fit", written(noise), "-t", "y", "-o", model, "--model", "Lasso", "-q"
    )
    assert code == 3, out
    assert "nothing was learned: Lasso predicts the same for every row" in err
    assert model.exists()


def test_a_saved_model_reads_new_rows_with_their_unit(capsys, written, tmp_path):
    table = numbers()
    price = [f"€{value * 1e4:,.0f}" for value in table["a"]]
    path = written({"price": price, "b": table["b"], "y": table["y"]})
    model, out = tmp_path / "model.theta", tmp_path / "out.csv"
    argv = ["fit", path, "-t", "y", "--model", "LinearRegression", "-o", model, "-q"]
    assert run(capsys, *argv)[0] == 0
    new = tmp_path / "new.csv"
    pl.DataFrame({"price": ["€1,000", "€20,000", "$5"], "b": [0.0, 0.0, 0.0]}).write_csv(new)
    code, _, err = run(capsys, "predict", model, new, "-o", out)
    assert code == 0
    assert "price: 1 value could not be read" in err
    low, high, _ = pl.read_csv(out)["y"].to_list()
    assert 1.5 < high - low < 2.3


class TestTimeFolds:
    def test_training_rows_are_earlier(self):
        time = np.random.default_rng(0).permutation(60).astype(float)
        folds = time_folds(time, 5)
        assert len(folds) == 5
        for train, held in folds:
            assert time[train].max() < time[held].min()
        assert len(np.unique(np.concatenate([held for _, held in folds]))) == 50

    def test_equal_times_stay_together(self):
        time = np.repeat(np.arange(4.0), 10)
        for train, held in time_folds(time, 5):
            assert not set(time[train]) & set(time[held])

    def test_groups_of_training_rows_are_not_held_out(self):
        time, groups = np.arange(60.0), np.arange(60) % 12
        groups[40:] = 99 + np.arange(20)
        for train, held in time_folds(time, 5, groups):
            assert not set(groups[train]) & set(groups[held])

    def test_earlier_rows_of_one_class_are_not_trained_on_alone(self):
        labels = (np.arange(60) > 25).astype(int)
        for train, _ in time_folds(np.arange(60.0), 5, labels=labels):
            assert set(labels[train]) == {0, 1}
