"""Networks: epochs of Adam beside scikit-learn and PyTorch, an autoencoder, and digits.

A call trains for a fixed number of epochs in single precision. Quality is the mean loss of the
training rows afterwards, which differs between libraries by the random weights and batches.
PyTorch, in eager mode on the CPU, takes part if it is installed.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.harness import OURS, Bar, Call, Case, Contender, Data, Finding, Study

SKLEARN, TORCH = "scikit-learn", "PyTorch"
HAS_TORCH = find_spec("torch") is not None
BATCH, RATE = 200, 0.001
NOISE = 0.05
"""Relative difference of losses that random weights and batches make."""
DIGITS_ACCURACY, DIGITS_SECONDS = 0.98, 20.0


def labelled(rows: int, columns: int) -> Callable[[bool], Data]:
    """Two classes with a curved border."""

    def build(quick: bool) -> Data:
        n = min(rows, 400) if quick else rows
        random = np.random.default_rng(0)
        X = random.standard_normal((n, columns)).astype(np.float32)
        bent = X[:, : columns // 2] @ random.standard_normal((columns // 2, 5))
        y = (np.sin(bent).sum(axis=1) + random.standard_normal(n) > 0).astype(np.int64)
        return {"X": X, "y": y}

    return build


def images(quick: bool) -> Data:
    """The digits of scikit-learn, 1797 × 64, with values from 0 to 1."""
    from sklearn.datasets import load_digits

    X = load_digits().data[: 200 if quick else None]
    return {"X": (X / 16.0).astype(np.float32), "y": None}


def classifier(module: str, units: tuple[int, ...], epochs: int) -> Contender:
    """Fit, and return the probabilities of the training rows."""

    def load() -> Callable[[Data], Call]:
        kind = import_module(module).MLPClassifier

        def prepare(data: Data) -> Call:
            X, y = data["X"], data["y"]

            def call() -> Any:
                model = kind(units, **_settings(epochs, len(X)))
                return _quietly(model, X, y).predict_proba(X)

            return call

        return prepare

    return load


def autoencoder(module: str, hidden: int, codes: int, epochs: int) -> Contender:
    """Fit, and return the reconstructed rows."""

    def load() -> Callable[[Data], Call]:
        library = import_module(module)

        def prepare(data: Data) -> Call:
            X = data["X"]

            def ours() -> Any:
                model = library.Autoencoder(
                    codes,
                    hidden_layer_sizes=(hidden,),
                    code_activation="relu",
                    **_settings(epochs, len(X)),
                )
                return model.inverse_transform(_quietly(model, X, None).transform(X))

            def theirs() -> Any:
                model = library.MLPRegressor(
                    hidden_layer_sizes=(hidden, codes, hidden), **_settings(epochs, len(X))
                )
                return _quietly(model, X, X).predict(X)

            return ours if module == "thetahat" else theirs

        return prepare

    return load


def torch_network(units: tuple[int, ...], epochs: int) -> Contender:
    """The same network in plain PyTorch: layers, Adam, and a loop over batches.

    Without targets it reconstructs its rows.
    """

    def load() -> Callable[[Data], Call]:
        import torch

        def prepare(data: Data) -> Call:
            X = torch.from_numpy(data["X"])
            n, d = X.shape
            y = X if data["y"] is None else torch.from_numpy(data["y"]).float()[:, None]
            loss_of = torch.nn.MSELoss() if data["y"] is None else torch.nn.BCEWithLogitsLoss()
            widths = [d, *units, y.shape[1]]

            def call() -> Any:
                torch.manual_seed(0)
                layers: list[Any] = []
                for inputs, outputs in pairwise(widths):
                    layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
                network = torch.nn.Sequential(*layers[:-1])
                steps = torch.optim.Adam(network.parameters(), lr=RATE)
                for _ in range(epochs):
                    order = torch.randperm(n)
                    for start in range(0, n, BATCH):
                        rows = order[start : start + BATCH]
                        steps.zero_grad()
                        loss_of(network(X[rows]), y[rows]).backward()
                        steps.step()
                with torch.no_grad():
                    z = network(X)
                    if data["y"] is None:
                        return z.numpy()
                    p = torch.sigmoid(z).numpy()
                return np.column_stack([1 - p, p])

            return call

        return prepare

    return load


def _settings(epochs: int, rows: int) -> dict[str, Any]:
    return {
        "batch_size": min(BATCH, rows),
        "learning_rate_init": RATE,
        "alpha": 0.0,
        "max_iter": epochs,
        "tol": 0.0,
        "n_iter_no_change": epochs + 1,
        "random_state": 0,
    }


def _quietly(model: Any, X: Any, y: Any) -> Any:
    """Fit without the warning that the epochs are over."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def log_loss(data: Data, probabilities: Any) -> float:
    p = probabilities[np.arange(len(data["y"])), data["y"]].astype(float)
    return float(-np.log(np.maximum(p, 1e-12)).mean())


