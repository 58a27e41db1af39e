"""Files that are broken, forged or hostile are refused, and nothing of them is run."""

import json
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import thetahat as th
from thetahat.persistence import container

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((60, 3))
Y = X @ [1.0, 2.0, 3.0] + RANDOM.standard_normal(60)
LABELS = np.where(Y > 0, "yes", "no")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Some saved models, each beside rows it can predict."""
    folder = tmp_path_factory.mktemp("models")
    models = {
        "line": (th.LinearRegression().fit(X, Y), X),
        "logistic": (th.LogisticRegression().fit(X, LABELS), X),
        "pipeline": (make_pipeline(StandardScaler(), th.LinearSVC()).fit(X, LABELS), X),
        "sparse": (
            make_pipeline(OneHotEncoder(handle_unknown="ignore"), th.LogisticRegression()).fit(
                X.round(), LABELS
            ),
            X.round(),
        ),
        "bayes": (th.BayesianRidge().fit(X, Y), X),
    }
    for name, (model, rows) in models.items():
        th.save(model, folder / f"{name}.theta")
        np.save(folder / f"{name}.npy", rows)
    return folder


@pytest.mark.parametrize(
    ("seed", "count"),
    [(0, 400), *(pytest.param(k, 3000, marks=pytest.mark.slow) for k in range(4))],
)
@pytest.mark.processes
def test_thousands_of_mutations(folder, seed, count):
    """In a process of its own, so that a crash or a large allocation is seen."""
    script = Path(__file__).with_name("mutations.py")
    run = subprocess.run(
        [sys.executable, "-W", "ignore", str(script), str(folder), str(seed), str(count)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr[-2000:]
    outcomes = json.loads(run.stdout.splitlines()[-1])
    assert outcomes["DataError"] > count / 2
    assert sum(outcomes.values()) == count


@pytest.mark.parametrize("kind", ["cut", "flipped"])
def test_every_damage_is_noticed(folder, tmp_path, kind):
    random = np.random.default_rng(1)
    raw = (folder / "line.theta").read_bytes()
    target = tmp_path / "damaged.theta"
    for place in random.choice(len(raw), 200, replace=False):
        if kind == "cut":
            target.write_bytes(raw[:place])
        else:
            data = bytearray(raw)
            data[place] ^= 1 << int(random.integers(8))
            target.write_bytes(bytes(data))
        with pytest.raises(th.errors.DataError):
            th.load(target)


def forged(folder, tmp_path, change):
    """A file with a right frame and digest around a manifest that `change` made."""
    with container.read(folder / "line.theta") as file:
        manifest = file.manifest
        arrays = [file.array(place) for place in range(file.n_arrays)]
    target = tmp_path / "forged.theta"
    target.write_bytes(container.framed({**manifest, "model": change}, arrays))
    return target


@pytest.mark.parametrize(
    "name",
    [
        "os:system",
        "builtins:eval",
        "subprocess:Popen",
        "thetahat.persistence.model_file:save",
        "thetahat.models.linear.ridge:BaseEstimator",
        "thetahat.models.linear.least_squares.ridge:Ridge",
        "Ridge.fit",
        "losses",
        "results.Solution.theta",
        "minimise",
        "sklearn.svm:SVC",
        "../model:Ridge",
        "",
        ":",
    ],
)
def test_only_known_classes_are_made(folder, tmp_path, name):
    path = forged(folder, tmp_path, {"object": name, "fields": {}})
    with pytest.raises(th.errors.DataError, match="contains the class"):
        th.load(path)


@pytest.mark.parametrize(
    "name", ["os:system", "numpy:load", "numpy:fromfile", "builtins:print", "save", "scan"]
)
def test_only_pure_functions_are_taken(folder, tmp_path, name):
    with pytest.raises(th.errors.DataError, match="files hold no code"):
        th.load(forged(folder, tmp_path, {"function": name}))


@pytest.mark.parametrize("field", ["predict", "__class__", "fit", "not a name", "__dict__"])
def test_methods_are_not_replaced(folder, tmp_path, field):
    plain = {"object": "Ridge", "fields": {field: 1}}
    with pytest.raises(th.errors.DataError, match="holds the field"):
        th.load(forged(folder, tmp_path, plain))


@pytest.mark.parametrize(
    "plain",
    [
        {},
        {"__reduce__": 1},
        {"decode": 1},
        {"array": 99},
        {"array": -1},
        {"array": 0.5},
        {"array": True},
        {"text": [[10**12], "O", []]},
        {"text": [[2], "O", ["a"]]},
        {"text": [[1], "f8", ["a"]]},
        {"text": [[1001], "U", ["a"] * 1000 + ["b" * 10**6]]},
        {"dtype": ["V1000000000000", False]},
        {"sparse": ["csr", [10**12, 1], False, [{"array": 0}] * 3]},
        {"enum": ["Ridge", "x"]},
        {"enum": ["results.Outcome", "NONE"]},
        {"random_state": {"tuple": ["MT19937", [1], 1, 1, 0.0]}},
        {"random_state": {"tuple": ["MT19937", [1] * 624, 10**9, 0, 0.0]}},
        {"random_state": {"tuple": ["MT19937", [1] * 624, -1, 0, 0.0]}},
        {"generator": {"dict": [["bit_generator", "system"]]}},
        {"repeat": [10**12, 1]},
        {"objects": ["Ridge", 10**12], "columns": {}},
        {"objects": ["Ridge", 2], "columns": {"alpha": [1.0]}},
        {"codes": [[3], {"array": 0}]},
        {"codes": [[0], {"array": 0}]},
        {"pieces": [{"array": 0}, {"array": 0}]},
        {"object": "Ridge", "fields": [1]},
        {"sparse": ["csr", [10**30, 2], False, [{"array": 0}] * 3]},
    ],
    ids=lambda plain: "-".join(plain) or "empty",
)
def test_values_that_are_none(folder, tmp_path, plain):
    with pytest.raises(th.errors.DataError):
        th.load(forged(folder, tmp_path, {"object": "Ridge", "fields": {"kept_": plain}}))


@pytest.mark.parametrize(
    "plain",
    [[], 1, "Ridge", {"dtype": ["<f8", True]}, {"tuple": []}, {"array": 0}, {"float": "nan"}],
    ids=repr,
)
def test_what_is_loaded_is_a_model(folder, tmp_path, plain):
    with pytest.raises(th.errors.DataError, match="in the place of a model"):
        th.load(forged(folder, tmp_path, plain))


def test_an_estimator_without_parameters_gets_its_defaults(folder, tmp_path):
    model = th.load(forged(folder, tmp_path, {"object": "Ridge", "fields": {}}))
    assert model.get_params() == th.Ridge().get_params()


def nested(depth):
    plain = {"object": "Ridge", "fields": {}}
    for _ in range(depth):
        step = {"tuple": ["step", plain]}
        plain = {"object": "sklearn.pipeline:Pipeline", "fields": {"steps": [step]}}
    return plain


@pytest.mark.parametrize("depth", [120, 160, 200, 240, 400])
def test_nested_pipelines_are_described_or_refused(folder, tmp_path, depth):
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    path = forged(folder, tmp_path, nested(depth))
    sys.setrecursionlimit(usual)
    with suppress(th.errors.DataError):  # and nothing else
        assert th.describe_file(path).model.count("Pipeline") == depth
    assert th.describe_file(forged(folder, tmp_path, nested(20))).model.count("Pipeline") == 20


BOMBS = {
    "padded text": lambda: [{"text": [[8000], "U", ["a"] * 7999 + ["b" * 10_000]]}] * 12,
    "aliases": lambda: [{"array": 0, "order": "F"}] * 400,
    "empty lists": lambda: [[]] * 3_000_000,
    "empty objects": lambda: [{"tuple": []}] * 1_000_000,
    "one wide letter": lambda: ["x" * 20_000_000 + "\U0001f600"],
    "repeated": lambda: [{"repeat": [10**7, 0]}] * 20,
    "sparse": lambda: (
        [{"sparse": ["csr", [1, 10**6], False, [{"array": 1}, {"array": 2}, {"array": 3}]]}] * 200
    ),
}
"""Values by what they would take, built when they are needed."""

MEASURE = """
import os, resource, sys
import numpy as np, sklearn.pipeline, safetensors, scipy.sparse
import thetahat as th
th.load(sys.argv[1])
for path in sys.argv[2:]:
    child = os.fork()  # of which the peak begins at what is held now
    if child == 0:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            th.load(path)
        except th.errors.DataError as refusal:
            print(refusal, file=sys.stderr, flush=True)
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024, flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, path
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs forks")
@pytest.mark.processes
def test_a_file_takes_no_more_memory_than_its_size_allows(folder, tmp_path):
    """At most 3 times the size of the file and 64 MB, whatever the file says."""
    ten = np.zeros((1250, 1000))
    entries = [np.ones(500_000), np.arange(500_000), np.array([0, 500_000])]
    paths = {name: tmp_path / f"{name}.theta" for name in BOMBS}
    for name, path in paths.items():
        plain = {"object": "Ridge", "fields": {"kept_": BOMBS[name]()}}
        path.write_bytes(container.framed({"model": plain, "versions": {}}, [ten, *entries]))
    run = subprocess.run(
        [sys.executable, "-c", MEASURE, str(folder / "line.theta"), *map(str, paths.values())],
        capture_output=True,
        text=True,
        check=True,
    )
    taken = dict(zip(BOMBS, map(int, run.stdout.split()), strict=True))
    allowed = {name: 3 * path.stat().st_size + 64 * 2**20 for name, path in paths.items()}
    assert {name for name in BOMBS if taken[name] > allowed[name]} == set(), run.stderr


