"""The public names: every name loads, nothing else shows, and editors see the same names."""

import inspect
import subprocess
import sys
from importlib import import_module

import pytest

import thetahat
from tests import public_stub
from thetahat._public import NAMESPACES


@pytest.mark.parametrize("module", public_stub.TABLES)
def test_every_lazy_name_loads(module):
    found = import_module(module)
    for name in found.__all__:
        assert getattr(found, name) is not None


@pytest.mark.parametrize("module", public_stub.TABLES)
def test_stubs_agree_with_the_tables(module):
    """`python -m tests.public_stub` writes them."""
    assert public_stub.place(module).read_text(encoding="utf-8") == public_stub.stub(module)


def test_only_public_names_show():
    shown = subprocess.run(
        [sys.executable, "-c", "import thetahat; print(*dir(thetahat))"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert shown == thetahat.__all__


def test_the_top_holds_estimators_functions_and_namespaces():
    """Results stand in th.results and errors in th.errors."""
    from sklearn.base import BaseEstimator

    values = {
        *("ApproximateSearch", "BallTree", "HoldOut", "KDTree", "MarkovGraph"),
        *("ResponseTransform", "config", "resumable"),
    }
    for name in set(thetahat.__all__) - set(NAMESPACES) - values:
        value = getattr(thetahat, name)
        assert not inspect.isclass(value) or issubclass(value, BaseEstimator), name


def test_a_name_that_moved_is_pointed_out():
    with pytest.raises(AttributeError, match=r"it is th\.errors\.DataError"):
        thetahat.DataError  # noqa: B018
    with pytest.raises(AttributeError, match=r"it is th\.functions\.k_means"):
        thetahat.k_means  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no attribute 'Rigde'$"):
        thetahat.Rigde  # noqa: B018


@pytest.mark.parametrize("name", NAMESPACES)
def test_namespaces_are_modules(name):
    """Under both names the same module, so that every class exists once."""
    module = import_module(f"thetahat.{name}")
    assert module is import_module(NAMESPACES[name])
    assert module.__spec__.name == NAMESPACES[name]


def test_names_and_submodules_of_namespaces_can_be_imported():
    from thetahat.losses import Huber
    from thetahat.losses.custom import loss

    assert Huber is thetahat.losses.Huber
    assert loss is thetahat.loss
    with pytest.raises(ModuleNotFoundError):
        import_module("thetahat.losses.nonsense")


@pytest.mark.parametrize(
    "code",
    [
        "import thetahat.discriminant_analysis",
        "from thetahat.discriminant_analysis import LinearDiscriminantAnalysis",
        "from thetahat import discriminant_analysis",
    ],
)
def test_modules_of_scikit_learn_are_pointed_to_the_names(code):
    words = (
        "sklearn.discriminant_analysis are in .* from thetahat import LinearDiscriminantAnalysis"
    )
    with pytest.raises(ImportError, match=words):
        exec(code, {})


def test_other_modules_that_do_not_exist_get_no_hint():
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'thetahat\.nonsense'$"):
        import_module("thetahat.nonsense")


@pytest.mark.parametrize("name", NAMESPACES)
def test_namespaces_show_their_public_names_alone(name):
    namespace = getattr(thetahat, name)
    assert dir(namespace) == sorted(namespace.__all__)