def squared_error(data: Data, rows: Any) -> float:
    return float(np.mean((rows - data["X"]) ** 2))


def contenders(
    ours: Contender, theirs: Contender, units: tuple[int, ...], epochs: int
) -> dict[str, Contender]:
    found = {OURS: ours, SKLEARN: theirs}
    return found | ({TORCH: torch_network(units, epochs)} if HAS_TORCH else {})


def bars(scikit_learn: float) -> tuple[Bar, ...]:
    return (Bar(SKLEARN, scikit_learn), *((Bar(TORCH, 1.0),) if HAS_TORCH else ()))


def classification(
    name: str, rows: int, columns: int, units: int, epochs: int, most: float
) -> Case:
    of = [classifier(each, (units,), epochs) for each in ("thetahat", "sklearn.neural_network")]
    return Case(
        name,
        labelled(rows, columns),
        contenders(of[0], of[1], (units,), epochs),
        log_loss,
        "log loss",
        bars=bars(most),
        slack=NOISE,
    )


def _reconstruction() -> Case:
    hidden, codes, epochs = 64, 16, 20
    of = [
        autoencoder(each, hidden, codes, epochs) for each in ("thetahat", "sklearn.neural_network")
    ]
    return Case(
        "autoencoder 64-16-64, digits, 20 epochs",
        images,
        contenders(of[0], of[1], (hidden, codes, hidden), epochs),
        squared_error,
        "mean squared error",
        bars=bars(1.0),
        slack=0.2,
    )


CASES = (
    classification("MLP (256,), 50k × 100, 3 epochs", 50_000, 100, 256, 3, 1 / 2),
    classification("MLP (100,), 500 × 10, 50 epochs", 500, 10, 100, 50, 1.0),
    _reconstruction(),
)


def digits(quick: bool, say: Callable[[str], None]) -> Finding:
    """Accuracy on the digits of scikit-learn by cross-validation, and the seconds of a fit."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import StratifiedKFold

    import thetahat as th

    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    rows = []
    for fold, (train, test) in enumerate(folds.split(X, y)):
        if quick and fold:
            break
        say(f"digits: fold {fold + 1}")
        model = th.MLPClassifier(
            (256, 128),
            dropout=0.3,
            learning_rate_init=0.002,
            max_iter=3 if quick else 60,
            random_state=fold,
        )
        begun = perf_counter()
        _quietly(model, X[train], y[train])
        seconds = perf_counter() - begun
        accuracy = float(model.score(X[test], y[test]))
        rows.append({"fold": fold + 1, "accuracy": accuracy, "seconds": seconds})
    mean = float(np.mean([row["accuracy"] for row in rows]))
    slowest = max(row["seconds"] for row in rows)
    judged = [
        (f"digits: accuracy of at least {DIGITS_ACCURACY:.0%}", mean, mean >= DIGITS_ACCURACY),
        (f"digits: less than {DIGITS_SECONDS:g} s", slowest, slowest < DIGITS_SECONDS),
    ]
    return Finding(rows, {"accuracy": "{:.2%}".format, "seconds": "{:.2f}".format}, judged)


STUDIES = (Study("Digits", digits),)
