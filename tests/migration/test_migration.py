"""Programs written for scikit-learn, with the models here in scikit-learn's place."""

import importlib
import inspect
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sklearn.cluster
import sklearn.ensemble
import sklearn.linear_model
import sklearn.metrics
import sklearn.naive_bayes
import sklearn.pipeline
import sklearn.preprocessing
from sklearn.base import BaseEstimator
from sklearn.utils import all_estimators

import thetahat as th
from thetahat.migration.shared import replacement, shared_names


@pytest.fixture
def patched():
    yield th.patch_sklearn()
    th.unpatch_sklearn()


def test_every_learner_of_scikit_learn_that_is_here_is_shared():
    shared = {name for names in shared_names().values() for name in names}
    ours = {name for name, _ in all_estimators() if hasattr(th, name)}
    assert ours <= shared
    assert {"graphical_lasso", "lasso_path", "kneighbors_graph"} <= shared
    assert set(th.functions.__all__) <= shared


def test_functions_that_evaluate_are_not_shared():
    assert replacement(sklearn.metrics.roc_curve) is sklearn.metrics.roc_curve
    assert not any("metrics" in package.__name__ for package in shared_names())


def test_shared_names_take_scikit_learns_parameters():
    """Every parameter of scikit-learn that can be given by name."""
    missing = {}
    for package, names in shared_names().items():
        for name, ours in names.items():
            try:
                theirs = inspect.signature(getattr(package, name)).parameters
            except ValueError:  # compiled classes have no signature
                continue
            if lacking := theirs.keys() - inspect.signature(ours).parameters.keys():
                missing[name] = lacking
    assert not missing


def test_shared_methods_take_scikit_learns_arguments():
    """Every argument of a method of scikit-learn that can be given by name."""
    missing = []
    for package, names in shared_names().items():
        for name, ours in names.items():
            theirs = getattr(package, name)
            if not (inspect.isclass(theirs) and issubclass(theirs, BaseEstimator)):
                continue
            for method, value in inspect.getmembers(theirs, inspect.isfunction):
                there = getattr(ours, method, None)
                if method.startswith(("_", "set_")) or there is None:
                    continue
                known = inspect.signature(there).parameters.values()
                if any(each.kind is each.VAR_KEYWORD for each in known):
                    continue
                asked = inspect.signature(value).parameters.values()
                wanted = {each.name for each in asked if each.kind is not each.VAR_KEYWORD}
                missing += [
                    f"{name}.{method}({each})" for each in wanted - {each.name for each in known}
                ]
    assert not missing


def test_patched_names_are_ours_and_return(patched):
    theirs = sklearn.linear_model._coordinate_descent.Lasso
    assert sklearn.linear_model.Lasso is th.Lasso
    assert sklearn.ensemble.RandomForestClassifier is th.RandomForestClassifier
    assert sklearn.pipeline.Pipeline.__module__ == "sklearn.pipeline"
    assert "sklearn.linear_model.Lasso" in patched.names
    assert f"sklearn.svm ({sum('.svm.' in each for each in patched.names)})" in str(patched)
    th.unpatch_sklearn()
    assert sklearn.linear_model.Lasso is theirs


def test_functions_beside_the_models_are_replaced_and_return(patched):
    theirs = sklearn.cluster._kmeans.k_means
    assert sklearn.cluster.k_means is th.functions.k_means
    assert "sklearn.cluster.k_means" in patched.names
    assert importlib.import_module("thetahat.sklearn.cluster").k_means is th.functions.k_means
    th.unpatch_sklearn()
    assert sklearn.cluster.k_means is theirs
    assert th.patch_sklearn("k_means").names == ("sklearn.cluster.k_means",)


def test_patching_twice_adds_names_and_keeps_scikit_learns(patched):
    th.unpatch_sklearn()
    theirs = sklearn.linear_model.Lasso
    assert th.patch_sklearn("Lasso").names == ("sklearn.linear_model.Lasso",)
    assert len(th.patch_sklearn("Ridge", "Lasso").names) == 2
    assert len(th.patch_sklearn().names) == len(patched.names)
    th.unpatch_sklearn()
    th.unpatch_sklearn()
    assert sklearn.linear_model.Lasso is theirs