def test_depth_without_end(folder, tmp_path):
    """Nested beyond Python's own limits, in the manifest and in the header around it."""
    text = '{"model":' + '{"tuple":[' * 10_000 + "]}" * 10_000 + "}"
    header = json.dumps({"__metadata__": {"format": "thetahat", "version": "1", "manifest": text}})
    target = tmp_path / "deep.theta"
    target.write_bytes(struct.pack("<Q", len(header)) + header.encode())
    with pytest.raises(th.errors.DataError, match="not JSON"):
        th.load(target)
    target.write_bytes(struct.pack("<Q", 200_000) + b"[" * 100_000 + b"]" * 100_000)
    with pytest.raises(th.errors.DataError, match="not a model file"):
        th.load(target)


def test_what_is_no_model(tmp_path):
    with pytest.raises(th.errors.DataError, match="There is no file"):
        th.load(tmp_path / "absent.theta")
    with pytest.raises(th.errors.DataError, match="There is no file"):
        th.load(tmp_path)
    (tmp_path / "empty.theta").write_bytes(b"")
    with pytest.raises(th.errors.DataError, match="not a model file"):
        th.load(tmp_path / "empty.theta")
    from safetensors.numpy import save_file

    save_file({"x": np.ones(3)}, tmp_path / "other.safetensors")
    with pytest.raises(th.errors.DataError, match="holds no model of thetahat"):
        th.load(tmp_path / "other.safetensors")


