"""One density per class: Bayes' rule, novelty, samples, weights, refusals."""

import pickle

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.covariance import EllipticEnvelope as TheirEnvelope
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KernelDensity as TheirKernelDensity

import thetahat as th
from tests.models.density.density_cases import CENTRES
from thetahat.errors import DataError, ParameterError

OPEN = {"criterion": "entropy", "leaf": "gaussian", "margin": np.inf}
DENSITIES = {
    "default": None,
    "kernel": th.KernelDensity(bandwidth=0.4),
    "histogram": th.Histogram(bins=5, margin=1.0, smoothing=0.1),
    "factorised": th.Histogram(bins=5, margin=1.0, smoothing=0.1, factorised=True),
    "tree": th.DensityTree(**OPEN),
    "forest": th.DensityForest(**OPEN, n_estimators=5, random_state=0),
    "scikit-learn's kernel": TheirKernelDensity(bandwidth=0.4),
    "scikit-learn's mixture": GaussianMixture(random_state=0),
}


def heaps(n=300, seed=0):
    random = np.random.default_rng(seed)
    codes = random.integers(0, 3, n)
    rows = CENTRES[codes] + 0.4 * random.standard_normal((n, 2))
    return rows, np.array(["a", "b", "c"])[codes]


@pytest.mark.parametrize("name", DENSITIES)
def test_bayes_rule_with_any_density(name):
    X, y = heaps()
    model = th.BayesClassifier(DENSITIES[name]).fit(X, y)
    assert model.score(*heaps(200, 1)) > 0.97
    logs = np.column_stack(
        [
            getattr(each, "log_density", each.score_samples)(X) + np.log(np.mean(y == label))
            for each, label in zip(model.densities_, "abc", strict=True)
        ]
    )
    np.testing.assert_allclose(model.predict_joint_log_proba(X), logs)
    joint = np.exp(logs - logs.max(axis=1, keepdims=True))
    wanted = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), wanted, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.log_density(X)), np.exp(logs).sum(axis=1))


@pytest.mark.parametrize("name", DENSITIES)
def test_samples_have_labels_and_new_rows_are_novel(name):
    X, y = heaps()
    model = th.BayesClassifier(DENSITIES[name]).fit(X, y)
    rows, labels = model.sample(300, random_state=0)
    again = model.sample(300, random_state=0)
    np.testing.assert_array_equal(rows, again[0])
    assert (model.predict(rows) == labels).mean() > 0.9
    for label, centre in zip("abc", CENTRES, strict=True):
        assert np.abs(rows[labels == label].mean(axis=0) - centre).max() < 0.6
    threshold = model.novelty_threshold(heaps(300, 2)[0], 0.05)
    assert (model.novelty([[30.0, 30.0]]) > threshold).all()


def test_priors_replace_the_shares_of_the_classes():
    X, y = [[-1.0], [1.0], [1.2]], [0, 1, 1]
    density = th.KernelDensity(bandwidth=1.0)
    given = th.BayesClassifier(density, priors=[0.5, 0.5]).fit(X, y)
    found = th.BayesClassifier(density).fit(X, y)
    np.testing.assert_allclose(found.class_prior_, [1 / 3, 2 / 3])
    ratio = norm.pdf(0.3, -1) / np.mean(norm.pdf(0.3, [1.0, 1.2]))
    for model, odds in ((given, 1.0), (found, 0.5)):
        p = model.posterior([[0.3]])[0]
        assert p[0] / p[1] == pytest.approx(odds * ratio)


def test_weights_are_repetitions():
    X, y = heaps(90)
    weight = np.random.default_rng(1).integers(0, 4, 90)
    for density in (th.KernelDensity(bandwidth=0.5), th.Histogram(bins=4, smoothing=1)):
        weighted = th.BayesClassifier(density).fit(X, y, sample_weight=weight)
        repeated = th.BayesClassifier(density).fit(np.repeat(X, weight, 0), np.repeat(y, weight))
        np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-12)


def test_grid_search_over_the_bandwidth():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        th.BayesClassifier(th.KernelDensity()), {"density__bandwidth": [0.01, 0.3, 30.0]}
    )
    search.fit(X, y)
    assert search.best_params_ == {"density__bandwidth": 0.3}
    assert search.best_score_ > 0.95
    assert cross_val_score(th.BayesClassifier(), X, y).mean() > 0.95


def test_pickle_and_file(tmp_path):
    X, y = heaps(60)
    model = th.BayesClassifier(th.KernelDensity(bandwidth=0.4)).fit(X, y)
    th.save(model, tmp_path / "model.theta")
    for copy in (pickle.loads(pickle.dumps(model)), th.load(tmp_path / "model.theta")):
        np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))