def test_an_unknown_name_is_refused_and_nothing_is_replaced():
    theirs = sklearn.linear_model.Ridge
    with pytest.raises(th.errors.ParameterError, match="'Pipeline' must be the name of a model"):
        th.patch_sklearn("Ridge", "Pipeline")
    assert sklearn.linear_model.Ridge is theirs


def test_scikit_learns_own_models_still_work_while_patched(patched):
    rows = np.random.default_rng(0).normal(size=(60, 3))
    embedding = sklearn.ensemble.RandomTreesEmbedding(n_estimators=3, random_state=0).fit(rows)
    assert embedding.transform(rows).shape[0] == 60
    chosen = sklearn.feature_selection.SelectFromModel(sklearn.linear_model.Lasso(alpha=0.1))
    assert chosen.fit(rows, rows[:, 0]).get_support().tolist() == [True, False, False]


@pytest.mark.parametrize("place", ["linear_model.RidgeClassifier", "naive_bayes.GaussianNB"])
def test_pickles_load_whichever_library_wrote_them(patched, place):
    """Classes of naive_bayes are pickled by their public place, others by a private one."""
    module, _, name = place.partition(".")
    package = importlib.import_module(f"sklearn.{module}")
    rows, labels = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    ours = getattr(package, name)().fit(rows, labels)
    written = pickle.dumps(ours)
    th.unpatch_sklearn()
    theirs = pickle.dumps(getattr(package, name)().fit(rows, labels))
    assert type(pickle.loads(written)) is getattr(th, name)
    th.patch_sklearn()
    loaded = pickle.loads(theirs)
    assert type(loaded).__module__.startswith("sklearn.")
    assert np.array_equal(loaded.predict(rows), ours.predict(rows))
    assert isinstance(ours, getattr(package, name))
    assert type(pickle.loads(pickle.dumps(ours))) is getattr(th, name)


def test_modules_under_the_other_prefix():
    from thetahat.sklearn.ensemble import RandomForestClassifier
    from thetahat.sklearn.linear_model import Lasso
    from thetahat.sklearn.metrics import roc_curve
    from thetahat.sklearn.pipeline import make_pipeline
    from thetahat.sklearn.preprocessing import StandardScaler

    from thetahat.sklearn import linear_model, svm

    assert (Lasso, RandomForestClassifier) == (th.Lasso, th.RandomForestClassifier)
    assert linear_model.Lasso is Lasso
    assert svm.SVC is th.SVC
    assert roc_curve is sklearn.metrics.roc_curve
    assert make_pipeline is sklearn.pipeline.make_pipeline
    assert StandardScaler is sklearn.preprocessing.StandardScaler
    assert sklearn.linear_model.Lasso is not th.Lasso
    assert "Lasso" in dir(linear_model)


@pytest.mark.parametrize("name", sorted(sklearn.__all__))
def test_every_public_name_of_scikit_learn_is_there(name):
    import thetahat.sklearn as ours

    value = getattr(ours, name)
    if inspect.ismodule(value):
        theirs = importlib.import_module(f"sklearn.{name}")
        there = importlib.import_module(f"thetahat.sklearn.{name}")
        assert there is value
        for each in set(getattr(theirs, "__all__", ())) & vars(theirs).keys():
            assert getattr(there, each) is not None
    else:
        assert value is getattr(sklearn, name)


def test_star_imports_and_unknown_names():
    names = {}
    exec("from thetahat.sklearn.linear_model import *", names)
    assert names["Lasso"] is th.Lasso
    with pytest.raises(ImportError, match="cannot import name 'Lazzo'"):
        exec("from thetahat.sklearn.linear_model import Lazzo")
    with pytest.raises(ModuleNotFoundError, match=r"thetahat\.sklearn\.linear_models"):
        importlib.import_module("thetahat.sklearn.linear_models")


