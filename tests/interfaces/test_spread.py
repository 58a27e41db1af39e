"""The models that are tried, and what is loaded for them."""

import subprocess
import sys

import pytest

from thetahat.catalog import estimators
from thetahat.interfaces import spread
from thetahat.interfaces.spread import EVERYDAY


def test_the_usual_models_are_those_that_declare_it():
    declared = {name for name, kind in estimators().items() if getattr(kind, "_everyday", None)}
    assert declared == set(EVERYDAY)


@pytest.mark.processes
def test_other_models_are_loaded_only_if_they_are_named():
    """Loading all takes two seconds of computing time."""
    code = (
        "import sys; from thetahat.interfaces.spread import pipelines;"
        "assert 'ridge' in pipelines('regression', {'a': 'numeric'});"
        "assert list(pipelines('regression', {}, ['KNN', 'RidgeCV'])) =="
        "['nearest neighbours', 'ridge'];"
        "print(*[name for name in sys.modules if name.startswith('thetahat.models.manifold')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_names_of_usual_models_mean_the_same_as_among_all_models():
    for task in ("classification", "regression"):
        usual = spread._usual_names(task, spread.everyday(task))
        names = spread._names(task, spread._of_task(task))
        assert usual.items() <= names.items()
        assert "knn" in usual
