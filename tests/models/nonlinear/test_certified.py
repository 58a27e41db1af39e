"""Certified fits: six digits of every parameter and four of its deviation, from both starts."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import curve_fit

import thetahat as th
from thetahat.data.datasets.certified_curves import CURVES

FILES = os.environ.get("THETAHAT_NIST_STRD", "")
"""A folder of .dat files of the reference datasets, for problems beyond those shipped."""

MODELS = {name: model for name, (model, _) in CURVES.items()} | {
    "Lanczos1": CURVES["Lanczos3"][0],
    "Lanczos2": CURVES["Lanczos3"][0],
    "Gauss2": CURVES["Gauss1"][0],
    "Gauss3": CURVES["Gauss1"][0],
    "Chwirut1": CURVES["Chwirut2"][0],
    "Hahn1": CURVES["Thurber"][0],
    "Bennett5": lambda X, b: b[0] * (b[1] + X[:, 0]) ** (-1 / b[2]),
    "Roszman1": lambda X, b: b[0] - b[1] * X[:, 0] - np.arctan(b[2] / (X[:, 0] - b[3])) / np.pi,
}


def digits(found, certified):
    """Correct digits of the worst entry."""
    return -np.log10(max(np.max(np.abs((found - certified) / certified)), 1e-15))


@pytest.mark.parametrize("start", [0, 1], ids=["far", "near"])
@pytest.mark.parametrize("name", CURVES)
def test_certified_fit_from_both_starts(name, start):
    data = th.datasets.load_nonlinear(name)
    model = th.NonlinearRegression(data.model, data.starts[start]).fit(data.X, data.y)
    assert model.solution_.outcome.success
    assert digits(model.theta_, data.theta) >= 8
    assert digits(model.standard_errors_, data.standard_errors) >= 8
    assert model.sigma_ == pytest.approx(data.residual_deviation, rel=1e-9)


@pytest.mark.parametrize("name", ["Misra1a", "MGH09", "Thurber", "BoxBOD", "Eckerle4"])
def test_certified_fit_without_exact_derivatives(name):
    data = th.datasets.load_nonlinear(name)
    for start in data.starts:
        model = th.NonlinearRegression(data.model, start, jacobian="finite-differences")
        model.fit(data.X, data.y)
        assert digits(model.theta_, data.theta) >= 8
        assert digits(model.standard_errors_, data.standard_errors) >= 8


def test_data_without_noise_to_the_last_digits():
    """Lanczos's three decays: the sum of squares at the minimum is 1e-25, all of it rounding."""
    theta = np.array([0.0951, 1.0, 0.8607, 3.0, 1.5576, 5.0])
    X = 0.05 * np.arange(24.0)[:, np.newaxis]
    y = np.array([float(f"{value:.12e}") for value in MODELS["Lanczos1"](X, theta)])
    for start in th.datasets.load_nonlinear("Lanczos3").starts:
        model = th.NonlinearRegression(MODELS["Lanczos1"], start).fit(X, y)
        assert digits(model.theta_, theta) >= 8
        assert 2 * model.solution_.value < 1e-24


@pytest.mark.parametrize(
    ("name", "theta", "sigma", "x", "starts"),
    [
        (
            "Bennett5",
            [-2523.5058043, 46.736564644, 0.93218483193],
            1.8629e-3,
            np.linspace(7.447, 10.97, 154),
            [(-2000, 50, 0.8), (-1500, 45, 0.85)],
        ),
        (
            "Hahn1",
            [
                *(1.0776351733, -0.12269296921, 4.086375061e-3, -1.4262662514e-6),
                *(-5.7609940901e-3, 2.4053735503e-4, -1.2314450199e-7),
            ],
            0.0818,
            np.linspace(14, 851, 236),
            [
                (10, -1, 0.05, -0.00001, -0.05, 0.001, -0.000001),
                (1, -0.1, 0.005, -0.000001, -0.005, 0.0001, -0.0000001),
            ],
        ),
        (
            "Roszman1",
            [0.20196866396, -6.1953516256e-6, 1204.4556708, -181.34269537],
            4.85e-3,
            np.linspace(-4868, -464, 25),
            [(0.1, -0.00001, 1000, -100), (0.2, -0.000005, 1200, -150)],
        ),
    ],
    ids=["Bennett5", "Hahn1", "Roszman1"],
)
def test_hard_shapes_with_simulated_noise(name, theta, sigma, x, starts):
    """Rows made with the certified parameters: both starts and the truth lead to one minimum."""
    X, model = x[:, np.newaxis], MODELS[name]
    y = model(X, np.array(theta)) + sigma * np.random.default_rng(1).standard_normal(len(x))
    expected = th.NonlinearRegression(model, theta).fit(X, y)
    assert expected.sigma_ == pytest.approx(sigma, rel=0.25)
    for start in starts:
        found = th.NonlinearRegression(model, start).fit(X, y)
        np.testing.assert_allclose(found.theta_, expected.theta_, rtol=1e-6)


@pytest.mark.parametrize("name", ["Misra1a", "DanWood", "Rat42", "Kirby2"])
def test_agrees_with_scipy(name):
    data = th.datasets.load_nonlinear(name)
    ours = th.NonlinearRegression(data.model, data.starts[1]).fit(data.X, data.y)
    theirs, covariance = curve_fit(
        lambda X, *b: data.model(X, b), data.X, data.y, p0=data.starts[1], xtol=1e-12, ftol=1e-12
    )
    np.testing.assert_allclose(ours.theta_, theirs, rtol=1e-6)
    np.testing.assert_allclose(ours.covariance_, covariance, rtol=1e-3)


@pytest.mark.skipif(not FILES, reason="THETAHAT_NIST_STRD names no folder of .dat files")
def test_files_of_the_reference_datasets():
    tried = 0
    for path in sorted(Path(FILES).glob("*.dat")):
        if path.stem not in MODELS:
            continue
        lines = path.read_text().splitlines()
        table = [re.match(r"\s*b\d+ =((?:\s+\S+){4})\s*$", line) for line in lines]
        first, second, theta, errors = np.array(
            [row.group(1).split() for row in table if row], dtype=float
        ).T
        rows = np.array([line.split() for line in lines[60:] if line.strip()], dtype=float)
        for start in (first, second):
            model = th.NonlinearRegression(MODELS[path.stem], start).fit(rows[:, 1:], rows[:, 0])
            assert digits(model.theta_, theta) >= 6, path.stem
            if path.stem != "Lanczos1":  # whose residuals are the rounding of y itself
                assert digits(model.standard_errors_, errors) >= 4, path.stem
        tried += 1
    assert tried


def test_unknown_problem_is_refused_with_the_nearest():
    with pytest.raises(th.errors.ParameterError, match="Did you mean 'Misra1a'"):
        th.datasets.load_nonlinear("misra1a")
