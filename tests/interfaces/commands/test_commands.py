"""fit, predict, inspect, explain and bound, run as a user would."""

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import thetahat as th
from tests.interfaces.commands.command_runs import FEW, run
from thetahat.interfaces.command_line import main


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
    @pytest.mark.processes
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

    @pytest.mark.processes
    def test_from_standard_input_into_a_pipe(self, houses):
        text = houses.write_csv()
        models = FEW["regression"]
        run = self.command("compare", "-", "-t", "price", "--models", models, input=text)
        assert run.returncode == 0, run.stderr
        assert "standard input: 240 rows" in run.stderr
        assert "\033" not in run.stdout

    @pytest.mark.processes
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
