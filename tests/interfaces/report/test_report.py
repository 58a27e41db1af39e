"""The report and the pages of explain: every number also as JSON, axes that can be right."""

import json
import re

import numpy as np
import polars as pl
import pytest

from tests.interfaces.commands.command_runs import FEW, run
from thetahat.interfaces.report import pictures, svg
from thetahat.interfaces.report.cells import document, tidy
from thetahat.interfaces.report.svg import Frame, labels_of, width_of, wrapped
from thetahat.results import PartialDependence


def strict(text):
    """JSON without NaN and infinity, which are not JSON."""

    def refuse(name):
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)


@pytest.fixture(scope="module")
def many_classes(tmp_path_factory):
    """Thirty classes with long names, some of which are hard to tell apart."""
    random = np.random.default_rng(0)
    which = np.arange(450) % 30
    centres = random.normal(size=(30, 4))
    X = centres[which] + 0.5 * random.normal(size=(450, 4))
    names = np.array([f"department of internal affairs, number {each}" for each in range(30)])
    path = tmp_path_factory.mktemp("many") / "many.csv"
    table = pl.DataFrame({f"x{j}": X[:, j] for j in range(4)})
    table.with_columns(unit=pl.Series(names[which])).write_csv(path)
    return path


class TestReport:
    def report(self, capsys, path, target, report, models):
        argv = ["compare", path, "-t", target, "--models", models, "--cv", 2]
        code, out, _ = run(capsys, *argv, "--report", report, "--json", "-q")
        assert code == 0
        return strict(out), report.read_text()

    def test_numbers(self, capsys, houses_csv, tmp_path):
        data, page = self.report(
            capsys, houses_csv, "price", tmp_path / "r.html", FEW["regression"]
        )
        metrics = data["models"][0]["metrics"]
        assert {"r2", "neg_root_mean_squared_error", "neg_mean_absolute_error"} <= set(metrics)
        assert metrics["r2"]["value"] == data["models"][0]["score"]
        good = data["quality"]
        assert good["error_size_quantiles"]["0.5"] < good["error_size_quantiles"]["0.95"]
        assert data["explanation"]["contributions"]["mean_size"]["size"] > 50
        for words in (
            "Other metrics",
            "Errors against the prediction",
            "Errors against size",
            "Quantiles of predicted − true",
            "Contributions",
            "Five rows explained",
        ):
            assert words in page
        assert page.count("<figure><h3>Row ") == 5
        assert "nan" not in re.sub(r"<style>.*?</style>", "", page)
        for row in data["explanation"]["contributions"]["rows"]:
            total = row["base"] + sum(row["contributions"].values())
            assert total == pytest.approx(row["prediction"])

    def test_two_classes(self, capsys, houses_csv, tmp_path):
        data, page = self.report(
            capsys, houses_csv, "sold", tmp_path / "r.html", FEW["classification"]
        )
        good = data["quality"]
        assert [each["label"] for each in good["classes"]] == ["no", "yes"]
        assert sum(each["count"] for each in good["classes"]) == 240
        assert np.sum(good["confusion"]["counts"]) == 240
        assert good["roc"]["area"]["low"] < good["roc"]["area"]["value"]
        cheap, dear = good["thresholds"][0], good["thresholds"][-1]
        assert cheap["threshold"] > dear["threshold"]  # false positives are dear, then cheap
        for words in ("ROC curve", "Precision and recall", "Calibration", "Costs and thresholds"):
            assert words in page

    def test_models_without_probabilities_are_ranked(self, capsys, houses_csv):
        argv = ["compare", houses_csv, "-t", "sold", "--models", "svc,logit", "--cv", 2]
        code, out, _ = run(capsys, *argv, "--json", "-q")
        assert code == 0
        for each in json.loads(out)["models"]:
            assert set(each["metrics"]) == {"accuracy", "balanced_accuracy", "roc_auc"}

    def test_json_has_the_points_of_the_figures(self, capsys, houses_csv, tmp_path):
        def drawn(page, title):
            figure = page.partition(f"<figure><h3>{title}</h3>")[2].partition("</figure>")[0]
            lines = re.findall(r'<polyline class="line[^"]*" points="([^"]*)"', figure)
            return figure.count("<circle"), len(lines[0].split()) if lines else 0, figure

        data, page = self.report(
            capsys, houses_csv, "price", tmp_path / "r.html", FEW["regression"]
        )
        points = data["quality"]["plotted"]
        prices = pl.read_csv(houses_csv)["price"].to_list()
        assert drawn(page, "Predicted and true values")[0] == len(points["rows"]["true"]) == 240
        assert points["rows"]["true"] == [prices[row - 1] for row in points["rows"]["row"]]
        assert drawn(page, "Errors")[2].count("<rect") == len(points["errors"]["rows"])
        assert sum(points["errors"]["rows"]) == 240
        along = points["errors_against_prediction"]
        assert drawn(page, "Errors against the prediction")[:2] == (240, len(along["at"]))
        for name, each in points["errors_against_columns"].items():
            dots, steps, _ = drawn(page, f"Errors against {name}")
            if "categories" in each:
                assert dots == len(each["categories"]) == len(each["quantiles"]["0.5"])
            else:
                assert (dots, steps) == (len(each["values"]), len(each["at"]))
        assert len(data["distributions"]["colour"]) == 3
        assert data["fits"] == 4
        swarm = data["explanation"]["contributions"]["summary"]["size"]
        assert len(swarm["values"]) == len(swarm["contributions"])
        data, page = self.report(
            capsys, houses_csv, "sold", tmp_path / "r.html", FEW["classification"]
        )
        points = data["quality"]["plotted"]
        assert drawn(page, "ROC curve")[1] == len(points["roc"]["true_positive_rate"])
        assert drawn(page, "Precision and recall")[1] == len(points["precision_recall"]["recall"])

    def test_single_rows_are_explained_by_models_that_have_not_seen_them(
        self, capsys, houses_csv, tmp_path
    ):
        """A forest of all rows is right about rows which were held out with the largest errors."""
        data, page = self.report(
            capsys, houses_csv, "sold", tmp_path / "r.html", "random forest,logistic regression"
        )
        assert "fitted without it" in page
        rows = data["explanation"]["contributions"]["rows"]
        wrong = [each for each in rows if each["why"] == "among the largest errors"]
        assert len(wrong) == 2
        for each in wrong:
            share = each["prediction"] if each["true"] == "yes" else 1 - each["prediction"]
            assert each["response"].endswith("of yes")
            assert share < 0.3

    def test_many_classes_are_readable(self, capsys, many_classes, tmp_path):
        data, page = self.report(
            capsys, many_classes, "unit", tmp_path / "r.html", "ConstantClassifier,GaussianNB"
        )
        assert len(data["quality"]["classes"]) == 30
        pairs = data["quality"]["worst_pairs"]
        assert pairs[0]["rows"] >= pairs[-1]["rows"] > 0
        assert all(each["true"] != each["predicted"] for each in pairs)
        assert "Classes that are confused most" in page
        assert 'class="confusion"' not in page  # no table of 900 cells
        assert "15 more classes" in page
        assert data["quality"]["calibration"]["error"] < 0.5


