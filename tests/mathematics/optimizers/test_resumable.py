"""Fits that end with their process continue from the file of `th.resumable`."""

from contextlib import suppress

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.mathematics.optimizers.resumable import resumable


class Ended(Exception):
    """Stands for a killed process: nothing after the step runs."""


def data(seed, n=200):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 3)) + 2.0 * random.integers(0, 3, size=(n, 1))
    return X, (X[:, 0] + random.standard_normal(n) > 1).astype(int)


def end_after(monkeypatch, steps):
    """End the process after so many steps that were written."""
    write, left = resumable._write, [steps]

    def written(self):
        write(self)
        left[0] -= 1
        if left[0] == 0:
            raise Ended

    monkeypatch.setattr(resumable, "_write", written)


def test_k_means_takes_the_steps_of_a_fit_without_interruption(tmp_path, monkeypatch):
    X, _ = data(0)
    path = tmp_path / "fit.npz"
    expected = th.KMeans(5, random_state=0).fit(X)
    assert expected.n_iter_ > 3
    with monkeypatch.context() as patch:
        end_after(patch, 2)
        with pytest.raises(Ended), th.resumable(path, every=0):
            th.KMeans(5, random_state=0).fit(X)
    assert path.exists()
    steps, keep = [], resumable.keep
    monkeypatch.setattr(resumable, "keep", lambda *given: (steps.append(given), keep(*given)))
    with th.resumable(path, every=0):
        found = th.KMeans(5, random_state=0).fit(X)
    assert not path.exists()
    assert 0 < len(steps) == len(expected.solution_.trace) - 2  # one of two steps is repeated
    assert found.n_iter_ == expected.n_iter_
    assert found.solution_.trace == expected.solution_.trace
    np.testing.assert_array_equal(found.cluster_centers_, expected.cluster_centers_)
    np.testing.assert_array_equal(found.labels_, expected.labels_)


def test_several_fits_in_one_block(tmp_path, monkeypatch):
    X, y = data(1)
    path = tmp_path / "fit.npz"

    def both():
        return [th.LogisticRegression(C=C, solver="newton-cg").fit(X, y) for C in (1.0, 0.1)]

    expected = both()
    with monkeypatch.context() as patch:
        end_after(patch, int(expected[0].n_iter_[0]) + 3)
        with pytest.raises(Ended), th.resumable(path, every=0):
            both()
    with th.resumable(path, every=0):
        found = both()
    for here, there in zip(found, expected, strict=True):
        np.testing.assert_allclose(here.coef_, there.coef_, rtol=1e-5)
    assert found[0].n_iter_[0] == expected[0].n_iter_[0]


def test_the_file_of_another_fit(tmp_path, monkeypatch):
    X, y = data(2)
    path = tmp_path / "fit.npz"
    end_after(monkeypatch, 1)
    with pytest.raises(Ended), th.resumable(path, every=0):
        th.KMeans(3, random_state=0).fit(X)
    monkeypatch.undo()
    with pytest.raises(th.errors.DataError, match="a different fit at position 0"):
        with th.resumable(path):
            th.LogisticRegression(solver="newton-cg").fit(X, y)
    with pytest.raises(th.errors.DataError, match=r"position 0: n_clusters=3, not 4.*Delete"):
        with th.resumable(path):
            th.KMeans(4, random_state=0).fit(X)
    path.write_bytes(b"no snapshot")
    with pytest.raises(th.errors.DataError, match="not a snapshot of a fit"), th.resumable(path):
        pass


def stopped(path, model, *rows, **params):
    with suppress(Ended), th.resumable(path, every=0):
        model.fit(*rows, **params)
        raise Ended


