"""Every public name, and the groups in which the documentation shows them.

Models stand in the group of their room: the folder below ``thetahat/models`` that defines them.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import thetahat
from thetahat._public import NAMES, NAMESPACES

MODELS_CHAPTER = "Models"
FUNCTIONS_CHAPTER = "Functions of everyday use"
NAMESPACES_CHAPTER = "Namespaces"

_FAMILIES = {
    "linear": "Linear models",
    "nonlinear": "Curves",
    "neighbors": "Nearest neighbours",
    "metric": "Metric learning",
    "tree": "Trees",
    "ensemble": "Ensembles",
    "density": "Densities",
    "covariance": "Covariances",
    "generative": "Generative classifiers",
    "decomposition": "Decompositions",
    "mixture": "Mixtures",
    "semi_supervised": "Semi-supervised learning",
    "structured": "Structured outputs",
    "preprocessing": "Preprocessing",
    "baseline": "Baselines",
    "rectangle": "Rectangles",
}
"""Titles of the folders of ``thetahat/models``, in order; others follow under their own names."""

_ROOMS = {
    "least_squares": "least squares",
    "sparse": "sparse",
    "robust": "robust",
    "generalized": "generalised",
    "margin": "margins",
    "stochastic": "stochastic gradients",
    "bayesian": "Bayesian",
    "gradient_boosting": "gradient boosting",
    "adaboost": "AdaBoost",
    "forest": "forests",
    "bagging": "bagging",
    "combination": "combined models",
    "averaging": "model averaging",
    "local": "local fits",
    "reduction": "fewer rows",
    "histogram": "histograms",
    "kernel_density": "kernels",
}
"""Titles of the folders below a family, in order; others follow under their own names."""

_FUNCTIONS = {
    "evaluation": ("Evaluate and compare", "Scores, intervals, tests, curves and searches."),
    "models": ("Functions beside the models", "Paths, drawings and measures of fitted models."),
    "": ("Data, files and settings", "Files of rows and of models, losses, solvers and settings."),
}
"""Titles of the functions of ``th`` by the layer that defines them; the last takes all others."""


@dataclass(frozen=True)
class PublicName:
    """A name users may rely on: ``thetahat.`` + qualified."""

    qualified: str
    value: Any

    @property
    def summary(self) -> str:
        """The first sentence of the docstring."""
        paragraph = (inspect.getdoc(self.value) or "").split("\n\n")[0]
        return " ".join(paragraph.split())


def public_names() -> Iterator[PublicName]:
    """Every public name: those of ``thetahat`` itself, then those of its namespaces.

    What a namespace repeats from ``thetahat`` itself comes once, under the shorter name.
    """
    at_the_top = [getattr(thetahat, name) for name in set(thetahat.__all__) - set(NAMESPACES)]
    for name in sorted(set(thetahat.__all__) - set(NAMESPACES)):
        yield PublicName(name, getattr(thetahat, name))
    for namespace in sorted(NAMESPACES):
        module = getattr(thetahat, namespace)
        for name in sorted(module.__all__):
            value = getattr(module, name)
            if not any(value is known for known in at_the_top):
                yield PublicName(f"{namespace}.{name}", value)


@dataclass(frozen=True)
class Group:
    """Names that stand on one page: a room of models, functions of one kind, or a namespace."""

    chapter: str
    heading: str
    page: str
    about: str
    names: list[PublicName]


def groups(names: list[PublicName]) -> list[Group]:
    """The groups in the order of the index: models by room, functions, namespaces."""
    return [*_rooms(names), *_functions(names), *_namespaces(names)]


def is_model(name: PublicName) -> bool:
    """Whether a name of ``th`` itself is an estimator."""
    return "." not in name.qualified and hasattr(name.value, "fit")


def _rooms(names: list[PublicName]) -> Iterator[Group]:
    by_room: dict[str, list[PublicName]] = {}
    for name in names:
        if is_model(name):
            by_room.setdefault(_room(NAMES[name.qualified]), []).append(name)
    for room in sorted(by_room, key=_place):
        family, _, part = room.partition(".")
        heading = _FAMILIES.get(family, family.replace("_", " ").capitalize())
        if part:
            heading += f": {_ROOMS.get(part, part.replace('_', ' '))}"
        about = _first_sentences(import_module(f"thetahat.models.{room}"))
        yield Group(MODELS_CHAPTER, heading, f"models.{room}", about, by_room[room])


def _room(module: str) -> str:
    """The folders below ``models``: ``linear.sparse`` for the module of the lasso."""
    folders = module.removeprefix("thetahat.models.").split(".")[:-1]
    return ".".join(folders[:2])


def _place(room: str) -> tuple[int, int, str]:
    """The place of a room in the order of the tables above; a family itself comes first."""
    family, _, part = room.partition(".")
    families, parts = list(_FAMILIES), ["", *_ROOMS]
    return (
        families.index(family) if family in families else len(families),
        parts.index(part) if part in parts else len(parts),
        room,
    )


def _functions(names: list[PublicName]) -> Iterator[Group]:
    others = [name for name in names if "." not in name.qualified and not is_model(name)]
    for layer, (heading, about) in _FUNCTIONS.items():
        members = [name for name in others if _layer(name) == layer]
        page = heading.lower().replace(",", "").replace(" ", "_")
        yield Group(FUNCTIONS_CHAPTER, heading, page, about, members)


def _layer(name: PublicName) -> str:
    layer = NAMES[name.qualified].split(".")[1]
    return layer if layer in _FUNCTIONS else ""


def _namespaces(names: list[PublicName]) -> Iterator[Group]:
    for namespace in sorted(NAMESPACES):
        members = [name for name in names if name.qualified.startswith(f"{namespace}.")]
        about = _first_sentences(getattr(thetahat, namespace))
        yield Group(NAMESPACES_CHAPTER, f"th.{namespace}", namespace, about, members)


def _first_sentences(module: Any) -> str:
    return " ".join((inspect.getdoc(module) or "").split("\n\n")[0].split())