class TestExplain:
    @pytest.fixture
    def model(self, capsys, houses_csv, tmp_path):
        path = tmp_path / "price.theta"
        argv = ["fit", houses_csv, "-t", "price", "--model", "RidgeCV", "-o", path, "-q"]
        assert run(capsys, *argv)[0] == 0
        return path

    def test_a_page_and_a_warning_on_the_training_file(self, capsys, model, houses_csv, tmp_path):
        page = tmp_path / "page.html"
        code, out, err = run(capsys, "explain", model, houses_csv, "--report", page)
        assert code == 0
        assert "the model was trained on" in err
        assert "contributions of the columns" in out
        text = page.read_text()
        assert "The model was trained on" in text
        assert "Five rows explained" in text
        assert "Errors against size" in text

    def test_other_rows_give_no_warning(self, capsys, model, houses, tmp_path):
        path = tmp_path / "other.csv"
        houses[:100].write_csv(path)
        code, out, err = run(capsys, "explain", model, path, "--json")
        assert (code, err) == (0, "")
        data = strict(out)
        assert data["warning"] is None
        assert data["quality"]["rows"] == 100

    def test_json_has_no_nan(self, capsys, tmp_path):
        """Coefficients of few rows whose bootstrap refits miss a class."""
        path, model = tmp_path / "few.csv", tmp_path / "few.theta"
        rows = [f"{i},{'b' if i in (3, 7) else 'a'}" for i in range(12)]
        path.write_text("\n".join(["x,y", *rows]) + "\n")
        argv = ["fit", path, "-t", "y", "--model", "LogisticRegression", "-o", model, "-q"]
        assert run(capsys, *argv, "--cv", 2)[0] in (0, 3)
        code, out, _ = run(capsys, "explain", model, path, "--json")
        assert code == 0
        strict(out)

    def test_inspect_shows_only_parameters_that_were_changed(self, capsys, tmp_path, model):
        out = run(capsys, "inspect", model)[1]
        shown = [
            line.split()[1] for line in out.splitlines() if line.strip().startswith("parameter  ")
        ]
        data = strict(run(capsys, "inspect", model, "--json")[1])
        assert shown == list(data["changed"]) == ["alphas"]
        assert "fit_intercept" in data["parameters"]