@pytest.mark.parametrize("kind", ["KMeans", "GaussianMixture", "LogisticRegression"])
def test_a_file_of_a_fit_on_other_rows(tmp_path, kind):
    X, y = data(6)
    path = tmp_path / "fit.npz"
    model = {
        "KMeans": th.KMeans(3, random_state=0),
        "GaussianMixture": th.GaussianMixture(2, random_state=0),
        "LogisticRegression": th.LogisticRegression(solver="newton-cg"),
    }[kind]
    stopped(path, model, X, y)
    other = X.copy()
    other[7, 1] += 1e-9
    with pytest.raises(th.errors.DataError, match=r"position 0: other values in X.*Delete"):
        with th.resumable(path):
            model.fit(other, y)
    with pytest.raises(th.errors.DataError, match="200 rows, not 199"), th.resumable(path):
        model.fit(X[1:], y[1:])
    with th.resumable(path):
        model.fit(X.copy(), y)


def test_a_file_of_a_fit_with_other_targets_or_weights(tmp_path):
    X, y = data(7)
    path, model = tmp_path / "fit.npz", th.LogisticRegression(solver="newton-cg")
    stopped(path, model, X, y, sample_weight=np.ones(200))
    with pytest.raises(th.errors.DataError, match="other values in y,"), th.resumable(path):
        model.fit(X, 1 - y, sample_weight=np.ones(200))
    for weight in (None, np.arange(1.0, 201.0)):
        with pytest.raises(th.errors.DataError, match="in sample_weight"), th.resumable(path):
            model.fit(X, y, sample_weight=weight)


def test_a_file_of_a_fit_with_other_settings(tmp_path):
    X, y = data(8)
    path = tmp_path / "fit.npz"
    stopped(path, th.LogisticRegression(C=1.0, solver="newton-cg"), X, y)
    with pytest.raises(th.errors.DataError, match=r"C=1\.0, not 0\.5"), th.resumable(path):
        th.LogisticRegression(C=0.5, solver="newton-cg").fit(X, y)
    with th.resumable(path):
        th.LogisticRegression(C=1.0, solver="newton-cg", max_iter=50, verbose=0).fit(X, y)
    begin = X[:3].copy()
    stopped(path, th.KMeans(3, init=begin, n_init=1), X)
    with pytest.raises(th.errors.DataError, match="init=array of shape"), th.resumable(path):
        th.KMeans(3, init=begin + 1.0, n_init=1).fit(X)


def test_a_generator_as_random_state_is_no_other_setting(tmp_path):
    X, _ = data(9)
    path = tmp_path / "fit.npz"
    stopped(path, th.KMeans(3, random_state=np.random.RandomState(0)), X)
    with th.resumable(path):
        th.KMeans(3, random_state=np.random.RandomState(0)).fit(X)


def test_a_file_of_a_fit_on_rows_of_another_file(tmp_path):
    X, _ = data(10)
    path, table = tmp_path / "fit.npz", tmp_path / "rows.csv"
    np.savetxt(table, X, delimiter=",", header="a,b,c", comments="")
    stopped(path, th.KMeans(3, random_state=0), th.scan(table))
    np.savetxt(table, X[::-1], delimiter=",", header="a,b,c", comments="")
    with pytest.raises(th.errors.DataError, match="other values in X"), th.resumable(path):
        th.KMeans(3, random_state=0).fit(th.scan(table))


def interrupted(path, X, y):
    stopped(path, th.LogisticRegression(solver="newton-cg"), X, y)


def test_a_file_of_a_fit_with_other_columns(tmp_path):
    X, y = data(3)
    path = tmp_path / "fit.npz"
    interrupted(path, X, y)
    with pytest.raises(th.errors.DataError, match=r"fit\.npz.*3 columns, not 2\. Delete"):
        with th.resumable(path):
            th.LogisticRegression(solver="newton-cg").fit(X[:, :2], y)


def test_a_file_cut_in_half(tmp_path):
    X, y = data(4)
    path = tmp_path / "fit.npz"
    interrupted(path, X, y)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(
        th.errors.DataError, match=r": the file '.*fit\.npz' is not a snapshot of a fit.*Delete"
    ):
        with th.resumable(path):
            pass


