"""Bayes' rule on tables: the worked examples, laws of probability, and refusals."""

import numpy as np
import pytest

from thetahat.theory import BayesTable


def pens():
    axes = {"kind": ["ball", "marker"], "colour": ["red", "blue"]}
    return BayesTable.from_counts([[2, 5], [5, 2]], axes)


def alarm():
    states = BayesTable.of("state", {"fault": 0.03, "fine": 0.97})
    return states.chain(
        "alarm",
        {"fault": {"on": 0.6, "off": 0.4}, "fine": {"on": 0.1, "off": 0.9}},
        given="state",
    )


def three_variables(seed):
    p = np.random.default_rng(seed).dirichlet(np.ones(24)).reshape(2, 3, 4)
    return BayesTable(p, {"a": [0, 1], "b": ["x", "y", "z"], "c": [10, 20, 30, 40]})


def test_pens():
    table = pens()
    assert table.probability({"kind": "ball"}) == pytest.approx(1 / 2, abs=1e-15)
    assert table.probability({"colour": "red"}, given={"kind": "ball"}) == pytest.approx(2 / 7)
    assert table.probability({"colour": "blue"}, given={"kind": "ball"}) == pytest.approx(5 / 7)
    assert table.probability({"colour": "red"}, given={"kind": "marker"}) == pytest.approx(5 / 7)
    assert table.decide("colour", given="kind") == {"marker": "red", "ball": "blue"}
    assert table.bayes_error("colour", given="kind") == pytest.approx(2 / 7)


def test_engineers():
    table = BayesTable.of("job", {"engineer": 0.3, "other": 0.7}).chain(
        "answer",
        {"engineer": {"yes": 0.5, "no": 0.5}, "other": {"yes": 0.22 / 0.7, "no": 0.48 / 0.7}},
        given="job",
    )
    assert table.probability({"answer": "yes"}) == pytest.approx(0.37)
    posterior = table.given({"answer": "yes"})
    assert posterior.probability({"job": "engineer"}) == pytest.approx(0.15 / 0.37)
    assert round(posterior.probability({"job": "engineer"}), 6) == 0.405405


def test_alarm():
    table = alarm()
    assert table.probability({"state": "fault", "alarm": "on"}) == pytest.approx(0.018)
    assert table.probability({"alarm": "on"}) == pytest.approx(0.115)
    assert round(table.probability({"state": "fault"}, given={"alarm": "on"}), 6) == 0.156522


def test_the_sun_has_not_exploded():
    """A detector errs with probability α; it says that the sun exploded, which has prior β."""
    alpha = 1e-4

    def posterior(beta):
        table = BayesTable.of("sun", {1: beta, 0: 1 - beta}).chain(
            "says", {1: {1: 1 - alpha, 0: alpha}, 0: {1: alpha, 0: 1 - alpha}}, given="sun"
        )
        return table.probability({"sun": 1}, given={"says": 1}), table.decide("sun", given="says")

    small, decided = posterior(1e-8)
    assert small == pytest.approx(9.998e-5, rel=1e-4)
    assert decided[1] == 0
    assert posterior(alpha)[0] == 0.5
    assert posterior(0.5)[0] == pytest.approx(1 - alpha, abs=1e-15)
    assert posterior(2 * alpha)[1][1] == 1
    assert posterior(alpha / 2)[1][1] == 0


def test_total_probability_and_chain_rule():
    table = three_variables(0)
    a, b = table.marginal("a"), table.marginal("b")
    total = sum(
        b.probability({"b": value}) * table.probability({"a": 1}, given={"b": value})
        for value in "xyz"
    )
    assert total == pytest.approx(a.probability({"a": 1}))
    rebuilt = a.chain("b", dict(enumerate(_rows(table, "b", "a"))), given="a")
    given_both = {
        (low, high): dict(
            zip([10, 20, 30, 40], table.given({"a": low, "b": high}).probabilities, strict=True)
        )
        for low in (0, 1)
        for high in "xyz"
    }
    rebuilt = rebuilt.chain("c", given_both, given=["a", "b"])
    np.testing.assert_allclose(rebuilt.probabilities, table.probabilities)
    swapped = {(high, low): row for (low, high), row in given_both.items()}
    again = rebuilt.marginal("a", "b").chain("c", swapped, given=["b", "a"])
    np.testing.assert_allclose(again.probabilities, table.probabilities)


def _rows(table, target, given):
    names = table.axes[target]
    return [dict(zip(names, row, strict=True)) for row in table.conditional(target, given)]