def test_a_newer_format_is_said_to_be_newer(folder, tmp_path, monkeypatch):
    newer = container.VERSION + 1
    monkeypatch.setattr(container, "VERSION", newer)
    th.save(th.load(folder / "line.theta"), tmp_path / "newer.theta")
    monkeypatch.setattr(container, "VERSION", newer - 1)
    with pytest.raises(th.errors.DataError, match=rf"format version {newer}.*upgrade"):
        th.load(tmp_path / "newer.theta")


PIECES = {
    "coefficients too long": {"coef_": [1.0, 2.0, 3.0, 4.0]},
    "coefficients too few": {"coef_": [1.0]},
    "several intercepts": {"intercept_": [1.0, 2.0]},
    "no number of columns": {"n_features_in_": None},
    "text in the place of an array": {"intercept_": "text"},
    "lost": {"intercept_": ...},
}


@pytest.mark.parametrize("name", PIECES)
def test_parts_that_do_not_fit_are_refused(tmp_path, name):
    model = th.Ridge().fit(X, Y)
    for key, value in PIECES[name].items():
        if value is ...:
            delattr(model, key)
        else:
            setattr(model, key, np.array(value) if isinstance(value, list) else value)
    th.save(model, tmp_path / "wrong.theta")
    with pytest.raises(th.errors.DataError, match=r"can load|stored value is damaged"):
        th.load(tmp_path / "wrong.theta")