@pytest.mark.parametrize("value", [np.nan, np.inf, -1e300])
def test_a_file_with_values_that_no_fit_has(tmp_path, value):
    X, y = data(5)
    path = tmp_path / "fit.npz"
    interrupted(path, X, y)
    with np.load(path) as held:
        arrays = dict(held)
    arrays["0"][1] = value
    np.savez(path, **arrays)
    with pytest.raises(th.errors.DataError, match=r"fit\.npz.*finite numbers.*Delete"):
        with th.resumable(path):
            pass


def test_seconds_must_be_positive(tmp_path):
    with pytest.raises(th.errors.ParameterError, match="every=-1"):
        th.resumable(tmp_path / "fit.npz", every=-1)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_a_mixture_takes_the_steps_of_a_fit_without_interruption(tmp_path, monkeypatch, kind):
    X, _ = data(4)
    path = tmp_path / "fit.npz"

    def mixture():
        return th.GaussianMixture(3, covariance_type=kind, tol=1e-6, random_state=0)

    expected = mixture().fit(X)
    before = th.KMeans(3, random_state=0, n_init=1).fit(X).n_iter_
    with monkeypatch.context() as patch:
        end_after(patch, before + 5)
        with pytest.raises(Ended), th.resumable(path, every=0):
            mixture().fit(X)
    with th.resumable(path, every=0):
        found = mixture().fit(X)
    assert found.n_iter_ == expected.n_iter_
    np.testing.assert_allclose(found.lower_bounds_, expected.lower_bounds_, rtol=1e-13)
    np.testing.assert_allclose(found.means_, expected.means_, rtol=1e-12)
    np.testing.assert_allclose(found.covariances_, expected.covariances_, rtol=1e-10, atol=1e-14)
    assert found.lower_bound_ == pytest.approx(expected.lower_bound_, rel=1e-13)


@pytest.mark.parametrize("writes", [1, 10, 29, 31])
def test_steps_before_the_interruption_count_in_max_iter(tmp_path, monkeypatch, writes):
    X, _ = data(11)
    path = tmp_path / "fit.npz"
    models = (
        th.GaussianMixture(
            4, tol=1e-12, max_iter=30, random_state=0, init_params="random_from_data"
        ),
        th.KMeans(3, init=X[:3], tol=0.0, max_iter=4, n_init=1),
    )

    def fitted():
        with pytest.warns(ConvergenceWarning):
            return [clone(model).fit(X) for model in models]

    expected = fitted()
    assert expected[0].n_iter_ == 30
    with monkeypatch.context() as patch:
        end_after(patch, writes)
        with pytest.raises(Ended), th.resumable(path, every=0):
            [clone(model).fit(X) for model in models]
    with th.resumable(path, every=0):
        found = fitted()
    for here, there in zip(found, expected, strict=True):
        assert here.n_iter_ == there.n_iter_
        assert here.solution_.trace == pytest.approx(there.solution_.trace, rel=1e-13)
        assert here.solution_.outcome is there.solution_.outcome
    np.testing.assert_allclose(found[0].means_, expected[0].means_, rtol=1e-11)
    np.testing.assert_array_equal(found[1].cluster_centers_, expected[1].cluster_centers_)


@pytest.mark.parametrize("factor", [0.0, -1.0])
def test_a_file_with_changed_parameters(tmp_path, factor):
    X, _ = data(12)
    path = tmp_path / "fit.npz"
    model = th.GaussianMixture(2, random_state=0)
    stopped(path, model, X)
    with np.load(path) as held:
        arrays = dict(held)
    arrays["1"] = factor * arrays["1"]
    np.savez(path, **arrays)
    with pytest.raises(th.errors.DataError, match=r"fit\.npz.*fit 1.*changed.*Delete the file"):
        with th.resumable(path):
            model.fit(X)
