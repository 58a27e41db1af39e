"""The age of an abalone from its measurements: a real job, end to end.

Reads the CSV that ships with the package, fits several linear models to most of it, says how sure
it is of each, fits the same model from the file without loading it, and draws the predictions with
their intervals.
"""

import time
from pathlib import Path

import numpy as np
import polars

import thetahat as th

OUTPUT = Path("demo-output")


def main() -> None:
    data = th.datasets.load_abalone()
    X, y = polars.DataFrame(data.X, schema=list(data.feature_names)), data.y
    train, test = split(len(y))
    print(
        f"abalone: {len(y)} shells, {X.width} measurements, predict the rings that tell the age\n"
    )

    model = th.LinearRegression().fit(X[train], y[train])
    print(model.summary(), "\n")
    print_table(compare(X, y, train, test))
    print_streamed(data)
    print(f"\npicture: {draw(model, X[test], y[test])}")


def split(n):
    """Four fifths to learn from, one fifth to be judged on."""
    order = np.random.default_rng(0).permutation(n)
    return order[: 4 * n // 5], order[4 * n // 5 :]


def compare(X, y, train, test):
    """Error on rows not seen, solver and time of several losses and penalties."""
    models = {
        "least squares": th.LinearRegression(),
        "ridge, leave-one-out": th.RidgeCV(np.logspace(-3, 3, 50)),
        "Huber": th.LinearModel(th.losses.Huber(delta=2.0), "none"),
        "absolute": th.LinearModel("absolute", "none"),
        "Poisson": th.LinearModel("poisson", "none"),
        "lasso": th.LinearModel("squared", th.penalties.L1(0.01)),
    }
    for name, model in models.items():
        begin = time.perf_counter()
        model.fit(X[train], y[train])
        seconds = time.perf_counter() - begin
        error = np.abs(model.predict(X[test]) - y[test])
        half = 1.96 * error.std() / np.sqrt(len(error))
        yield name, error.mean(), half, 1000 * seconds, model.solution_.solver


def print_table(rows):
    print(f"{'loss and penalty':<22}{'mean error (rings)':>22}{'fit':>11}   solver")
    for name, error, half, milliseconds, solver in rows:
        print(f"{name:<22}{error:>12.3f} ± {half:.3f}  {milliseconds:>9.1f} ms   {solver}")


def print_streamed(data):
    """The same coefficients from the file, read block by block."""
    source = th.scan(data.path, target=data.target_name, features=list(data.feature_names))
    streamed = th.LinearRegression().fit(source)
    whole = th.LinearRegression().fit(data.X, data.y)
    gap = np.abs(streamed.coef_ / whole.coef_ - 1).max()
    print(f"\nfrom the CSV, block by block: the same coefficients (largest difference {gap:.1g})")


def draw(model, X, y):
    """Predictions against the truth, with the band that should hold 95% of new shells."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    low, high = model.predict_interval(X, level=0.95)
    predicted = model.predict(X)
    inside = (low <= y) & (y <= high)
    order = np.argsort(predicted)
    figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
    axes.fill_between(predicted[order], low[order], high[order], color="#cfe3f5", lw=0)
    axes.plot(predicted[order], predicted[order], color="#1f5f99", lw=1.5)
    for rows, colour, label in (
        (inside, "#333333", f"inside the band ({inside.mean():.1%})"),
        (~inside, "#d1495b", f"outside ({1 - inside.mean():.1%})"),
    ):
        axes.scatter(predicted[rows], y[rows], s=9, color=colour, alpha=0.6, lw=0, label=label)
    axes.set_xlabel("predicted rings")
    axes.set_ylabel("counted rings")
    axes.set_title("Abalone not seen in training, with 95% prediction intervals")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    OUTPUT.mkdir(exist_ok=True)
    path = OUTPUT / "abalone.png"
    figure.savefig(path, dpi=150)
    return path


if __name__ == "__main__":
    main()
