"""Estimators on one GPU, with the share of the ceiling that each reaches.

    python -m benchmarks.gpu                 # all cases on "cuda", within ten minutes
    python -m benchmarks.gpu --only pca knn  # some of them
    python -m benchmarks.gpu --device cpu --shrink 200   # a trial without a GPU

Data are made on the device and are not timed; everything else in ``fit`` or ``kneighbors`` is,
validation included. The ceiling of a case is the time of its unavoidable products, or of reading
the rows once per iteration, at the rates that are measured first.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch

import thetahat as th


@dataclass
class Rates:
    """Measured ceilings: operations per second, and bytes per second."""

    single: float
    double: float
    memory: float


@dataclass
class Result:
    """One line of the table."""

    case: str
    seconds: float
    limit: float
    floor: float
    quality: str


class Bench:
    """Where and how large the cases are."""

    def __init__(self, device: str, shrink: float) -> None:
        self.device, self.shrink = device, shrink
        self.random = torch.Generator(device=device).manual_seed(0)
        self.rates = Rates(*(self._rate(kind) for kind in (torch.float32, torch.float64)), 1.0)
        self.rates.memory = self._bandwidth()

    def rows(self, n: float, d: int, least: int = 200) -> Any:
        """Standard normal rows, fewer of them in a trial."""
        size = (max(least, int(n / self.shrink)), d)
        return torch.randn(size, device=self.device, generator=self.random)

    def wait(self) -> None:
        if self.device != "cpu":
            torch.cuda.synchronize()

    def seconds(self, function: Callable[[], Any]) -> tuple[float, Any]:
        """The time of one call that ends when the device has finished."""
        self.wait()
        begin = time.perf_counter()
        found = function()
        self.wait()
        return time.perf_counter() - begin, found

    def best(self, function: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
        """The least time of some calls, and the last result."""
        runs = [self.seconds(function) for _ in range(times)]
        return min(seconds for seconds, _ in runs), runs[-1][1]

    def _rate(self, dtype: Any) -> float:
        n = 8192 if self.device != "cpu" else 512
        A = torch.randn((n, n), device=self.device, dtype=dtype)
        return 2 * n**3 / self.best(lambda: A @ A, 5)[0]

    def _bandwidth(self) -> float:
        n = (1 << 30) if self.device != "cpu" else (1 << 22)
        A = torch.randn(n, device=self.device)
        B = torch.empty_like(A)
        return 8 * n / self.best(lambda: B.copy_(A), 5)[0]


def kernel_ridge(bench: Bench) -> Result:
    """Exact kernel ridge regression: the kernel matrix and its Cholesky factor."""
    X = bench.rows(100_000, 20)
    y = torch.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    model = th.KernelRidge(alpha=0.1, kernel="rbf")
    model.fit(X[:3000], y[:3000])
    n, d = X.shape
    seconds, _ = bench.seconds(lambda: model.fit(X, y))
    some = slice(0, 2000)
    rest = y[some] - model.predict(X[some]) - 0.1 * model.dual_coef_[some]
    quality = f"residual of the system {float(rest.abs().max() / y.abs().max()):.1e}"
    floor = (2.0 * n * n * d + n**3 / 3) / bench.rates.single
    return Result(f"KernelRidge {n}×{d}", seconds, 10.0, floor, quality)


def neighbors(bench: Bench) -> Result:
    """Ten nearest neighbours by brute force."""
    X = bench.rows(1_000_000, 128)
    n, d = X.shape
    model = th.NearestNeighbors(n_neighbors=10, algorithm="brute").fit(X)
    model.kneighbors(X[:2000])
    seconds, (_, found) = bench.seconds(lambda: model.kneighbors(X))
    some = torch.randint(n, (50,), device=bench.device, generator=bench.random)
    wide = X.double()
    exact = torch.cdist(wide[some], wide, compute_mode="donot_use_mm_for_euclid_dist")
    true = exact.topk(10, largest=False).indices
    recall = float((found[some][:, :, None] == true[:, None, :]).any(2).double().mean())
    floor = 2.0 * n * n * d / bench.rates.single
    return Result(f"NearestNeighbors k=10 {n}×{d}", seconds, 20.0, floor, f"recall {recall:.4f}")


def k_means(bench: Bench) -> Result:
    """Twenty iterations of k-means from given centres."""
    X, k = bench.rows(10_000_000, 64, least=20_000), 1000
    n, d = X.shape
    model = th.KMeans(k, init=X[:k].cpu().numpy(), n_init=1, max_iter=20, tol=0.0)
    model.set_params(max_iter=2).fit(X[: 50 * k])
    seconds, _ = bench.seconds(lambda: model.set_params(max_iter=20).fit(X))
    # The last centres need labels of their own: 21 assignments.
    floor = 21 * 2.0 * n * k * d / bench.rates.single
    quality = f"loss per row {model.inertia_ / n:.4f} after {model.n_iter_} iterations"
    return Result(f"KMeans k={k} {n}×{d}, 20 iterations", seconds, 1.5, floor, quality)


def logistic(bench: Bench) -> Result:
    """Logistic regression to convergence."""
    X = bench.rows(10_000_000, 100, least=5000)
    n, d = X.shape
    beta = torch.randn(d, device=bench.device, generator=bench.random) / math.sqrt(d)
    y = (
        torch.rand(n, device=bench.device, generator=bench.random) < torch.sigmoid(X @ beta)
    ).long()
    model = th.LogisticRegression()
    model.fit(X[:5000], y[:5000])
    seconds, _ = bench.best(lambda: model.fit(X, y))
    steps = model.solution_.steps
    # Each of the steps + 1 passes reads the rows, and makes a product of them.
    floor = (steps + 1) * max(
        2.0 * n * d * d / bench.rates.single, 4.0 * n * d / bench.rates.memory
    )
    quality = f"largest gradient entry {model.solution_.gap:.1e} after {steps} iterations"
    return Result(f"LogisticRegression {n}×{d}", seconds, 0.4, floor, quality)


def pca(bench: Bench) -> Result:
    """Principal components of few rows of many columns."""
    n, d = 1400, max(2000, int(200_000 / bench.shrink))
    X = torch.randn((n, d), device=bench.device, generator=bench.random)
    model = th.PCA(n_components=100)
    seconds, _ = bench.best(lambda: model.fit(X))
    V = model.components_.double()
    away = float((V @ V.T - torch.eye(len(V), device=bench.device)).abs().max())
    floor = (2.0 * n * n * d + 2.0 * 100 * n * d) / bench.rates.double
    return Result(f"PCA 100 of {n}×{d}", seconds, 0.1, floor, f"VVᵀ − I {away:.1e}")


def mixture(bench: Bench) -> Result:
    """Fifty iterations of expectation-maximisation with full covariances."""
    k, d = 20, 32
    X = bench.rows(2_000_000, d, least=5000)
    n = len(X)
    X += (
        3.0
        * torch.randn((k, d), device=bench.device, generator=bench.random)[
            torch.randint(k, (n,), device=bench.device, generator=bench.random)
        ]
    )
    model = th.GaussianMixture(k, max_iter=50, tol=0.0, random_state=0)
    model.set_params(max_iter=2).fit(X[:5000])
    seconds, _ = bench.seconds(lambda: model.set_params(max_iter=50).fit(X))
    floor = model.n_iter_ * 4.0 * n * k * d * d / bench.rates.single
    quality = f"log-likelihood per row {model.lower_bound_:.4f}, {model.n_iter_} iterations"
    return Result(f"GaussianMixture full k={k} {n}×{d}", seconds, 4.0, floor, quality)


def network(bench: Bench) -> Result:
    """One epoch of a network of two layers of 1024 units; the limit is 1.5 times plain torch."""
    X = bench.rows(1_000_000, 256, least=8192)
    n, d, batch = *X.shape, 4096
    y = torch.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    plain = _plain_epoch(X, y, batch, bench)
    options: dict[str, Any] = dict(
        hidden_layer_sizes=(1024, 1024), batch_size=batch, random_state=0, alpha=0.0
    )

    def epochs(count: int) -> Any:
        return th.MLPRegressor(max_iter=count, n_iter_no_change=count + 1, **options).fit(X, y)

    epochs(1)
    short, _ = bench.seconds(lambda: epochs(1))
    long, model = bench.seconds(lambda: epochs(4))
    seconds = (long - short) / 3
    floor = 6.0 * n * (d * 1024 + 1024 * 1024 + 1024) / bench.rates.single
    quality = f"loss {model.loss_:.4f}; plain torch {plain:.3f} s, ratio {seconds / plain:.2f}"
    return Result(f"MLP (1024, 1024) {n}×{d}, 1 epoch", seconds, 1.5 * plain, floor, quality)


def _plain_epoch(X: Any, y: Any, batch: int, bench: Bench) -> float:
    """Seconds of an epoch of the same network in plain torch."""
    layers = torch.nn
    net = layers.Sequential(
        layers.Linear(X.shape[1], 1024),
        layers.ReLU(),
        layers.Linear(1024, 1024),
        layers.ReLU(),
        layers.Linear(1024, 1),
    ).to(bench.device)
    rule = torch.optim.Adam(net.parameters())

    def epoch() -> None:
        for rows in torch.randperm(len(X), device=bench.device).split(batch):
            rule.zero_grad()
            loss = ((net(X[rows])[:, 0] - y[rows]) ** 2).mean() / 2
            loss.backward()
            rule.step()

    return bench.best(epoch, 3)[0]


CASES = {
    "pca": pca,
    "logistic": logistic,
    "mixture": mixture,
    "kmeans": k_means,
    "network": network,
    "ridge": kernel_ridge,
    "knn": neighbors,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--shrink", type=float, default=1.0, help="divide the numbers of rows")
    parser.add_argument("--only", nargs="*", choices=CASES, default=list(CASES))
    parser.add_argument("--json", help="file for the results")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    bench = Bench(options.device, options.shrink)
    name = torch.cuda.get_device_name() if options.device.startswith("cuda") else "CPU"
    rates = bench.rates
    print(
        f"{name}, torch {torch.__version__}: {rates.single / 1e12:.1f} TFLOP/s float32, "
        f"{rates.double / 1e12:.1f} float64, {rates.memory / 1e12:.2f} TB/s"
    )
    print(f"{'case':46} {'seconds':>8} {'limit':>7} {'ceiling':>8} {'share':>6}  quality")
    results = []
    for key in options.only:
        try:
            found = CASES[key](bench)
        except Exception as failure:  # the other cases are still of interest
            print(f"{key:46} failed: {type(failure).__name__}: {failure}", flush=True)
            continue
        results.append(found)
        print(
            f"{found.case:46} {found.seconds:8.3f} {found.limit:7.2f} {found.floor:8.3f} "
            f"{found.floor / found.seconds:6.0%}  {found.quality}",
            flush=True,
        )
        if options.device != "cpu":
            torch.cuda.empty_cache()
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"rates": asdict(rates), "results": [asdict(each) for each in results]}, file)


if __name__ == "__main__":
    main()