class TestPredict:
    def test_intervals_of_numbers(self, capsys, houses_csv, tmp_path):
        model, out = tmp_path / "price.theta", tmp_path / "out.csv"
        argv = ["fit", houses_csv, "-t", "price", "--model", "RidgeCV", "-o", model, "-q"]
        assert run(capsys, *argv)[0] == 0
        how = ["--interval", 0.9, "--keep", "id", "--keep", "price", "-o", out]
        assert run(capsys, "predict", model, houses_csv, *how)[0] == 0
        table = pl.read_csv(out)
        assert table.columns == ["id", "price", "predicted_price", "price_low", "price_high"]
        held = table["price"].is_between(table["price_low"], table["price_high"]).mean()
        assert 0.86 < held < 0.97
        assert table["predicted_price"].is_between(table["price_low"], table["price_high"]).all()

    def test_sets_of_classes(self, capsys, houses_csv, tmp_path):
        model, out = tmp_path / "sold.theta", tmp_path / "out.csv"
        argv = ["fit", houses_csv, "-t", "sold", "--model", "LogisticRegression", "-o", model]
        assert run(capsys, *argv, "-q")[0] == 0
        assert run(capsys, "predict", model, houses_csv, "--interval", 0.99, "-o", out)[0] == 0
        table = pl.read_csv(out)
        assert table.columns == ["sold", "sold_set", "P(no)", "P(yes)"]
        assert set(table["sold_set"]) <= {"no", "yes", "no|yes"}
        assert "no|yes" in set(table["sold_set"])

    @pytest.mark.parametrize(
        ("argv", "words"),
        [
            (["--interval", 1.5], "--interval 1.5: must lie between 0 and 1"),
            (["--interval", 0.999], "needs the errors of at least 1999 held-out rows"),
            (["--keep", "absent"], "--keep absent: there is no column 'absent'"),
        ],
    )
    def test_refusals(self, capsys, houses_csv, tmp_path, argv, words):
        model = tmp_path / "price.theta"
        how = ["-t", "price", "--model", "RidgeCV", "-o", model, "-q", "--cv", 2]
        assert run(capsys, "fit", houses_csv, *how)[0] == 0
        code, out, err = run(capsys, "predict", model, houses_csv, *argv)
        assert (code, out) == (1, "")
        assert words in err


class TestAxes:
    @pytest.mark.parametrize(
        ("low", "high"), [(0, 1), (0, 1e-7), (-3e5, 2e5), (1e6, 1e6 + 3), (0, 4e13), (12, 12.05)]
    )
    def test_numbers_of_an_axis_differ_and_fit(self, low, high):
        frame = svg.Frame((low, high), (low, high), "x", "y", "title")
        texts = [text for _, (text,) in frame._along()]
        assert len(set(texts)) == len(texts) >= 1
        room = svg.WIDTH - frame.left - svg.RIGHT
        assert sum(map(len, texts)) * svg.CHARACTER <= room
        sides = svg.labels_of(svg.ticks(low, high))
        assert max(map(len, sides)) * svg.CHARACTER <= frame.left

    def test_labels_of_one_axis_have_the_same_decimals(self):
        assert svg.labels_of([0.0, 0.25, 0.5]) == ["0", "0.25", "0.50"]
        assert svg.labels_of([-200_000.0, 0.0, 150_000.0]) == ["−200k", "0", "150k"]
        assert svg.labels_of([1e6, 1.5e6]) == ["1.0M", "1.5M"]

    def test_probabilities_stay_between_0_and_1(self):
        found = PartialDependence(
            "x",
            [0.0, 1.0],
            np.array([0.01, 0.995]),
            np.array([-0.05, 0.97]),
            np.array([0.07, 1.05]),
            "probability of yes",
        )
        text = pictures.effect(found)
        labels = [float(each.replace("−", "-")) for each in re.findall(r">(−?[\d.]+)</text>", text)]
        assert min(labels) >= 0
        assert max(labels) <= 1

    def test_long_names_keep_their_ends(self):
        names = [f"department of internal affairs, number {each}" for each in (1, 2)]
        short = {svg.shortened(name, 20) for name in names}
        assert len(short) == 2
        assert max(map(len, short)) <= 20


class TestLabels:
    def test_names_have_two_lines_and_do_not_overlap(self):
        names = ["existing paid", "100<=X<500", "critical/other existing credit", "W" * 40, "no"]
        frame = Frame((-0.5, 4.5), (0.0, 1.0), "x", "y", "t", x_names=names)
        room = (frame.x(1) - frame.x(0)) - 4
        lines = [wrapped(name, room) for name in names]
        assert all(len(each) <= 2 for each in lines)
        assert all(width_of(line) <= room for each in lines for line in each)
        assert lines[0] == ["existing", "paid"]
        assert lines[4] == ["no"]
        assert frame.y(0.0) + 17 + 13 < frame.height - 8 - 10  # above the label of the axis

    def test_large_numbers_are_short(self):
        assert tidy(1_022_446_211_932.0, 4) == "1.022e12"
        assert tidy(-12_345_678.0) == "−12,345,678"
        assert tidy(1.5e-9) == "1.5e−09"
        assert labels_of([5e12, 1e13, 1.5e13]) == ["5T", "10T", "15T"]


def test_control_characters_of_names_are_shown_as_escapes():
    page = document("\u202etitle", "main {}", "<p>a\x1b[31m\x07\u202eb</p>\n")
    assert "<title>\\u202etitle</title>" in page
    assert "<p>a\\u001b[31m\\u0007\\u202eb</p>\n" in page
