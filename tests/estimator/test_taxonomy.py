"""Every model is generative or discriminative, and parametric or not."""

import json

import pytest
from sklearn.base import DensityMixin, is_classifier, is_regressor

import thetahat as th
from thetahat.catalog import estimators
from thetahat.interfaces.command_line import main

ESTIMATORS = estimators()


def is_model(kind):
    """Whether it predicts labels or numbers, or estimates a density."""
    example = kind._example()
    return is_classifier(example) or is_regressor(example) or isinstance(example, DensityMixin)


MODELS = [name for name, kind in ESTIMATORS.items() if is_model(kind)]


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_kind(name):
    kind = ESTIMATORS[name]
    remedy = f"declare _generative and _parametric in {kind.__module__} or a base class"
    assert kind._generative is not None, remedy
    assert kind._parametric is not None, remedy


def test_nothing_else_has_a_kind():
    assert set(th.taxonomy().kinds) == set(MODELS)


@pytest.mark.parametrize("name", MODELS)
def test_generative_models_draw_rows_and_others_do_not(name):
    kind = ESTIMATORS[name]
    assert hasattr(kind, "sample") == kind._generative
    assert hasattr(kind, "log_density") == kind._generative


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("LogisticRegression", ("discriminative", "parametric")),
        ("LinearSVC", ("discriminative", "parametric")),
        ("Ridge", ("discriminative", "parametric")),
        ("KNeighborsClassifier", ("discriminative", "non-parametric")),
        ("NadarayaWatson", ("discriminative", "non-parametric")),
        ("DecisionTreeClassifier", ("discriminative", "non-parametric")),
        ("RandomForestRegressor", ("discriminative", "non-parametric")),
        ("SVC", ("discriminative", "non-parametric")),
        ("GaussianProcessRegressor", ("discriminative", "non-parametric")),
        ("PrototypeClassifier", ("discriminative", "parametric")),
        ("DensityTree", ("generative", "non-parametric")),
        ("DensityForest", ("generative", "non-parametric")),
    ],
)
def test_kinds_of_the_course(name, expected):
    assert th.taxonomy().kinds[name] == expected


def test_the_table_can_be_filtered_and_printed(capsys):
    found = th.taxonomy()
    assert len(found.names()) == len(found.kinds) == len(found.to_frame())
    by_half = [len(found.names("generative")), len(found.names("discriminative"))]
    assert sum(by_half) == len(found.kinds)
    assert set(found.names(grows="parametric")) > {"Lasso", "HuberRegressor"}
    assert found.to_frame().loc["SVR", "parameters"] == "non-parametric"
    assert main(["methods", "--kinds"]) == 0
    assert capsys.readouterr().out.strip() == str(found)
    assert main(["methods", "--kinds", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["Lasso"] == ["discriminative", "parametric"]
    with pytest.raises(ValueError, match="must be 'generative' or 'discriminative'"):
        found.names("bayesian")
