"""Tuned models, stacks, names of models, progress, interrupts and thresholds of the command."""

import json
import time

import numpy as np
import polars as pl
import pytest

import thetahat as th
from thetahat.interfaces import console, spread
from thetahat.interfaces.command_line import main
from thetahat.interfaces.commands.fit import NOTHING_LEARNED


def run(capsys, *argv):
    code = main([str(each) for each in argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def rare_csv(tmp_path):
    """A class with one row of eight, whose probability follows from x."""
    random = np.random.default_rng(0)
    x = random.standard_normal(240)
    label = np.where(x + 0.7 * random.standard_normal(240) > 1.5, "fraud", "good")
    path = tmp_path / "rare.csv"
    pl.DataFrame({"x": x, "z": random.standard_normal(240), "label": label}).write_csv(path)
    return str(path)


class TestNames:
    @pytest.mark.parametrize(
        ("task", "asked", "names"),
        [
            ("regression", ["HUBER", "knn"], ["Huber", "nearest neighbours"]),
            ("regression", ["Random Forest", "ridgecv"], ["random forest", "ridge"]),
            ("regression", ["ols", "svm", "tree"], None),
            ("classification", ["svm", "lda", "mlp"], None),
            ("classification", ["Boosted-Trees", "rf"], ["boosted trees", "random forest"]),
            ("classification", ["extratrees", "linear"], None),
        ],
    )
    def test_without_case_and_short(self, task, asked, names):
        found = spread.pipelines(task, {"x": "numeric"}, asked)
        assert len(found) == len(asked)
        if names is not None:
            assert list(found) == names

    @pytest.mark.parametrize("task", ["classification", "regression"])
    def test_every_short_name_stands_for_a_model_of_a_task(self, task):
        known = spread._of_task(task)
        names = spread._names(task, known)
        assert set(names.values()) <= set(known)
        for name in known:
            assert list(spread._asked_for(task, [name], "--models").values()) == [known[name]]
        other = "regression" if task == "classification" else "classification"
        others = spread._names(other, spread._of_task(other))
        assert set(spread.SHORT) <= {*names, *others}

    def test_unknown_names_list_the_right_ones(self, capsys, houses_csv):
        argv = ["compare", houses_csv, "-t", "price", "--models", "forrest"]
        code, _, err = run(capsys, *argv)
        assert code == 1
        last = err.splitlines()[-1]
        for part in ("forrest", "Did you mean", "random forest", "knn", "RidgeCV"):
            assert part in last
        assert "LogisticRegression" not in last


class TestTuned:
    def test_stack_and_settings(self, capsys, houses_csv):
        argv = [houses_csv, "-t", "price", "--cv", 2, "--time-limit", "1000s"]
        models = ["--models", "ridge,KNN,stack"]
        code, out, _ = run(capsys, "compare", *argv, *models, "--json", "-q")
        assert code == 0
        data = json.loads(out)
        found = {each["name"]: each for each in data["models"]}
        assert set(found) == {"ridge", "nearest neighbours", "stack of the best"}
        assert found["stack of the best"]["score"] > found["ridge"]["score"] - 0.02
        assert len(found["nearest neighbours"]["settings"]) == 2
        assert data["unfinished"] == []

    def test_a_tuned_model_is_saved(self, capsys, houses, houses_csv, tmp_path):
        path, target = tmp_path / "price.theta", tmp_path / "out.csv"
        argv = ["fit", houses_csv, "-t", "price", "--cv", 2, "-o", path, "--time-limit", "1000"]
        code, out, _ = run(capsys, *argv, "--model", "knn")
        assert code == 0
        assert "nearest neighbours" in out
        assert run(capsys, "predict", path, houses_csv, "-o", target)[0] == 0
        assert pl.read_csv(target).height == houses.height

    def test_order_of_time_and_groups(self, capsys, tmp_path):
        random = np.random.default_rng(0)
        n = 90
        days = np.datetime64("2024-01-01") + np.arange(n).astype("timedelta64[D]")
        x = random.standard_normal(n)
        table = pl.DataFrame({"day": days, "who": np.arange(n) // 3, "x": x, "y": x + 0.1 * x**2})
        path = tmp_path / "series.csv"
        table.write_csv(path)
        argv = ["compare", path, "-t", "y", "--models", "mean,knn", "--cv", 2, "--json", "-q"]
        for further in (["--time", "day"], ["--group", "who", "--no-time"]):
            code, out, err = run(capsys, *argv, *further, "--time-limit", 1000)
            assert code == 0, err
            assert json.loads(out)["best"] == "nearest neighbours"

    def test_a_stack_needs_tuning(self, capsys, houses_csv):
        argv = ["compare", houses_csv, "-t", "price", "--models", "ridge,Stack"]
        code, out, err = run(capsys, *argv)
        assert (code, out) == (1, "")
        assert "needs a --time-limit above 0" in err

    @pytest.mark.parametrize("limit", ["soon", "-1", "5 days"])
    def test_refused_limits(self, capsys, houses_csv, limit):
        argv = ["compare", houses_csv, "-t", "price", f"--time-limit={limit}"]
        code, out, err = run(capsys, *argv)
        assert (code, out) == (1, "")
        assert "--time-limit" in err
        assert "5m" in err


class TestStackFile:
    def test_saved_and_loaded(self, houses, tmp_path):
        """A stack of pipelines predicts the same from its file, and keeps the order of words."""
        from thetahat.evaluation.tuning.stack import stacked
        from thetahat.interfaces.explanation import explain
        from thetahat.interfaces.prediction import UnknownValues, predicted
        from thetahat.interfaces.problem import pose
        from thetahat.interfaces.quality import Held

        problem = pose(houses, "sold")
        models = spread.pipelines("classification", problem.kinds, ["logit", "knn"])
        fitted = {name: model.fit(problem.X, problem.y) for name, model in models.items()}
        outputs = {name: model.predict_proba(problem.X) for name, model in fitted.items()}
        model = stacked(fitted, outputs, problem.X, problem.y, classifier=True)
        path = tmp_path / "stack.theta"
        th.save(model, path, notes={"kinds": problem.kinds})
        loaded = th.load(path)
        np.testing.assert_array_equal(
            loaded.predict_proba(problem.X), model.predict_proba(problem.X)
        )
        new = predicted(loaded, iter([houses]), problem.kinds, {}, UnknownValues(), "sold")
        shares = next(new)["P(yes)"].to_numpy()
        np.testing.assert_allclose(shares, model.predict_proba(problem.X)[:, 1], rtol=1e-12)
        held = Held(
            np.arange(problem.n_rows),
            problem.y,
            model.predict(problem.X),
            model.predict_proba(problem.X),
            model.classes_,
        )
        found = explain(
            loaded, problem.X, problem.y, scoring="accuracy", held=held, file_rows=problem.rows
        )
        assert next(iter(found.importances.intervals)) == "price"


class TestProgress:
    def test_lines_without_a_terminal(self, capsys, monkeypatch):
        monkeypatch.setattr(console, "PERIOD", 0.01)
        with console.Console().progress("fitting") as report:
            report(3, 20, "ridge")
            deadline = time.monotonic() + 5
            err = ""
            while "fitting: 3 of 20 done, last ridge" not in err and time.monotonic() < deadline:
                time.sleep(0.01)
                err += capsys.readouterr().err
        assert "fitting: 3 of 20 done, last ridge" in err

    def test_nothing_if_quiet(self, capsys, monkeypatch):
        monkeypatch.setattr(console, "PERIOD", 0.001)
        with console.Console(quiet=True).progress("fitting") as report:
            report(3, 20, "ridge")
            time.sleep(0.02)
        assert capsys.readouterr().err == ""


class TestInterrupt:
    def test_what_is_done_is_printed_and_reported(self, capsys, houses_csv, tmp_path, monkeypatch):
        """Ctrl-C after two of three models: their comparison, the report, and code 130."""

        class Interrupting(console.Console):
            def progress(self, what):
                from contextlib import nullcontext

                def report(done, total, name):
                    if done == 5:
                        raise KeyboardInterrupt

                return nullcontext(report)

        monkeypatch.setattr("thetahat.interfaces.commands.compare.Console", Interrupting)
        report = tmp_path / "report.html"
        argv = ["compare", houses_csv, "-t", "price", "--models", "mean,ridge,lasso", "--cv", 2]
        with th.config(threads=1):
            code, out, err = run(capsys, *argv, "--time-limit", 1000, "--report", report)
        assert code == 130
        assert "ridge is better than always the mean" in out
        assert "interrupted before these were finished: lasso" in err
        assert "ridge" in report.read_text()

    def test_nothing_is_done(self, capsys, houses_csv, monkeypatch):
        def interrupted(*arguments, **options):
            raise KeyboardInterrupt

        monkeypatch.setattr("thetahat.interfaces.trial.compared", interrupted)
        argv = ["compare", houses_csv, "-t", "price", "--models", "mean,ridge"]
        code, out, err = run(capsys, *argv)
        assert (code, out) == (130, "")
        assert err.splitlines()[-1] == "thetahat compare: interrupted"


class TestThreshold:
    @pytest.mark.parametrize("limit", ["0", "1000"])
    @pytest.mark.parametrize("rule", [["--cost", "1:8"], ["--threshold", "f1"]])
    def test_saved_and_used(self, capsys, rare_csv, tmp_path, rule, limit):
        path, target = tmp_path / "rare.theta", tmp_path / "out.csv"
        argv = ["fit", rare_csv, "-t", "label", "--model", "logit", "-o", path, "--cv", 2]
        code, out, err = run(capsys, *argv, *rule, "--time-limit", limit, "--json")
        assert code == 0, err
        note = json.loads(out)["threshold"]
        assert note["positive"] == "fraud"
        assert 0 < note["value"] < 0.5
        assert run(capsys, "predict", path, rare_csv, "-o", target, "-q")[0] == 0
        table = pl.read_csv(target)
        called = table["label"].to_numpy() == "fraud"
        np.testing.assert_array_equal(called, table["P(fraud)"].to_numpy() >= note["value"])
        assert called.sum() > (table["P(fraud)"].to_numpy() >= 0.5).sum()

    def test_lower_cost_than_at_one_half(self, capsys, rare_csv):
        argv = ["compare", rare_csv, "-t", "label", "--models", "logit", "--cost", "1:8"]
        code, out, _ = run(capsys, *argv)
        assert code == 0
        words = out.splitlines()[-1]
        assert words.startswith("fraud is predicted from probability")
        cost, at_half = (
            float(words.split(part)[1].split()[0]) for part in ("row", "held-out rows,")
        )
        assert cost < at_half

    def test_the_report_shows_the_threshold(self, capsys, rare_csv, tmp_path):
        page = tmp_path / "page.html"
        argv = ["compare", rare_csv, "-t", "label", "--models", "logit", "--cost", "1:8", "-q"]
        code, out, err = run(capsys, *argv, "--report", page, "--json", "--cv", 3)
        assert code == 0, err
        found = json.loads(out)
        note, good = found["threshold"], found["quality"]
        asked, *others = good["thresholds"]
        assert (asked["false_positive"], asked["false_negative"], asked["asked"]) == (1, 8, True)
        assert asked["cost"] == pytest.approx(note["cost per row"])
        assert asked["threshold"] == pytest.approx(note["value"])
        assert not any(each["asked"] for each in others)
        counts = dict(zip(good["confusion"]["classes"], good["confusion"]["counts"], strict=True))
        hits, missed = counts["fraud"]
        assert good["classes"][0]["recall"]["value"] == pytest.approx(hits / (hits + missed))
        assert hits > missed  # at probability 0.5, most are missed
        text = page.read_text()
        assert "1 : 8 (requested)" in text
        assert "fraud is predicted from probability" in text

    def test_the_positive_class_can_be_named(self, capsys, rare_csv):
        argv = ["compare", rare_csv, "-t", "label", "--models", "logit", "--json", "-q"]
        code, out, _ = run(capsys, *argv, "--threshold", "f1", "--positive", "good")
        assert code == 0
        note = json.loads(out)["threshold"]
        assert note["positive"] == "good"
        assert note["F1 score"] >= note["F1 score at probability 0.5"] - 0.02 > 0.5

    @pytest.mark.parametrize(
        ("argv", "message"),
        [
            (["--cost", "5"], "such as 1:5"),
            (["--cost", "0:0"], "not both 0"),
            (["--cost", "1:-2"], "must not be negative"),
            (["--cost", "1:2", "--threshold", "f1"], "contradict"),
            (["--cost", "1:2", "--positive", "maybe"], "the classes are fraud and good"),
            (["--positive", "fraud"], "needs --cost"),
            (["--cost", "1:2", "--models", "LinearSVC,mean"], "no model of this name"),
        ],
    )
    def test_refusals(self, capsys, rare_csv, argv, message):
        code, out, err = run(capsys, "compare", rare_csv, "-t", "label", "--models", "nb", *argv)
        assert (code, out) == (1, "")
        assert message in err.splitlines()[-1]

    def test_needs_two_classes_and_probabilities(self, capsys, houses_csv, rare_csv):
        code, _, err = run(capsys, "compare", houses_csv, "-t", "price", "--cost", "1:2")
        assert code == 1
        assert "--cost 1:2 needs a target of two classes, but it has numbers" in err
        argv = ["fit", rare_csv, "-t", "label", "--model", "LinearSVC", "-o", "x", "--cost", "1:2"]
        code, _, err = run(capsys, *argv)
        assert code == 1
        assert "gives no probabilities" in err

    def test_a_threshold_that_calls_all_rows_alike_is_said(self, capsys, rare_csv, tmp_path):
        argv = ["fit", rare_csv, "-t", "label", "--model", "logit", "-o", tmp_path / "m.theta"]
        code, _, err = run(capsys, *argv, "--cost", "1000:0")
        assert code in (0, NOTHING_LEARNED)
        assert "fraud is never predicted, for the lowest cost" in err
        code, out, _ = run(capsys, "inspect", tmp_path / "m.theta")
        assert (code, out.count("fraud is never predicted")) == (0, 1)

    def test_without_a_cost_of_false_positives_every_row_is_positive(self, capsys, rare_csv):
        argv = ["compare", rare_csv, "-t", "label", "--models", "logit", "--cost", "0:1"]
        code, out, _ = run(capsys, *argv)
        assert code == 0
        assert out.splitlines()[-1].startswith("fraud is always predicted, for the lowest cost")


def test_labels_that_all_models_contradict_are_found(capsys, tmp_path):
    """Of 240 rows, 12 labels were changed: most of them are listed, and few others."""
    random = np.random.default_rng(0)
    X = random.standard_normal((240, 2))
    label = np.where(X[:, 0] > 0, "b", "a")
    changed = np.sort(random.choice(np.flatnonzero(np.abs(X[:, 0]) > 0.5), 12, replace=False))
    label[changed] = np.where(label[changed] == "a", "b", "a")
    path = tmp_path / "noise.csv"
    pl.DataFrame({"x": X[:, 0], "z": X[:, 1], "label": label}).write_csv(path)
    argv = ["compare", path, "-t", "label", "--models", "logit,nb,lda,forest", "--json", "-q"]
    code, out, _ = run(capsys, *argv)
    assert code == 0
    (found,) = [each for each in json.loads(out)["findings"] if each["check"] == "labels"]
    rows = set(found["rows"])
    assert rows <= {*(changed + 1).tolist(), *np.flatnonzero(np.abs(X[:, 0]) <= 0.5) + 1}
    assert found["n_rows"] >= 12
    assert np.abs(X[found["rows"][0] - 1, 0]) == np.abs(X[changed, 0]).max()  # the clearest first
