"""compare, fit, predict, inspect, explain and bound, run as a user would."""

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from sklearn.base import is_classifier

import thetahat as th
from thetahat.interfaces.command_line import main

FEW = {
    "classification": "ConstantClassifier,LogisticRegression",
    "regression": "ConstantRegressor,RidgeCV",
}


def run(capsys, *argv):
    """The exit code, what was printed, and what was said on the way."""
    code = main([str(each) for each in argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


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


class TestModelFiles:
    @pytest.fixture
    def model(self, capsys, houses_csv, tmp_path):
        path = tmp_path / "sold.theta"
        argv = ["fit", houses_csv, "-t", "sold", "--model", "LogisticRegression", "-o", path]
        code, out, _ = run(capsys, *argv)
        assert code == 0
        assert "logistic regression, accuracy" in out
        return path

    def test_predictions_are_those_of_the_model(self, capsys, model, houses_csv, tmp_path):
        target = tmp_path / "out.csv"
        assert run(capsys, "predict", model, houses_csv, "-o", target)[0] == 0
        table = pl.read_csv(target)
        assert table.columns == ["sold", "P(no)", "P(yes)"]
        assert table.height == 240
        accuracy = (table["sold"] == pl.read_csv(houses_csv)["sold"]).mean()
        assert accuracy > 0.8
        np.testing.assert_allclose(table["P(no)"] + table["P(yes)"], 1.0, rtol=1e-12)

    def test_columns_are_matched_by_name(self, capsys, model, houses, tmp_path):
        shuffled = tmp_path / "shuffled.csv"
        houses.select(reversed(houses.columns)).with_columns(extra=pl.lit(1)).write_csv(shuffled)
        plain = tmp_path / "plain.csv"
        houses.write_csv(plain)
        outs = [run(capsys, "predict", model, each)[1] for each in (plain, shuffled)]
        assert outs[0] == outs[1]
        assert outs[0].startswith("sold,P(no),P(yes)\n")

    def test_strange_rows_are_reported(self, capsys, model, houses, tmp_path):
        path = tmp_path / "new.csv"
        houses.with_columns(
            colour=pl.lit("violet"), size=pl.col("size").cast(pl.String).fill_null("big")
        ).write_csv(path)
        code, out, err = run(capsys, "predict", model, path)
        assert code == 0
        assert len(out.splitlines()) == 241
        assert "colour: categories not in the training rows: 'violet' (240)" in err
        assert "size: " in err
        assert "could not be read" in err
        target = tmp_path / "out.csv"
        code, out, err = run(capsys, "predict", model, path, "-o", target, "--json")
        data = json.loads(out)
        assert (code, err, data["rows"]) == (0, "", 240)
        assert data["unseen"]["colour"] == {"violet": 240}
        assert data["not read"]["size"] > 0
        assert "--json needs --output" in run(capsys, "predict", model, path, "--json")[2]

    def test_new_rows_are_read_as_the_training_rows_were_written(self, capsys, tmp_path):
        """Days first and decimal commas, in new rows that could be read another way, or not all."""
        random = np.random.default_rng(0)
        day, month = random.integers(1, 29, 200), random.integers(1, 13, 200)
        lines = ["when;size;y"]
        for d, m in zip(day, month, strict=True):
            lines.append(f"{d:02}/{m:02}/2024;{d},5;{m + 0.01 * d:.3f}")
        path, model = tmp_path / "old.csv", tmp_path / "month.theta"
        path.write_text("\n".join(lines) + "\n")
        assert run(capsys, "fit", path, "-t", "y", "--model", "RidgeCV", "-o", model, "-q")[0] == 0
        new = tmp_path / "new.csv"
        new.write_text("when;size\n02/11/2024;2,5\n11/02/2024;11,5\nnever;big\n")
        code, out, err = run(capsys, "predict", model, new)
        assert code == 0
        found = [float(each) for each in out.splitlines()[1:]]
        np.testing.assert_allclose(found[:2], [11.02, 2.11], atol=0.3)
        assert "when: 1 value could not be read" in err
        assert "size: 1 value could not be read" in err

    def test_missing_columns_are_refused_by_name(self, capsys, model, houses, tmp_path):
        path, target = tmp_path / "new.csv", tmp_path / "out.csv"
        houses.drop("size", "state").write_csv(path)
        code, out, err = run(capsys, "predict", model, path, "-o", target)
        assert (code, out) == (1, "")
        assert "lacks 2 of the 5 columns that the model needs: size, state" in err
        assert not target.exists()

    def test_inspect(self, capsys, model):
        code, out, _ = run(capsys, "inspect", model)
        assert code == 0
        assert out.startswith("Pipeline (TableVectorizer → LogisticRegression)")
        assert "predicts    sold" in out
        data = json.loads(run(capsys, "inspect", model, "--json")[1])
        assert data["notes"]["rows"] == 240
        assert data["classes"] == ["no", "yes"]

    def test_explain(self, capsys, model, houses_csv):
        code, out, _ = run(capsys, "explain", model, houses_csv)
        assert code == 0
        assert "loss of accuracy if shuffled" in out
        assert "price: the probability of yes is lowest" in out
        data = json.loads(run(capsys, "explain", model, houses_csv, "--json")[1])
        assert next(iter(data["importances"])) == "price"
        assert data["coefficients"]["price"]["low"] > 0

    def test_fit_takes_the_best_by_default(self, capsys, houses_csv, tmp_path):
        path = tmp_path / "price.theta"
        code, out, _ = run(capsys, "fit", houses_csv, "-t", "price", "-o", path, "--cv", 2)
        assert code == 0
        assert path.exists()
        assert not out.split(": ")[1].startswith("always")


class TestBound:
    @pytest.mark.parametrize(
        ("argv", "answer"),
        [
            (["pac_sample_size", "class_size=1024", "error=0.1", "failure=0.05"], "100"),
            (["holdout_size", "error=0.1", "failure=0.05"], "185"),
            (["rectangle_sample_size", "error=0.1", "failure=0.05"], "176"),
            (["hoeffding", "n=100", "deviation=0.1"], "0.270671"),
            (["amplification_rounds", "success=0.05", "failure=0.05"], "59"),
        ],
    )
    def test_worked_numbers(self, capsys, argv, answer):
        assert run(capsys, "bound", *argv)[:2] == (0, f"{answer}\n")

    def test_listing(self, capsys):
        code, out, _ = run(capsys, "bound")
        assert code == 0
        assert "thetahat bound chebyshev deviations=float" in out
        assert "vc_bound" in json.loads(run(capsys, "bound", "--json")[1])

    @pytest.mark.parametrize(
        ("argv", "message"),
        [
            (["nonsense"], "there is no bound 'nonsense'"),
            (["markov"], "multiple must be given"),
            (["markov", "multiple=x"], "must be a number"),
            (["hoeffding", "n=1.5", "deviation=0.1"], "must be a whole number"),
            (["markov", "k=3"], "is not an argument"),
            (["markov", "multiple=-1"], "multiple"),
        ],
    )
    def test_refusals(self, capsys, argv, message):
        code, out, err = run(capsys, "bound", *argv)
        assert (code, out) == (1, "")
        assert message in err


def one_line(capsys, *argv):
    """The refusal of a command: exit code 1, nothing printed, one line said."""
    code, out, err = run(capsys, *argv)
    assert code == 1
    assert out == ""
    last = err.splitlines()[-1]
    assert last.startswith(f"thetahat {argv[0]}: ")
    assert "Traceback" not in err
    return last


class TestRefusals:
    def test_bad_places(self, capsys, houses_csv, tmp_path):
        argv = ["compare", houses_csv, "-t", "price", "--report"]
        assert "is a directory" in one_line(capsys, *argv, tmp_path)
        assert "is not a directory" in one_line(capsys, *argv, tmp_path / "no" / "report.html")
        argv = ["fit", houses_csv, "-t", "price", "-o"]
        assert "is a directory" in one_line(capsys, *argv, tmp_path)
        assert "no file" in one_line(capsys, "predict", tmp_path / "absent.theta", houses_csv)
        assert "not a model file" in one_line(capsys, "inspect", houses_csv)
        assert "no file" in one_line(capsys, "compare", tmp_path / "absent.csv", "-t", "x")

    def test_bad_choices(self, capsys, houses_csv):
        argv = ["compare", houses_csv, "-t", "price"]
        assert "Did you mean" in one_line(capsys, *argv, "--models", "RidgeCVV")
        assert "write COLUMN=KIND" in one_line(capsys, *argv, "--kind", "size")
        assert "at least 2 folds" in one_line(capsys, *argv, "--cv", 1)
        assert "no column of this name" in one_line(capsys, *argv, "--keep", "zzz")
        assert "not part of this installation" in one_line(capsys, "lab")

    def test_what_was_not_foreseen_is_one_line_too(self, capsys, houses_csv, monkeypatch):
        def broken(*arguments, **options):
            raise RuntimeError("a fault\nof two lines")

        monkeypatch.setattr("thetahat.interfaces.problem.pose", broken)
        argv = ["compare", houses_csv, "-t", "price"]
        assert "RuntimeError: a fault of two lines (unexpected error" in one_line(capsys, *argv)
        monkeypatch.setenv("THETAHAT_TRACEBACK", "1")
        with pytest.raises(RuntimeError):
            main(argv)

    def test_too_few_rows(self, capsys, tmp_path):
        path = tmp_path / "data.csv"
        path.write_text("x,y\n1,a\n2,b\n")
        assert "2 of 2 classes have a single row" in one_line(capsys, "compare", path, "-t", "y")

    @pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
    def test_a_full_disk_is_said(self, houses_csv, tmp_path):
        model = tmp_path / "price.theta"
        fit = ["fit", houses_csv, "-t", "price", "--model", "RidgeCV", "-o", str(model), "-q"]
        assert main(fit) == 0
        with open("/dev/full", "w") as full:
            run = subprocess.run(
                [sys.executable, "-m", "thetahat", "predict", str(model), houses_csv],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert run.returncode == 1
        assert "No space left" in run.stderr
        assert "Traceback" not in run.stderr


class TestInstalledCommand:
    """The command itself, in a process of its own."""

    def command(self, *argv, **options):
        return subprocess.run(
            [sys.executable, "-m", "thetahat", *map(str, argv)],
            capture_output=True,
            text=True,
            check=False,
            **options,
        )

    def test_help_starts_light(self):
        code = (
            "import sys; from thetahat.interfaces.command_line import main\n"
            "try: main(['--help'])\n"
            "except SystemExit: pass\n"
            "heavy = {'sklearn', 'scipy', 'polars', 'pyarrow', 'rich'} & set(sys.modules)\n"
            "assert not heavy, heavy"
        )
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr

    def test_from_standard_input_into_a_pipe(self, houses):
        text = houses.write_csv()
        models = FEW["regression"]
        run = self.command("compare", "-", "-t", "price", "--models", models, input=text)
        assert run.returncode == 0, run.stderr
        assert "standard input: 240 rows" in run.stderr
        assert "\033" not in run.stdout

    def test_errors_are_one_line(self, tmp_path):
        run = self.command("compare", tmp_path / "absent.csv", "-t", "y")
        assert run.returncode == 1
        assert len(run.stderr.splitlines()) == 1


def test_control_characters_do_not_reach_the_terminal(capsys, tmp_path):
    hostile = "a\x1b[2J\x9b31m\u202e"
    X, y = np.eye(4), np.array(["no", hostile, "no", hostile])
    path = tmp_path / f"{hostile}.theta"
    th.save(th.LogisticRegression().fit(X, y), path, notes={"made by": hostile})
    code, out, _ = run(capsys, "inspect", path)
    assert code == 0
    assert "\\u001b[2J\\u009b31m\\u202e" in out
    as_data = run(capsys, "inspect", path, "--json")[1]
    assert json.loads(as_data)["notes"] == {"made by": hostile}
    code, _, err = run(capsys, "explain", path, tmp_path / f"{hostile}.csv")
    assert code == 1
    assert not {"\x1b", "\x9b", "\u202e"} & set(out + as_data + err)
