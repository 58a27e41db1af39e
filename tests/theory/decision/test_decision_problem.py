"""Errors by integration: the worked example, normal densities, any rule, and refusals."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from thetahat.distributions import Poisson

from thetahat.theory import DecisionProblem, GridPosterior, threshold_rule
from thetahat.theory.decision.quadrature import Line, integrate


def triangles():
    return DecisionProblem([0.5, 0.5], [lambda x: 2 - 2 * x, lambda x: 2 * x], bounds=(0, 1))


def normals(priors=(0.3, 0.7)):
    return DecisionProblem(priors, [stats.norm(0, 1), stats.norm(1, 2)], classes=["a", "b"])


def test_the_worked_example():
    problem = triangles()
    x = np.linspace(0.05, 0.95, 7)
    np.testing.assert_allclose(problem.joint(x).sum(axis=1), 1.0)
    np.testing.assert_allclose(problem.posterior(x), np.column_stack([1 - x, x]))
    assert problem.bayes_error() == pytest.approx(1 / 4, abs=1e-14)
    (first, second) = problem.regions()
    assert (first.low, second.high) == (0.0, 1.0)
    assert (first.label, second.label) == (0, 1)
    assert first.high == second.low == pytest.approx(1 / 2, abs=1e-15)
    assert problem.error(problem.prior_rule()) == pytest.approx(1 / 2)


@pytest.mark.parametrize("t", [0.0, 0.1, 0.25, 0.5, 0.77, 1.0])
def test_threshold_rules(t):
    problem = triangles()
    a = problem.error(threshold_rule(t))
    b = problem.error(threshold_rule(t, below=1, above=0))
    assert a == pytest.approx((t - 0.5) ** 2 + 0.25, abs=1e-13)
    assert b == pytest.approx(0.75 - (t - 0.5) ** 2, abs=1e-13)
    assert a + b == pytest.approx(1.0, abs=1e-13)


def test_bookkeeping_of_two_classes():
    found = triangles().errors(threshold_rule(0.7))
    assert found.true_positive == pytest.approx((1 - 0.7**2) / 2)
    assert found.false_negative == pytest.approx(0.7**2 / 2)
    assert found.false_positive == pytest.approx(0.3**2 / 2)
    assert found.true_negative == pytest.approx((1 - 0.3**2) / 2)
    assert found.error == pytest.approx(found.false_positive + found.false_negative)
    assert found.probabilities.sum() == pytest.approx(1.0)
    assert found.error_bound < 1e-10
    costs = [[0, 1], [10, 0]]
    expected = found.false_positive + 10 * found.false_negative
    assert found.expected_cost(costs) == pytest.approx(expected)


def test_two_normals_have_the_error_of_their_distribution_functions():
    problem = normals()
    middle = problem.regions()[1]
    assert [region.label for region in problem.regions()] == ["b", "a", "b"]
    a, b = stats.norm(0, 1), stats.norm(1, 2)
    inside = a.cdf(middle.high) - a.cdf(middle.low), b.cdf(middle.high) - b.cdf(middle.low)
    expected = 0.3 * (1 - inside[0]) + 0.7 * inside[1]
    assert problem.bayes_error() == pytest.approx(expected, abs=1e-13)
    for edge in (middle.low, middle.high):
        ratio = 0.3 * a.pdf(edge) / (0.7 * b.pdf(edge))
        assert ratio == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("shift", [0.0, 1e3, -1e6])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_equal_normals_at_any_place_and_scale(shift, scale):
    laws = [stats.norm(shift, scale), stats.norm(shift + 2 * scale, scale)]
    problem = DecisionProblem([0.5, 0.5], laws)
    assert problem.bayes_error() == pytest.approx(stats.norm.cdf(-1), abs=1e-8)
    (left, _) = problem.regions()
    assert left.high == pytest.approx(shift + scale, abs=1e-6 * scale)


def test_no_rule_is_better_than_the_bayes_rule():
    problem = normals()
    best = problem.bayes_error()
    random = np.random.default_rng(0)
    for t in random.normal(0, 2, 10):
        assert problem.error(threshold_rule(t, below="a", above="b")) >= best - 1e-12
    assert problem.error(problem.likelihood_rule()) > best + 0.01
    assert problem.error(problem.prior_rule()) == pytest.approx(0.3)
    equal = normals((0.5, 0.5))
    assert equal.error(equal.likelihood_rule()) == pytest.approx(equal.bayes_error(), abs=1e-12)


def test_costs_and_rejection():
    problem, costs = normals(), [[0.0, 5.0], [1.0, 0.0]]
    wise = problem.errors(problem.bayes_rule(costs=costs)).expected_cost(costs)
    plain = problem.errors().expected_cost(costs)
    assert wise < plain
    rule = problem.bayes_rule(reject_cost=0.2)
    found = problem.errors(rule)
    assert found.decisions == ("a", "b", "reject")
    x = np.linspace(-12, 13, 400_001)
    joint = problem.joint(x)
    rejected = joint.max(axis=1) / joint.sum(axis=1) < 0.8
    mass = np.trapezoid(joint.sum(axis=1) * rejected, x)
    assert found.rejected == pytest.approx(mass, abs=1e-4)
    assert found.error < problem.bayes_error()
    total = found.error + 0.2 * found.rejected
    assert total == pytest.approx(found.expected_cost([[0, 1], [1, 0]], reject_cost=0.2))
    assert total < problem.bayes_error()


def test_three_classes_and_half_lines():
    laws = [stats.expon(), stats.gamma(3), stats.uniform(0, 2)]
    problem = DecisionProblem([0.2, 0.5, 0.3], laws, bounds=(0, math.inf))
    regions = problem.regions()
    assert [region.label for region in regions] == [0, 2, 1]
    # 0.2·e^{−x} = 0.3/2, and the uniform density ends at 2.
    assert regions[0].high == pytest.approx(math.log(4 / 3), abs=1e-12)
    assert regions[1].high == pytest.approx(2.0, abs=1e-12)
    right = sum(
        prior * (law.cdf(region.high) - law.cdf(region.low))
        for region in regions
        for k, (prior, law) in enumerate(zip(problem.priors, laws, strict=True))
        if k == region.label
    )
    assert problem.bayes_error() == pytest.approx(1 - right, abs=1e-11)
    with pytest.raises(ValueError, match="There are 3 classes"):
        problem.errors().true_positive  # noqa: B018


def test_regions_are_connected_and_cover_the_bounds():
    waves = [lambda x: 1 + np.sin(40 * np.pi * x), lambda x: 1 - np.sin(40 * np.pi * x)]
    problem = DecisionProblem([0.5, 0.5], waves, bounds=(0, 1))
    regions = problem.regions()
    assert len(regions) == 40
    assert (regions[0].low, regions[-1].high) == (0.0, 1.0)
    for left, right in pairwise(regions):
        assert left.high == right.low
        assert left.label != right.label
    edges = [region.high for region in regions[:-1]]
    np.testing.assert_allclose(edges, np.arange(1, 40) / 40, atol=1e-12)
    assert problem.bayes_error() == pytest.approx(0.5 - 1 / np.pi, abs=1e-12)


def test_several_changes_between_two_points_are_found():
    """The rule changes at 0.5, and again much closer than the points at which it is tried."""

    def rule(x):
        return np.select([x < 0.5, x < 0.5 + 1e-9, x < 0.5 + 2e-9], ["a", "b", "c"], "d")

    edges = [region.low for region in triangles().regions(rule)]
    np.testing.assert_allclose(edges, [0, 0.5, 0.5 + 1e-9, 0.5 + 2e-9], atol=1e-15)


def test_many_classes_in_order():
    laws = [stats.norm(k, 0.5) for k in range(20)]
    regions = DecisionProblem(np.full(20, 0.05), laws).regions()
    assert [region.label for region in regions] == list(range(20))
    edges = [region.high for region in regions[:-1]]
    np.testing.assert_allclose(edges, np.arange(19) + 0.5, atol=1e-10)


def test_densities_with_poles_and_of_single_numbers():
    problem = DecisionProblem([0.5, 0.5], [stats.beta(0.5, 0.5), stats.beta(2, 2)], bounds=(0, 1))
    low, high = problem.regions()[1].low, problem.regions()[1].high
    a, b = stats.beta(0.5, 0.5), stats.beta(2, 2)
    expected = (a.cdf(high) - a.cdf(low) + 1 - b.cdf(high) + b.cdf(low)) / 2
    assert problem.bayes_error() == pytest.approx(expected, abs=1e-7)

    def step(x):
        return 2.0 if x < 0.5 else 0.0

    def rest(x):
        return 0.5 if x < 0.5 else 1.5

    assert DecisionProblem([0.5, 0.5], [step, rest], bounds=(0, 1)).bayes_error() == pytest.approx(
        0.125, abs=1e-10
    )


class Law:
    """A distribution with the names of methods that this library uses."""

    def __init__(self, place):
        self._law = stats.norm(place, 0.01)
        self.density, self.quantile = self._law.pdf, self._law.ppf
        self.log_density = self._law.logpdf


def test_distributions_bring_density_and_quantiles():
    problem = DecisionProblem([0.5, 0.5], [Law(1000.0), Law(1000.02)])
    assert problem.bayes_error() == pytest.approx(stats.norm.cdf(-1), abs=1e-9)
    prior = GridPosterior(np.linspace(999, 1001, 4001), Law(1000.0))
    assert prior.variance() == pytest.approx(1e-4, rel=1e-6)


def test_where_no_class_is_possible_the_posterior_is_refused():
    problem = DecisionProblem([0.5, 0.5], [stats.uniform(0, 1), stats.uniform(2, 1)], bounds=(0, 3))
    assert problem.bayes_error() == pytest.approx(0.0, abs=1e-10)
    with pytest.raises(ValueError, match=r"p\(x\) is 0 at x = 1.5"):
        problem.posterior([0.5, 1.5])


@pytest.mark.parametrize("line", [Line(-math.inf, math.inf), Line(-math.inf, math.inf, 5.0, 0.1)])
def test_the_error_of_an_integral_is_known(line):
    found = integrate(lambda x: np.stack([np.exp(-x * x), 1 / (1 + x * x)]), line)
    exact = [np.sqrt(np.pi), np.pi]
    assert np.abs(found.values.sum(axis=1) - exact).max() <= found.error + 1e-13
    assert found.error < 1e-11


@pytest.mark.parametrize("bounds", [(0.0, math.inf), (-math.inf, 0.0), (-1.0, 2.0)])
def test_lines_map_back_and_forth(bounds):
    line = Line(*bounds, scale=2.0)
    x = np.linspace(max(bounds[0], -7.0), min(bounds[1], 7.0), 11)
    np.testing.assert_allclose(line.x(line.t(x)), x, atol=1e-14)
    t = line.t(x)[1:-1]
    slope = (line.x(t + 1e-6) - line.x(t - 1e-6)) / 2e-6
    np.testing.assert_allclose(line.slope(t), slope, rtol=1e-6)
    found = integrate(lambda x: np.exp(-np.abs(x))[None], line)
    expected = sum(1 - math.exp(-abs(end)) for end in bounds)
    assert found.values.sum() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("priors", "densities", "bounds", "message"),
    [
        ([0.5, 0.4], [stats.norm(), stats.norm(1)], (-9, 9), "sum to 0.9"),
        ([1.5, -0.5], [stats.norm(), stats.norm(1)], (-9, 9), r"priors\[1\] = -0.5"),
        ([0.5, 0.5], [stats.norm()], (-9, 9), "Give one prior and one density"),
        ([0.5, 0.5], [stats.norm(), stats.norm(1)], (0, 9), "class 0 integrates to 0.5 from 0"),
        ([0.5, 0.5], [stats.norm(), lambda x: 0 * x], (-9, 9), "class 1 integrates to 0 from"),
        ([0.5, 0.5], [stats.norm(), lambda x: x], (-9, 9), r"densities\[1\] is -"),
        ([0.5, 0.5], [stats.norm(), lambda x: x * np.nan], (-9, 9), r"densities\[1\] is nan"),
        ([0.5, 0.5], [stats.norm(), 3.0], (-9, 9), "must be a function, or have a method pdf"),
        ([0.5, 0.5], [Poisson(2), Poisson(4)], (0, 9), "has probabilities of whole numbers"),
        ([0.5, 0.5], [stats.norm(), stats.norm(1)], (9, -9), "low < high"),
        ([0.5, 0.5], [stats.norm(), stats.norm(1)], (0, np.nan), "a number or infinity"),
    ],
)
def test_refusals(priors, densities, bounds, message):
    with pytest.raises(ValueError, match=message):
        DecisionProblem(priors, densities, bounds=bounds)


def test_rules_take_numbers_and_lists():
    problem = triangles()
    for rule in (problem.bayes_rule(), problem.likelihood_rule(), threshold_rule(0.5)):
        assert rule(0.9) == 1
        assert list(rule([0.1, 0.9])) == [0, 1]
    assert list(problem.prior_rule()([0.1, 0.9])) == [0, 0]


def test_a_rule_answers_for_every_point():
    with pytest.raises(ValueError, match="Return one label for each point"):
        triangles().error(lambda x: 0)
    with pytest.raises(ValueError, match=r"it must be \(2, 2\)"):
        triangles().errors().expected_cost([1.0])