def test_errors_of_a_density_name_the_class():
    X, y = [[0.0], [1.0], [2.0], [5.0]], ["many", "many", "many", "one"]
    with pytest.raises(DataError, match=r"class 'one' \(1 row\).*one sample"):
        th.BayesClassifier(th.Histogram(bins=2)).fit(X, y)
    with pytest.raises(DataError, match=r"class 'one'.*all rows of X are equal"):
        th.BayesClassifier().fit(X, y)
    with pytest.raises(ParameterError, match=r"class 'many' \(3 rows\).*bandwidth=0"):
        th.BayesClassifier(th.KernelDensity(bandwidth=0)).fit(X, y)
    with pytest.raises(DataError, match=r"class 'one'.*no rows of positive weight"):
        th.BayesClassifier(th.KernelDensity()).fit(X, y, sample_weight=[1, 1, 1, 0])


def test_wrong_parameters_are_refused():
    X, y = heaps(30)
    for density in (3, "kernel", th.Ridge()):
        with pytest.raises(ParameterError, match="not a density estimator"):
            th.BayesClassifier(density).fit(X, y)
    with pytest.raises(ParameterError, match="takes no sample_weight"):
        th.BayesClassifier(GaussianMixture()).fit(X, y, sample_weight=np.ones(30))
    for priors in ([0.5, 0.5], [0.5, 0.6, 0.1], [1.5, -0.5, 0.0]):
        with pytest.raises(ParameterError, match=r"[Pp]riors"):
            th.BayesClassifier(th.KernelDensity(), priors=priors).fit(X, y)


class Wrong(th.KernelDensity):
    """A density of a user whose methods return something else."""

    found = logs = drawn = None

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, y, sample_weight)
        return self if self.found is None else self.found

    def log_density(self, X):
        return super().log_density(X) if self.logs is None else type(self).logs(len(X))

    def sample(self, n_samples=1, random_state=None):
        return self.drawn(n_samples)


@pytest.mark.parametrize(
    ("logs", "words"),
    [
        (lambda n: np.full(n, np.nan), "returned nan for row 0"),
        (lambda n: np.r_[np.zeros(n - 1), np.inf], "returned inf for row"),
        (lambda n: 1.0, "returned 1.0, but"),
        (lambda n: np.zeros(n, complex), "complex128"),
        (lambda n: np.zeros((n, 1)), r"shape \(40, 1\)"),
        (lambda n: np.zeros(n + 1), r"shape \(41,\)"),
        (lambda n: "abc", "returned 'abc'"),
        (lambda n: ["a"] * n, "returned \\['a'"),
        (lambda n: [[1.0], [1.0, 2.0]], "returned \\[\\[1.0"),
    ],
)
def test_log_densities_of_a_wrong_density_are_refused(logs, words):
    X, y = heaps(40)
    density = type("Mine", (Wrong,), {"logs": staticmethod(logs)})
    model = th.BayesClassifier(density()).fit(X, y)
    label = model.classes_.tolist()[0]
    with pytest.raises(DataError, match=f"the density Mine of class {label!r} .*{words}"):
        model.predict_proba(X[:40])


def test_other_results_of_a_wrong_density_are_refused():
    X, y = heaps(40)
    fits = type("Mine", (Wrong,), {"found": 3})
    with pytest.raises(th.errors.CapabilityError, match=r"density Mine of class .*fit returned 3"):
        th.BayesClassifier(fits()).fit(X, y)
    draws = type("Mine", (Wrong,), {"drawn": lambda self, n: np.zeros((n, 7))})
    with pytest.raises(DataError, match=r"density Mine of class .*sample returned .*, 7\)"):
        th.BayesClassifier(draws()).fit(X, y).sample(5, random_state=0)
    with pytest.raises(ParameterError, match=r"KernelDensity is a class.*KernelDensity\(\)"):
        th.BayesClassifier(th.KernelDensity).fit(X, y)


