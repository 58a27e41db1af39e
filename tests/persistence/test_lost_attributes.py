"""Model files in which one attribute of a fitted estimator is lost are refused, or answer alike."""

import json
from contextlib import suppress

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import thetahat as th
from tests.persistence import fuzz_worker, golden_files
from thetahat.persistence import container

SAMPLE = (
    "BaggingRegressor",
    "DecisionTreeClassifier",
    "DictionaryLearning",
    "KNeighborsRegressor",
    "MonomialExpansion",
    "PolynomialThreshold",
    "Ridge",
    "SVC",
    "StructuredSVM",
    "TableVectorizer",
)
"""Models of all kinds, and all that are not tried with rows when they are loaded."""


def without_one_field(plain):
    """The plain model once for each field of each object inside, without that field."""

    def fields(holder):
        if isinstance(holder, dict) and "object" in holder:
            yield from ((holder["fields"], key) for key in holder["fields"])
        if isinstance(holder, dict | list):
            for each in holder.values() if isinstance(holder, dict) else holder:
                yield from fields(each)

    for number in range(len(list(fields(plain)))):
        other = json.loads(json.dumps(plain))
        holder, key = list(fields(other))[number]
        del holder[key]
        yield key, other


@pytest.mark.parametrize("name", SAMPLE)
def test_a_lost_attribute_is_noticed_when_the_file_is_loaded(tmp_path, name):
    path = tmp_path / "model.theta"
    th.save(golden_files.fitted(name), path)
    with container.read(path) as file:
        manifest = file.manifest
        arrays = [file.array(place) for place in range(file.n_arrays)]
    refused = set()
    for key, model in without_one_field(manifest["model"]):
        path.write_bytes(container.framed({**manifest, "model": model}, arrays))
        try:
            loaded = th.load(path)
        except th.errors.DataError:
            refused.add(key)
            continue
        with suppress(NotFittedError):
            fuzz_worker.answers(loaded)
    assert refused


@pytest.mark.parametrize("structure", ["chain", th.structures.Chain(2, 2)])
def test_structured_models_are_loaded(tmp_path, structure):
    X = [np.array([[0.0, 1.0], [2.0, 0.5]]), np.array([[1.0, 1.0], [0.0, 3.0]])]
    model = th.StructuredSVM(structure).fit(X, [np.array([0, 1]), np.array([1, 0])])
    th.save(model, tmp_path / "model.theta")
    again = th.load(tmp_path / "model.theta")
    assert np.array_equal(again.weights_, model.weights_)
    assert np.array_equal(again.predict(X), model.predict(X))
