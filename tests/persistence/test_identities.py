"""Files know classes by names of their own: code may move, and every file written so far loads."""

import json

import pytest

import thetahat as th
from tests.persistence.golden_files import GOLDEN, models
from thetahat._public import NAMESPACES
from thetahat.catalog import estimators
from thetahat.persistence.classes import class_named, function_named, name_of
from thetahat.persistence.container import read
from thetahat.persistence.identities import (
    DECLARED,
    FUNCTIONS,
    earlier_paths,
    identified_class,
    identified_function,
    identity_of,
)

PATHS_BEFORE_THERE_WERE_NAMES = 257


@pytest.mark.parametrize("name", DECLARED)
def test_declared_classes_lead_to_what_they_name_and_back(name):
    assert identity_of(identified_class(name)) == name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_declared_functions_lead_to_what_they_name_and_back(name):
    assert identity_of(identified_function(name)) == name


def test_no_other_function_is_taken_from_a_file():
    """Public functions may read and write files; a file must not have them called."""
    for namespace in ("", *(f"{name}." for name in NAMESPACES)):
        module = getattr(th, namespace[:-1]) if namespace else th
        for name in module.__all__:
            assert function_named(f"{namespace}{name}") is None, name


@pytest.mark.parametrize("name", estimators())
def test_a_public_class_is_known_by_its_public_name(name):
    assert name_of(estimators()[name]) == name
    assert class_named(name) is estimators()[name]


def test_declared_names_are_not_public_ones():
    assert not set(th.__all__) & {*DECLARED, *FUNCTIONS}
    assert not any("." in name or ":" in name for name in (*DECLARED, *FUNCTIONS))


def test_earlier_paths_are_all_kept_and_all_lead_somewhere():
    assert len(earlier_paths()) == PATHS_BEFORE_THERE_WERE_NAMES
    for path, name in earlier_paths().items():
        found = class_named(path, refuse=False) or function_named(path)
        assert found is not None, path
        assert found in (class_named(name, refuse=False), function_named(name)), path


def test_golden_files_of_the_first_format_hold_earlier_paths():
    text = [manifest(path) for path in sorted((GOLDEN / "1").glob("*.theta"))]
    assert any(f'"{path}"' in each for each in text for path in earlier_paths())


@pytest.mark.filterwarnings("ignore:FastICA")
def test_a_file_holds_no_path_of_a_module(tmp_path):
    for name, model in models():
        th.save(model, tmp_path / "model.theta")
        assert '"thetahat.' not in manifest(tmp_path / "model.theta"), name


def manifest(path):
    with read(path) as file:
        return json.dumps(file.manifest["model"])
