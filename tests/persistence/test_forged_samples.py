"""Files whose arrays fit for predictions, but not for drawing rows, are refused."""

import numpy as np
import pytest

import thetahat as th

FORGED = [
    (th.LinearDiscriminantAnalysis(), "_class_means"),
    (th.LinearDiscriminantAnalysis(), "_class_priors"),
    (th.QuadraticDiscriminantAnalysis(), "_class_means"),
    (th.NearestCentroid(), "centroids_"),
    (th.GaussianNB(), "var_"),
    (th.MultinomialNB(), "feature_log_prob_"),
    (th.BernoulliNB(), "class_log_prior_"),
    (th.NaiveBayes(), "class_prior_"),
    (th.BayesClassifier(th.KernelDensity(bandwidth=1.0)), "class_prior_"),
]
CHANGES = {
    "without the last": lambda array: array[:-1],
    "one number": lambda array: array.reshape(-1)[:1],
    "not a number": lambda array: np.full_like(array, np.nan),
}


def fitted(model):
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1, 2], 20)
    return model.fit(rng.integers(0, 5, size=(60, 3)) + 1.0 * y[:, None], y)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    ("model", "name"), FORGED, ids=[f"{type(model).__name__}.{name}" for model, name in FORGED]
)
def test_a_loaded_model_can_draw_rows_or_is_refused(model, name, change, tmp_path):
    fitted(model)
    setattr(model, name, CHANGES[change](getattr(model, name)))
    path = tmp_path / "model.theta"
    th.save(model, path)
    try:
        loaded = th.load(path)
    except th.errors.DataError:
        return
    assert change == "not a number"  # rows of NaN are drawn, but the shapes are right
    assert loaded.sample(5, random_state=0)[0].shape == (5, 3)


@pytest.mark.parametrize("model", [model for model, _ in FORGED], ids=lambda m: type(m).__name__)
def test_a_sound_model_is_loaded_and_draws_the_same_rows(model, tmp_path):
    fitted(model)
    path = tmp_path / "model.theta"
    th.save(model, path)
    loaded = th.load(path)
    np.testing.assert_array_equal(
        loaded.sample(5, random_state=0)[0], model.sample(5, random_state=0)[0]
    )
