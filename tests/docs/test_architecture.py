"""The pictures of the parts in README and architecture page show the tree as it is."""

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE, NATIVE = ROOT / "thetahat", ROOT / "native"


def picture(path, first, last):
    """The lines of a picture, from one layer to another."""
    text = (ROOT / path).read_text(encoding="utf-8")
    (found,) = re.findall(rf"^ +{first} .*?^ +{last} .*?\n\n", text, re.MULTILINE | re.DOTALL)
    return found


def layers(shown):
    indent = len(shown) - len(shown.lstrip())
    return re.findall(rf"^ {{{indent}}}(\w+)", shown, re.MULTILINE)


def folders(place):
    """Folders below a place that hold sources, at any depth."""
    suffixes = (".py", ".cpp", ".hpp")
    holding = [p.relative_to(place) for p in place.rglob("*") if p.suffix in suffixes]
    return {folder for path in holding for folder in path.parents if folder.name}


@pytest.mark.parametrize("page", ["README.md", "docs/architecture.rst"])
def test_every_layer_is_in_the_picture(page):
    modules = {
        p.stem for p in PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()
    }
    tables = {"_lazy", "_modules", "_public", "errors", "functions", "results"}
    private = {"__init__", "__main__"} | tables
    shown = layers(picture(page, "interfaces", "_native"))
    assert set(shown) == modules - private | {"_native"}


def test_every_folder_is_in_the_picture_of_the_architecture():
    shown = picture("docs/architecture.rst", "interfaces", "_native")
    modules = ["_native", "registry", "catalog", "patch"]
    drawn = Counter([*re.findall(r"(\w+)/", shown), *layers(shown)]) - Counter([*modules, "native"])
    # Counted, because several folders have the same name.
    existing = [*folders(PACKAGE), *folders(NATIVE)]
    assert drawn == Counter(folder.name for folder in existing)


def test_the_families_of_models_are_in_the_picture_of_the_readme():
    shown = picture("README.md", "interfaces", "_native")
    (families,) = re.findall(r"models (.*?)estimator", shown, re.DOTALL)
    assert set(families.split()) == {p.parent.name for p in PACKAGE.glob("models/*/__init__.py")}
