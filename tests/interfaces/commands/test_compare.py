"""compare, run as a user would."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.base import is_classifier

from tests.interfaces.commands.command_runs import FEW, run


class TestCompare:
    def test_table_sentences_and_what_was_read(self, capsys, houses_csv):
        models = FEW["regression"]
        code, out, err = run(capsys, "compare", houses_csv, "--target", "price", "--models", models)
        assert code == 0
        assert out.splitlines()[0].split()[:2] == ["model", "r2"]
        assert "ridge is better than always the mean by" in out
        assert "240 rows; regression of price" in err
        assert "left out: id (looks like an identifier" in err
        assert "left out: nothing (always 'x')" in err
        assert "date: built" in err
        assert "ordinal: state" in err
        assert "\033" not in out + err

    def test_json(self, capsys, houses_csv):
        models = FEW["classification"]
        code, out, err = run(
            capsys, "compare", houses_csv, "-t", "sold", "--models", models, "--json", "-q"
        )
        assert (code, err) == (0, "")
        data = json.loads(out)
        assert data["task"] == "classification"
        assert data["best"] == "logistic regression"
        assert data["columns"]["size"]["kind"] == "numeric"
        best = data["models"][0]
        assert best["low"] < best["score"] < best["high"]
        assert len(best["fold_scores"]) == 5

    @pytest.mark.parametrize("metric", ["f1", "average_precision"])
    def test_metrics_of_one_class_count_the_rarer_of_two_words(
        self, capsys, houses, metric, tmp_path
    ):
        """Such a metric was refused, as no label is 1."""
        counted = houses["sold"].value_counts().sort("count")["sold"][0]
        numbers = houses.with_columns(sold=(houses["sold"] == counted).cast(int))
        scores = []
        for name, table in ("words", houses), ("numbers", numbers):
            path = tmp_path / f"{name}.csv"
            table.write_csv(path)
            argv = ["-t", "sold", "--models", FEW["classification"], "--scoring", metric]
            code, out, _ = run(capsys, "compare", path, *argv, "--json", "-q", "--cv", 3)
            assert code == 0
            scores.append(json.loads(out)["models"][0]["score"])
        assert scores[0] == pytest.approx(scores[1], abs=1e-6)

    def test_a_single_model_is_compared_with_the_baseline(self, capsys, houses_csv):
        for asked, other in ("ridge", "always the mean"), ("always the mean", "ridge"):
            code, out, _ = run(
                capsys, "compare", houses_csv, "-t", "price", "--models", asked, "--json", "-q"
            )
            assert code == 0
            assert {each["name"] for each in json.loads(out)["models"]} == {asked, other}

    def test_the_models_to_try_first_come_from_the_catalog(self, capsys, houses_csv):
        code, out, _ = run(capsys, "compare", houses_csv, "-t", "sold", "--json", "-q", "--cv", 2)
        assert code == 0
        tried = {each["name"] for each in json.loads(out)["models"]}
        everyday = {
            kind._everyday
            for kind in th_estimators().values()
            if kind._everyday and is_classifier(kind._example())
        }
        assert tried == everyday

    def test_networks_learn_targets_of_any_size(self, capsys, houses_csv, tmp_path):
        """Prices of hundreds of thousands are predicted in their own unit, also from a file."""
        argv = [houses_csv, "-t", "price"]
        models = "ridge,small network"
        code, out, _ = run(capsys, "compare", *argv, "--models", models, "--json", "-q")
        assert code == 0
        scores = {each["name"]: each["score"] for each in json.loads(out)["models"]}
        assert scores["small network"] > 0.8
        path, new = tmp_path / "price.theta", tmp_path / "out.csv"
        assert run(capsys, "fit", *argv, "--model", "small network", "-o", path, "-q")[0] == 0
        assert run(capsys, "predict", path, houses_csv, "-o", new, "-q")[0] == 0
        price = pl.read_csv(houses_csv)["price"].to_numpy()
        assert np.corrcoef(pl.read_csv(new)["price"].to_numpy(), price)[0, 1] > 0.9

    @pytest.mark.parametrize("shape", ["sentiment", "triage", "price"])
    def test_shapes_of_the_course(self, capsys, reviews_csv, houses_csv, tmp_path, shape):
        if shape == "sentiment":
            argv = [reviews_csv, "-t", "liked", "--models", FEW["classification"]]
        elif shape == "triage":
            random = np.random.default_rng(0)
            words = {"crash": "error core dumped", "docs": "typo page manual", "slow": "time wait"}
            labels = random.choice(list(words), 150)
            titles = [f"please look at {random.choice(words[each].split())} now" for each in labels]
            texts = [
                f"when i start it {' '.join(random.permutation(words[each].split()))} number {k}"
                for k, each in enumerate(labels)
            ]
            path = tmp_path / "issues.csv"
            pl.DataFrame({"title": titles, "description": texts, "category": labels}).write_csv(
                path
            )
            argv = [path, "-t", "category", "--models", FEW["classification"]]
        else:
            argv = [houses_csv, "-t", "price", "--models", FEW["regression"]]
        code, out, _ = run(capsys, "compare", *argv, "--json", "-q", "--cv", 3)
        assert code == 0
        data = json.loads(out)
        assert data["models"][0]["score"] > 0.85
        assert not data["best"].startswith("always")

    def test_report_stands_alone(self, capsys, houses_csv, tmp_path):
        report = tmp_path / "report.html"
        models = FEW["classification"]
        code, out, _ = run(
            capsys, "compare", houses_csv, "-t", "sold", "--models", models, "--report", report
        )
        assert code == 0
        assert out.splitlines()[-1] == f"report: {report}"
        text = report.read_text()
        for outside in ("http://", "https://", "<script", "<link", "<img", "@import", "url("):
            assert outside not in text
        for part in (
            "Models",
            "How good is",
            "Columns that matter to",
            "Data",
            "How to reproduce this",
            "<svg",
        ):
            assert part in text
        assert "prefers-color-scheme: dark" in text
        assert [each.name for each in tmp_path.iterdir() if "part" in each.name] == []

    def test_models_that_score_alike_on_every_fold_are_shown(self, capsys, tmp_path):
        """An exact tree has r2 = 1 on all folds; how sure that is has no lower end."""
        path, report = tmp_path / "data.csv", tmp_path / "report.html"
        a, b = np.repeat(np.arange(12.0), 60), np.tile(np.repeat(np.arange(5.0), 12), 12)
        pl.DataFrame({"a": a, "b": b, "y": 0.25 + (a - 5) * (b - 2)}).write_csv(path)
        argv = ["compare", path, "-t", "y", "--models", "ConstantRegressor,DecisionTreeRegressor"]
        code, out, error = run(capsys, *argv, "--report", report, "-q")
        assert code == 0, error
        assert "inf" in out
        assert json.loads(run(capsys, *argv, "--json", "-q")[1])["models"][0]["low"] is None
        assert 'nan%"' not in report.read_text()
        assert 'inf%"' not in report.read_text()

    def test_names_in_the_data_are_text_in_the_report(self, capsys, tmp_path):
        random = np.random.default_rng(0)
        x = random.random(80)
        path, report = tmp_path / "data.csv", tmp_path / "report.html"
        label = np.where(x + 0.1 * random.random(80) > 0.5, "<script>alert(1)</script>", "a&b")
        pl.DataFrame({"<b>x</b>": x, "y": label}).write_csv(path)
        models = FEW["classification"]
        code, _, _ = run(
            capsys, "compare", path, "-t", "y", "--models", models, "--report", report, "-q"
        )
        assert code == 0
        assert "<script" not in report.read_text()
        assert "<b>x</b>" not in report.read_text()


def th_estimators():
    from thetahat.catalog import estimators

    return estimators()