def test_classes_that_do_not_fit_are_refused(tmp_path):
    model = th.LogisticRegression().fit(X, np.digitize(Y, [-1, 1]))
    model.classes_ = model.classes_[:2]
    th.save(model, tmp_path / "wrong.theta")
    with pytest.raises(th.errors.DataError, match="classes_ has 2 labels, coef_ 3"):
        th.load(tmp_path / "wrong.theta")


def test_a_step_without_its_parameters_gets_defaults_or_is_refused(folder, tmp_path):
    inside = {"object": "sklearn.pipeline:Pipeline", "fields": {}}
    with pytest.raises(th.errors.DataError, match="without the parameter 'steps'"):
        th.load(forged(folder, tmp_path, inside))
    scaler = {"object": "sklearn.preprocessing:StandardScaler", "fields": {}}
    loaded = th.load(forged(folder, tmp_path, scaler))
    assert loaded.get_params() == StandardScaler().get_params()


def test_the_number_of_monomials_is_checked_without_counting_to_it(tmp_path):
    model = th.MonomialExpansion(degree=2).fit(X)
    model.n_features_in_, model.degree = 2**40, 2**40
    th.save(model, tmp_path / "wrong.theta")
    with pytest.raises(th.errors.DataError, match="number of monomials"):
        th.load(tmp_path / "wrong.theta")


def test_a_dictionary_of_another_width_is_refused(tmp_path):
    model = th.DictionaryLearning(2, tol=0.1).fit(X)
    model.components_ = model.components_[:, :2]
    th.save(model, tmp_path / "wrong.theta")
    with pytest.raises(th.errors.DataError, match="components_ has 2 entries for 3 columns"):
        th.load(tmp_path / "wrong.theta")


def test_encoders_of_a_table_are_checked(tmp_path):
    model = th.TableVectorizer().fit(X)
    object.__setattr__(model.encoders_[0], "centre", "text")
    th.save(model, tmp_path / "wrong.theta")
    with pytest.raises(th.errors.DataError, match="centre must be a number"):
        th.load(tmp_path / "wrong.theta")
    model = th.TableVectorizer().fit(X)
    object.__setattr__(model.encoders_[0], "name", "absent")
    th.save(model, tmp_path / "wrong.theta")
    with pytest.raises(th.errors.DataError, match="no column"):
        th.load(tmp_path / "wrong.theta")


def test_a_custom_loss_calls_only_functions_that_the_reader_knows(folder, tmp_path):
    """The function is examined again, by a bounded number of calls."""
    calls = []

    def quartic(y, z):
        calls.append(len(y))
        return (z - y) ** 4

    model = th.LinearModel(th.loss(quartic)).fit(X, Y)
    th.save(model, tmp_path / "custom.theta")
    calls.clear()
    with pytest.raises(th.errors.DataError, match="files hold no code"):
        th.load(tmp_path / "custom.theta")
    assert not calls
    name = f"{__name__}:{quartic.__qualname__}"
    th.load(tmp_path / "custom.theta", functions={name: quartic})
    assert 0 < len(calls) < 500
    assert max(calls) < 100
    for known in ("numpy:add", "numpy:exp", "numpy:power", "numpy:bitwise_and"):
        plain = {"object": "CustomLoss", "fields": {"function": {"function": known}}}
        with suppress(th.errors.ThetahatError):  # and nothing else
            th.load(forged(folder, tmp_path, plain))


def test_control_characters_of_a_file_are_shown_as_escapes(tmp_path):
    hostile = "a\x1b[2J\x9b31m\r\nforged line\u202e"
    model = th.LogisticRegression().fit(X, np.where(Y > 0, hostile, "no"))
    model.feature_names_in_ = np.array([hostile, "b", "c"], dtype=object)
    th.save(model, tmp_path / "labels.theta", notes={hostile: hostile})
    found = th.describe_file(tmp_path / "labels.theta")
    assert hostile in found.classes
    text = str(found)
    assert not {"\x1b", "\x9b", "\r", "\u202e"} & set(text)
    assert "\\u001b[2J" in text
    assert not any(line.startswith("forged line") for line in text.splitlines())
