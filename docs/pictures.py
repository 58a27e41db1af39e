"""Which examples of the gallery show a public name: the pictures on its page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

GALLERY = Path(__file__).parents[1] / "examples" / "gallery"

SECTIONS = (
    "data_and_features",
    "least_squares",
    "sparse",
    "robust",
    "generalized",
    "margins",
    "kernels",
    "probability",
    "generative",
    "bayesian",
    "components",
    "clusters",
    "manifolds",
    "neighbours",
    "trees",
    "ensembles",
    "boosting",
    "neural",
    "density_and_unlabelled",
    "evaluation",
    "online_and_theory",
    "optimisation",
    "applications",
)
"""The folders of the gallery, in the order a reader meets them."""


@dataclass(frozen=True)
class Example:
    """A script of the gallery: its section, its file name, its title, and the names it uses."""

    section: str
    stem: str
    title: str
    names: frozenset[str]

    @property
    def page(self) -> str:
        """The page of the example, from the root of the documentation."""
        return f"/gallery/{self.section}/{self.stem}"

    @property
    def picture(self) -> str:
        """Where the first figure of the built example lies, from the root of the documentation."""
        return f"/gallery/{self.section}/images/sphx_glr_{self.stem}_001.png"


@cache
def examples() -> tuple[Example, ...]:
    """Every example, section by section, in the order of their file names."""
    found = []
    for path in sorted(GALLERY.glob("*/plot_*.py")):
        text = path.read_text(encoding="utf-8")
        title = text.split('"""')[1].strip().splitlines()[0]
        names = frozenset(re.findall(r"\bth\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?)", text))
        # th.Ridge.fit is a use of th.Ridge, th.losses.Huber of itself.
        names |= {name.split(".")[0] for name in names if name[0].isupper()}
        found.append(Example(path.parent.name, path.stem, title, names))
    return tuple(found)


def showing(name: str) -> list[Example]:
    """The examples that use a name, those about few names first."""
    return sorted((e for e in examples() if name in e.names), key=lambda e: len(e.names))