def run(*arguments, cwd):
    command = [sys.executable, "-m", "thetahat.patch", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)


@pytest.mark.processes
def test_a_program_runs_without_an_edit(tmp_path):
    (tmp_path / "beside.py").write_text("NAME = 'beside'\n")
    (tmp_path / "program.py").write_text(
        "import sys\n"
        "from beside import NAME\n"
        "from sklearn.linear_model import Lasso\n"
        "from sklearn.model_selection import GridSearchCV\n"
        "if __name__ == '__main__':\n"
        "    print(Lasso.__module__, GridSearchCV.__module__, NAME, sys.argv[1:])\n"
    )
    done = run("program.py", "a", "--b", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    words = "thetahat.models.linear.sparse.lasso sklearn.model_selection._search beside"
    assert done.stdout == f"{words} ['a', '--b']\n"


SEVERAL = """
import json, os, sys
import thetahat as th
from thetahat.patch import main
th.patch_sklearn()
th.unpatch_sklearn()  # what was imported stays
for arguments in json.loads(sys.argv[1]):
    child = os.fork()
    if child == 0:
        sys.exit(main(arguments))
    assert os.waitpid(child, 0)[1] == 0, arguments
"""
"""Patches and runs several programs, each in a process of its own, after importing once."""


@pytest.mark.skipif(sys.platform == "win32", reason="needs forks")
@pytest.mark.processes
def test_a_program_sees_its_path_as_with_plain_python(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "program.py").write_text(
        "import pickle, sys\n"
        "class Own: pass\n"
        "pickle.loads(pickle.dumps(Own()))\n"
        "print(__file__, sys.argv, sys.path[0], __name__)\n"
    )
    (folder / "__main__.py").write_text("print(__file__)\n")
    (tmp_path / "module.py").write_text(
        "import sys\n"
        "from sklearn.linear_model import Lasso\n"
        "print(Lasso.__module__, sys.argv[1:], __name__)\n"
    )
    plain = subprocess.run(
        [sys.executable, "folder/program.py", "a"], cwd=tmp_path, capture_output=True, text=True
    )
    assert str(folder / "program.py") in plain.stdout
    programs = [["folder/program.py", "a"], ["folder"], ["-m", "module", "a", "--b"]]
    done = subprocess.run(
        [sys.executable, "-c", SEVERAL, json.dumps(programs)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        plain.stdout.strip(),
        str(folder / "__main__.py"),
        "thetahat.models.linear.sparse.lasso ['a', '--b'] __main__",
    ]


def test_a_program_that_is_not_there(tmp_path):
    done = run("nothing.py", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("There is no file nothing.py.")
    assert run(cwd=tmp_path).returncode == 2


def test_models_of_scikit_learn_made_earlier_are_pickled(patched):
    th.unpatch_sklearn()
    made = sklearn.naive_bayes.GaussianNB().fit([[0.0], [1.0]], [0, 1])
    th.patch_sklearn()
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is type(made)
    assert again.predict([[0.2]]).tolist() == [0]
    th.unpatch_sklearn()
    assert type(pickle.loads(pickle.dumps(again))) is sklearn.naive_bayes.GaussianNB


def test_what_the_program_put_there_since_stays(monkeypatch):
    monkeypatch.setattr(sklearn.linear_model, "Lasso", sklearn.linear_model.Lasso)  # put back later
    th.patch_sklearn()
    sklearn.linear_model.Lasso = int
    th.unpatch_sklearn()
    assert sklearn.linear_model.Lasso is int


def test_names_with_their_package():
    try:
        assert th.patch_sklearn("sklearn.svm.SVC").names == ("sklearn.svm.SVC",)
        with pytest.raises(th.errors.ParameterError, match="must be the name of a model"):
            th.patch_sklearn(["Lasso"])
    finally:
        th.unpatch_sklearn()