@pytest.mark.parametrize(
    "density",
    [
        th.EmpiricalCovariance(),
        th.LedoitWolf(),
        th.GaussianMixture(2, random_state=0),
        th.GaussianMixture(3, covariance_type="diag", random_state=0),
        th.GaussianMixture(2, covariance_type="tied", random_state=0),
        th.GaussianMixture(1, covariance_type="spherical"),
        th.BayesianGaussianMixture(3, random_state=0),
    ],
    ids=lambda density: f"{type(density).__name__}-{getattr(density, 'covariance_type', '')}",
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_classes_of_gaussians_are_scored_together(density):
    """One pass over all components gives what the densities of the classes give."""
    random = np.random.default_rng(6)
    y = random.integers(0, 3, 150)
    X = random.normal(size=(150, 3)) + y[:, None] * [1.0, -0.5, 0.0]
    model = th.BayesClassifier(density).fit(X, y)
    assert model._stack is not None
    new = np.vstack([3.0 * random.normal(size=(40, 3)), [[1e6, 1e6, -1e6]], [[1e200, 0.0, 0.0]]])
    logs = np.column_stack([each.log_density(new) for each in model.densities_])
    expected = logs + np.log(model.class_prior_)
    for rows in (slice(0, 40), slice(40, 41), slice(41, 42)):
        np.testing.assert_allclose(
            model.predict_joint_log_proba(new[rows]), expected[rows], rtol=1e-10, atol=1e-10
        )
    assert model.predict_proba(new[:1].astype(np.float32)).dtype == np.float32


@pytest.mark.filterwarnings("ignore::thetahat.foundation.errors.IllConditionedWarning")
def test_singular_gaussians_are_scored_one_by_one():
    random = np.random.default_rng(2)
    y = np.repeat([0, 1], 20)
    X = random.normal(size=(40, 2)) + y[:, None]
    X = np.column_stack([X, X.sum(axis=1)])
    model = th.BayesClassifier(th.EmpiricalCovariance()).fit(X, y)
    assert model._stack is None
    assert np.isneginf(model.log_density([[0.0, 0.0, 1.0]]))


@pytest.mark.parametrize(
    "density",
    [
        th.Histogram(bins=4),
        th.Histogram(bins=5, smoothing=0.5),
        th.Histogram(bins=3, factorised=True, margin=0.1),
        th.Histogram(discrete=True),
        th.DensityTree(),
        th.DensityTree(max_leaf_nodes=1),
        th.DensityForest(n_estimators=5, random_state=0),
        th.DensityForest(n_estimators=5, margin=0.1, random_state=0),
    ],
    ids=["empty cells", "smoothed", "factorised", "discrete", "tree", "one leaf", "forest", "box"],
)
def test_single_rows_have_the_densities_of_many(density):
    """Also outside of the bins, on their edges, and in empty cells."""
    random = np.random.default_rng(8)
    X, y = random.normal(size=(300, 3)).round(1), np.arange(300) % 2
    if getattr(density, "discrete", False):
        X = np.rint(X)
    model = th.BayesClassifier(density, priors=[0.25, 0.75]).fit(X, y)
    rows = np.vstack([X[:40], X.min(axis=0), X.max(axis=0), X[:4] + 0.05, X[:4] * 9, X[:1] + 1e300])
    expected = np.column_stack([each.log_density(rows) for each in model.densities_])
    expected += np.log([0.25, 0.75])
    found = np.vstack([model.predict_joint_log_proba(row[None]) for row in rows])
    np.testing.assert_array_equal(found, expected)
    assert model._row_tables is not None or model._forests is not None
    assert np.isfinite(found).any()
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(model)).predict_joint_log_proba(rows[:1]), expected[:1]
    )


class Shifted(th.Histogram):
    """A density of a user that is not the one of its class."""

    def log_density(self, X):
        return super().log_density(X) - 1.0


def test_a_density_that_changes_another_is_asked_itself(monkeypatch):
    monkeypatch.setattr(Shifted, "__module__", "thetahat.models.density.shifted")
    X, y = np.random.default_rng(0).normal(size=(60, 1)), np.arange(60) % 2
    plain, shifted = (
        th.BayesClassifier(kind(bins=3)).fit(X, y).predict_joint_log_proba(X[:1])
        for kind in (th.Histogram, Shifted)
    )
    np.testing.assert_allclose(shifted, plain - 1.0)


def test_histograms_of_many_columns_have_cells_of_several_levels():
    random = np.random.default_rng(9)
    X, y = random.normal(size=(60, 40)), np.arange(60) % 2
    model = th.BayesClassifier(th.Histogram(bins=8)).fit(X, y)
    assert len(model.densities_[0]._grids[0].keys) > 1
    rows = np.vstack([X[:10], X[10:20] + 0.2])
    found = np.vstack([model.predict_joint_log_proba(row[None]) for row in rows])
    np.testing.assert_array_equal(found, model.predict_joint_log_proba(rows))
    assert np.isfinite(found).any()


def test_densities_with_long_tables_keep_no_lists():
    X, y = np.linspace(0, 1, 300)[:, None], np.arange(300) % 2
    model = th.BayesClassifier(th.Histogram(bins=20_000)).fit(X, y)
    assert model._row_tables is None
    found = np.vstack([model.predict_joint_log_proba(row[None]) for row in X[:20]])
    np.testing.assert_array_equal(found, model.predict_joint_log_proba(X[:20]))


@pytest.mark.parametrize("density", [th.IsolationForest(), TheirEnvelope()])
def test_scores_of_outlier_detectors_are_no_densities(density):
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    with pytest.raises(ParameterError, match=r"is an outlier detector.*th\.EllipticEnvelope"):
        th.BayesClassifier(density).fit(X, y)
    th.BayesClassifier(th.EllipticEnvelope(random_state=0)).fit(X, y)
