"""What a loss declares it gets: standard errors, separation reports, leaf values, probabilities."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
import statsmodels.api
from scipy.special import gammaln, xlogy

import thetahat as th
from tests.mathematics.losses.loss_cases import draw, loss_classes, losses
from thetahat.mathematics.losses.base import (
    BestShift,
    Curved,
    Subdifferentiable,
    Targets,
    UnboundedLikelihood,
)
from thetahat.mathematics.losses.box_dual import BoxDual
from thetahat.mathematics.losses.compiled import compiled
from thetahat.mathematics.losses.families import Family, family_of
from thetahat.mathematics.losses.links import Link, link


@dataclass(frozen=True)
class Silent(Curved):
    """Negative binomial counts with variance μ + μ²/size and μ = e^z; it declares nothing."""

    size: float = 2.0

    name = "silent"
    targets = Targets.NONNEGATIVE
    link = Link.LOG

    def value(self, y, z):
        return (y + self.size) * np.log(self.size + np.exp(z)) - y * z

    def gradient(self, y, z):
        return (y + self.size) * self._share(z) - y

    def curvature(self, y, z):
        return (y + self.size) * self._share(z) * (1 - self._share(z))

    def best_constant(self, y, weight=None):
        return link(Link.LOG, np.asarray(np.average(y, weights=weight)))

    def _share(self, z):
        return 1 / (1 + self.size * np.exp(-z))


@dataclass(frozen=True)
class NegativeBinomial(Silent, UnboundedLikelihood):
    """The same, with all that it can do."""

    name = "negative_binomial"
    steady_curvature = True

    @property
    def family(self):
        r = self.size
        return Family(
            "negative binomial",
            lambda y: gammaln(r) + gammaln(y + 1) - gammaln(y + r) - r * np.log(r),
            lambda y: (y + r) * np.log(r + y) - xlogy(y, y),
        )

    def margins(self, y, z):
        return th.losses.Poisson().margins(y, z)


N = 400
X = np.random.default_rng(0).standard_normal((N, 2))
RATE = np.exp(X @ [0.5, -0.3] + 0.7)
COUNTS = np.random.default_rng(1).negative_binomial(2.0, 2.0 / (2.0 + RATE)).astype(float)


def column(summary, field):
    return np.array([getattr(line, field) for line in summary.coefficients])


def test_a_declared_family_gives_standard_errors_and_intervals():
    model = th.LinearModel(NegativeBinomial(), "none", tol=1e-11).fit(X, COUNTS)
    summary = model.summary()
    family = statsmodels.api.families.NegativeBinomial(alpha=0.5)
    peer = statsmodels.api.GLM(COUNTS, statsmodels.api.add_constant(X), family=family)
    fit = peer.fit(tol=1e-13)
    np.testing.assert_allclose(column(summary, "estimate"), fit.params, rtol=1e-6)
    information = -peer.hessian(fit.params, observed=True)
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    np.testing.assert_allclose(column(summary, "standard_error"), errors, rtol=1e-6)
    assert summary.family == "negative binomial"
    assert summary.deviance == pytest.approx(fit.deviance)
    mean = model.predict(X)
    chances = scipy.stats.nbinom.logpmf(COUNTS, 2.0, 2.0 / (2.0 + mean))
    assert summary.log_likelihood == pytest.approx(chances.sum())
    low, high = model.predict_interval(X)
    assert np.all((low < mean) & (mean < high))


def test_a_loss_without_a_family_has_no_standard_errors():
    model = th.LinearModel(Silent(), "none").fit(X, COUNTS)
    with pytest.raises(th.errors.CapabilityError, match="not for the loss Silent"):
        model.summary()


def test_a_declared_likelihood_reports_separation():
    group = (X[:, 0] > 0.5).astype(float)
    rows, y = np.column_stack([group, X[:, 1]]), np.where(group > 0, 0.0, COUNTS)
    with pytest.warns(th.errors.SeparationWarning, match="rows with y = 0 are separated"):
        th.LinearModel(NegativeBinomial(), "none", tol=1e-8).fit(rows, y)
    with pytest.warns(th.errors.SeparationWarning, match="all targets are 0"):
        th.LinearModel(NegativeBinomial(), "none", tol=1e-8).fit(rows, 0 * y)
    th.LinearModel(Silent(), "none", tol=1e-8).fit(rows, y)  # a warning would be an error


@losses(UnboundedLikelihood)
def test_a_likelihood_falls_where_its_margins_grow(loss):
    y, z = draw(loss, 200)
    margins = loss.margins(y, z)
    assert margins.shape[0] == len(y)
    growing = margins.min(axis=1) > 0
    assert growing.any()
    before, after = loss.value(y, z)[growing], loss.value(y, 3 * z)[growing]
    assert np.all(after < before)
    far = loss.value(y, 500 * z)[growing & (margins.min(axis=1) > 0.1)]
    np.testing.assert_allclose(far, 0.0, atol=1e-12)


def one_split(loss, y):
    """Predictions of one stump with η = 1."""
    model = th.HistGradientBoostingRegressor(
        loss=loss, max_iter=1, max_depth=1, learning_rate=1.0, min_samples_leaf=5
    )
    return model.fit(X, y).predict(X)


def test_a_declared_steady_curvature_gives_newton_leaves():
    loss = NegativeBinomial()
    predicted, start = one_split(loss, COUNTS), loss.best_constant(COUNTS)
    assert len(np.unique(predicted)) == 2
    for value in np.unique(predicted):
        y = COUNTS[predicted == value]
        step = -loss.gradient(y, start).sum() / loss.curvature(y, start).sum()
        assert np.log(value) == pytest.approx(start + step)


def test_other_leaves_are_searched():
    predicted = one_split(Silent(), COUNTS)
    assert len(np.unique(predicted)) == 2
    for value in np.unique(predicted):
        assert value == pytest.approx(COUNTS[predicted == value].mean())


@dataclass(frozen=True)
class Middle(Subdifferentiable):
    """|z − y| once more, which says that medians are its leaf values."""

    name = "middle"

    def value(self, y, z):
        return np.abs(z - y)

    def gradient(self, y, z):
        return np.sign(z - y)

    def best_constant(self, y, weight=None):
        return th.losses.Absolute().best_constant(y, weight)

    @property
    def best_shift(self):
        return BestShift("quantile", 0.5)


def test_a_declared_best_shift_gives_leaf_values():
    y = X[:, 0] + np.random.default_rng(2).standard_t(2, N)
    predicted = one_split(Middle(), y)
    np.testing.assert_array_equal(predicted, one_split(th.losses.Absolute(), y))
    for value in np.unique(predicted):
        assert np.mean(y[predicted == value] < value) == pytest.approx(0.5, abs=0.02)


@dataclass(frozen=True)
class Growth(Curved):
    """e^{−yz}, written again."""

    name = "growth"
    targets = Targets.SIGNS
    link = Link.SIGN
    steady_curvature = True
    half_logit = True

    def value(self, y, z):
        return np.exp(-y * z)

    def gradient(self, y, z):
        return -y * np.exp(-y * z)

    def curvature(self, y, z):
        return np.exp(-y * z)

    def best_constant(self, y, weight=None):
        return th.losses.Exponential().best_constant(y, weight)


def test_a_declared_half_logit_gives_probabilities():
    labels = np.where(X[:, 0] + np.random.default_rng(3).standard_normal(N) > 0, "yes", "no")
    models = [
        th.GradientBoostingClassifier(loss=loss, n_estimators=5, random_state=0).fit(X, labels)
        for loss in (Growth(), "exponential")
    ]
    own, known = (model.predict_proba(X) for model in models)
    np.testing.assert_allclose(own, known, rtol=1e-10)
    z = models[0].decision_function(X)
    np.testing.assert_allclose(own[:, 1], th.losses.sigmoid(2 * z))


def test_formulas_of_a_derived_class_are_its_own():
    """A class that changes the formulas of another must not be taken for it."""

    @dataclass(frozen=True)
    class Twice(th.losses.Poisson):
        name = "twice"

        def value(self, y, z):
            return 2 * super().value(y, z)

    assert compiled(th.losses.Poisson()) is not None
    assert compiled(Twice()) is None
    assert family_of(th.losses.Poisson()).name == "Poisson"
    assert family_of(Twice()) is None


def test_losses_of_several_forms_name_each_other():
    logistic, signs = th.losses.Logistic(), th.losses.SignLogistic()
    assert logistic.with_signs() == signs
    assert signs.with_signs() == signs
    assert logistic.multiclass() == signs.multiclass() == th.losses.SoftmaxCrossEntropy()
    assert th.losses.Exponential().multiclass() is None


@cache
def concrete_losses():
    found = {part.__name__ for part in loss_classes()}
    return found | {"CustomLoss", "FromFunction", "PerOutput", "ReferenceSoftmax"}


def type_checks(path):
    """Where a file asks for a concrete loss: in isinstance, in a comparison or in a table."""
    text = path.read_text()
    if "losses" not in text:  # neither imports one nor names it as an attribute
        return
    tree = ast.parse(text)
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and "losses" in (node.module or "")
        for alias in node.names
        if alias.name in concrete_losses()
    }
    # A loss that is created, or that annotates a name, is a choice and not a question.
    created = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    annotated = {
        id(inner)
        for node in ast.walk(tree)
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if isinstance(part, ast.AST)
        for inner in ast.walk(part)
    }
    chosen = created | annotated
    for node in ast.walk(tree):
        name = getattr(node, "attr", None) if is_loss_attribute(node) else getattr(node, "id", None)
        known = concrete_losses() if is_loss_attribute(node) else imported
        if name in known and id(node) not in chosen:
            yield f"{path}:{node.lineno} asks for {name}"


def is_loss_attribute(node):
    """``losses.Squared`` or ``th.losses.Squared``."""
    return (
        isinstance(node, ast.Attribute)
        and getattr(node.value, "attr", getattr(node.value, "id", None)) == "losses"
    )


def test_only_the_folder_of_losses_knows_their_classes():
    """Elsewhere code asks what a loss declares, so that a loss of one's own is not left out."""
    package = Path(th.__file__).parent
    files = [path for path in package.rglob("*.py") if "losses" not in path.parts]
    assert [each for path in files for each in type_checks(path)] == []


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(loss, Squared)",
        "isinstance(loss, Smooth | Squared)",
        "type(loss) is Squared",
        "type(loss) in (Squared, Other)",
        "table = {Squared: 1}",
        "issubclass(kind, th.losses.Squared)",
        "match loss:\n    case Squared():\n        pass",
    ],
)
def test_questions_for_a_class_are_noticed(line, tmp_path):
    path = tmp_path / "file.py"
    path.write_text(f"from thetahat.mathematics.losses import Squared\n{line}\n")
    assert len([*type_checks(path)]) == 1
    path.write_text("from thetahat.losses import Squared\nloss: Squared = Squared()\n")
    assert not [*type_checks(path)]


@losses()
def test_a_quadratic_loss_is_half_the_squared_residual(loss):
    y, z = draw(loss, 50)
    is_half_a_square = z.ndim == 1 and np.allclose(loss.value(y, z), (z - y) ** 2 / 2)
    assert loss.quadratic == is_half_a_square


@losses(BoxDual)
def test_a_loss_with_a_sparse_dual_is_zero_on_a_range(loss):
    y, _ = draw(loss, 50)
    z = np.linspace(-5.0, 5.0, 2001)
    zero = np.array([np.mean(loss.value(np.full_like(z, one), z) < 1e-12) for one in y])
    if loss.zero_on_a_range:
        assert np.all(zero > 0.01) or getattr(loss, "epsilon", 1.0) == 0.0
    else:
        assert np.all(zero <= 1 / len(z))
