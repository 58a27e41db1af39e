"""Abalone: the age of a shellfish from measurements of its body."""

from __future__ import annotations

import numpy as np

from thetahat.data.datasets.dataset import FOLDER, Dataset, read_columns, stack

_DESCRIPTION = """\
4177 abalones from Tasmania: sex, three lengths and four weights of the shell and the body. The age
in years is the number of rings of the shell plus 1.5. Rings have to be counted under a microscope,
so it is useful to predict them. Lengths are in units of 200 mm, weights in units of 200 g.

Source: W. Nash, T. Sellers, S. Talbot, A. Cawthorn, W. Ford (1994), Abalone, UCI Machine Learning
Repository, doi:10.24432/C55C7W. Licence: Creative Commons Attribution 4.0 (CC BY 4.0)."""


def load_abalone() -> Dataset:
    """Load the UCI Abalone data: predict the number of rings from seven body measurements.

    A regression problem, y = xᵀθ + b + noise. The one column that is not a number, ``Sex`` (M, F,
    or I for infant), is in ``categorical``. Data by Nash et al. (1994), UCI Machine Learning
    Repository, doi:10.24432/C55C7W, licence CC BY 4.0. Cost: O(n·d), a file of 190 kB.

    Returns
    -------
    Dataset
        4177 rows, 7 features; ``path`` is the CSV file, whose columns have the same names.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.load_abalone()
    >>> data.X.shape, data.target_name
    ((4177, 7), 'Class_number_of_rings')
    """
    path = FOLDER / "abalone.csv"
    columns = read_columns(path)
    sex = np.array(columns.pop("Sex"))
    *features, target = columns
    return Dataset(
        X=stack(columns, features),
        y=np.array(columns[target], dtype=np.float64),
        feature_names=tuple(features),
        target_name=target,
        description=_DESCRIPTION,
        path=path,
        categorical={"Sex": sex},
    )