def test_marginals_come_in_the_order_that_is_asked_for():
    table = three_variables(1)
    found = table.marginal("c", "a")
    assert list(found.axes) == ["c", "a"]
    np.testing.assert_allclose(found.probabilities, table.probabilities.sum(axis=1).T)
    conditional = table.conditional("a", "c")
    np.testing.assert_allclose(conditional.sum(axis=1), 1.0)
    np.testing.assert_allclose(
        conditional[2, 1], table.probability({"a": 1}, given={"c": 30}), rtol=1e-12
    )


def test_conditioning_twice_is_conditioning_on_both():
    table = three_variables(2)
    step = table.given({"a": 1}).given({"c": 20})
    once = table.given({"c": 20, "a": 1})
    np.testing.assert_allclose(step.probabilities, once.probabilities)
    assert repr(step).startswith("p(b | a = 1, c = 20)")


def test_costs_and_rejection_change_decisions():
    table = alarm()
    assert table.decide("state", given="alarm") == {"on": "fine", "off": "fine"}
    costly = [[0, 10], [1, 0]]
    assert table.decide("state", given="alarm", costs=costly) == {"on": "fault", "off": "fine"}
    assert table.decide("state", given="alarm", reject_cost=0.1) == {"on": None, "off": "fine"}


def test_impossible_values_have_no_decision():
    table = BayesTable([[0.5, 0.0], [0.5, 0.0]], {"y": [0, 1], "x": ["seen", "never"]})
    assert table.decide("y", given="x") == {"seen": 0}
    assert np.isnan(table.conditional("y", "x")[1]).all()
    with pytest.raises(ValueError, match="has probability 0, so that nothing can be conditioned"):
        table.given({"x": "never"})


def test_frames_and_text():
    frame = alarm().to_frame()
    assert frame.loc["fault", "on"] == pytest.approx(0.018)
    assert frame.columns.name == "alarm"
    assert three_variables(3).to_frame().shape == (6, 4)
    assert pens().marginal("kind").to_frame().to_numpy().tolist() == [[0.5, 0.5]]
    assert repr(alarm()).splitlines()[0] == "p(state, alarm)"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BayesTable([0.5, 0.6], {"a": [0, 1]}), "sum to 1.1, but they must sum to 1"),
        (lambda: BayesTable([1.5, -0.5], {"a": [0, 1]}), r"probabilities\[1\] = -0.5"),
        (lambda: BayesTable([0.5, np.nan], {"a": [0, 1]}), "must be finite"),
        (lambda: BayesTable([], {"a": []}), "give at least one probability"),
        (lambda: BayesTable([0.5, 0.5], {"a": [0, 1, 2]}), "Give one axis per variable"),
        (lambda: BayesTable([0.5, 0.5], {"a": [0, 0]}), "has a value twice"),
        (lambda: BayesTable.from_counts([-1, 2], {"a": [0, 1]}), "at least one must be positive"),
        (lambda: BayesTable.from_counts([0, 0], {"a": [0, 1]}), "at least one must be positive"),
        (lambda: pens().marginal("size"), r"no variable 'size'. The variables are \['kind'"),
        (lambda: pens().marginal(), "name at least one variable"),
        (lambda: pens().given({"kind": "quill"}), "has no value 'quill'. Its values are"),
        (lambda: pens().given({"kind": "ball", "colour": "red"}), "leave at least one"),
        (lambda: pens().probability({}), "values is empty"),
        (lambda: pens().probability("ball"), "values='ball' must be a dict"),
        (
            lambda: pens().probability({"kind": "ball"}, given={"kind": "marker"}),
            "variable 'kind' is in values and in given",
        ),
        (lambda: BayesTable.of("a", [0.5, 0.5]), "must be a dict"),
        (lambda: BayesTable([0.5, 0.5], ["a"]), r"axes=\['a'\] must be a dict"),
        (
            lambda: alarm().chain("bell", {"on": [1.0], "off": [1.0]}, given="alarm"),
            r"conditional\['on'\]=\[1.0\] must be a dict",
        ),
        (lambda: alarm().chain("alarm", {}, given="state"), "has a variable 'alarm' already"),
        (lambda: alarm().chain("bell", {"on": {1: 1.0}}, given="alarm"), "lacks 'off'"),
        (
            lambda: alarm().chain("bell", {key: {1: 1.0} for key in ("on", "off", "no")}, "alarm"),
            "unknown value 'no'",
        ),
        (
            lambda: alarm().chain("bell", {"on": {1: 0.4}, "off": {1: 1.0}}, given="alarm"),
            r"row 0 of p\(bell \| alarm\) sum to 0.4",
        ),
    ],
)
def test_refusals(make, message):
    with pytest.raises(ValueError, match=message):
        make()
