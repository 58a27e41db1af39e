"""The recipes of CONTRIBUTING.md: what they name exists, and they name every file a part needs."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = " ".join((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split())

PATH = re.compile(r"\b(?:thetahat|tests|native|examples|docs|benchmarks)/[\w./]*")

RECIPES = {
    "a loss": [
        "thetahat/mathematics/losses/__init__.py",
        "tests/mathematics/losses/loss_cases.py",
        "thetahat/methods.toml",
    ],
    "a penalty": ["thetahat/mathematics/penalties/__init__.py", "thetahat/methods.toml"],
    "a distribution": [
        "thetahat/mathematics/distributions/__init__.py",
        "thetahat/mathematics/distributions/__init__.pyi",
        "tests/mathematics/distributions/distribution_cases.py",
        "tests/mathematics/distributions/fitting/fit_cases.py",
        "thetahat/methods.toml",
    ],
    "a solver": [
        "thetahat/mathematics/optimizers/__init__.py",
        "thetahat/mathematics/optimizers/__init__.pyi",
        "thetahat/objective/choose.py",
        "thetahat/methods.toml",
        "tests/mathematics/optimizers/",
    ],
    "an estimator": [
        "thetahat/_public.py",
        "thetahat/__init__.pyi",
        "thetahat/methods.toml",
        "examples/gallery/",
        "thetahat/persistence/identities.py",
        "tests/persistence/golden/",
        "tests/models/",
        "benchmarks/families/",
    ],
    "a function or a result": [
        "thetahat/_public.py",
        "thetahat/__init__.pyi",
        "thetahat/results.pyi",
        "thetahat/methods.toml",
    ],
    "a compiled kernel (C++)": [
        "native/module.cpp",
        "thetahat/_native.pyi",
        "tests/reference/",
        "tests/native/",
    ],
}
"""The files that a new part of each kind needs, besides its own."""

PARTS = {
    "a loss": "Huber",
    "a penalty": "L1",
    "a distribution": "Poisson",
    "a solver": "ProximalGradient",
    "an estimator": "Lasso",
    "a function or a result": "compare",
    "a compiled kernel (C++)": "pack_rows",
}
"""A part of each kind, to walk its recipe with."""

MAY_BE_ABSENT = {("an estimator", "thetahat/persistence/identities.py")}
"""Files that only some parts need."""


def recipes():
    """Title → text of each "## Add ..." of the page."""
    _, *found = TEXT.split("## Add ")
    return {title: part for part in found for title in RECIPES if part.startswith(title)}


def test_every_recipe_is_known_here():
    assert len(re.findall(r"## Add ", TEXT)) == len(recipes()) == len(RECIPES)


def test_every_path_exists():
    named = set(PATH.findall(TEXT))
    assert len(named) > 30
    for path in named:
        assert (ROOT / path.rstrip(".")).exists(), path


def test_every_module_and_target_exists():
    for module in re.findall(r"python -m ([\w.]+)", TEXT):
        assert find_spec(module), module
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([\w-]+)", TEXT):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_names_every_file_a_part_needs(recipe):
    text = recipes()[recipe]
    for path in RECIPES[recipe]:
        assert f"`{path}`" in text, path


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_part_that_is_there_followed_its_recipe(recipe):
    part = PARTS[recipe]
    for path in RECIPES[recipe]:
        place = ROOT / path
        assert (recipe, path) in MAY_BE_ABSENT or mentions(place, part), path


def mentions(place, part):
    """Whether a file, or any file of a folder, has a part in its name or in its text."""
    files = [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]
    return any(
        re.search(rf"\b{part}\b", path.name)
        or (
            path.suffix not in (".npy", ".theta", ".pyc")
            and re.search(rf"\b(?:bind_)?{part}\b", path.read_text(encoding="utf-8"))
        )
        for path in files
    )
