"""Two columns of the same name are refused by fits and predictions, with the name."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import thetahat as th
from thetahat.errors import DataError

TABLE = pd.DataFrame(np.random.default_rng(0).standard_normal((40, 2)), columns=["a", "b"])
Y = TABLE["a"] > 0
REPEATED = "2 columns named 'a', but the names of columns must be distinct"
MODELS = [
    th.LogisticRegression(),
    th.HistGradientBoostingClassifier(max_iter=2),
    th.RandomForestClassifier(2),
    th.GaussianNB(),
    th.KNeighborsClassifier(),
]


def repeated(library):
    if library == "arrow":
        return pa.table([pa.array(TABLE["a"]), pa.array(TABLE["b"])], names=["a", "a"])
    return TABLE.set_axis(["a", "a"], axis=1)


@pytest.mark.parametrize("library", ["pandas", "arrow"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_fit_and_predict_name_the_column(model, library):
    with pytest.raises(DataError, match=REPEATED):
        model.fit(repeated(library), Y)
    model.fit(TABLE, Y)
    with pytest.raises(DataError, match=REPEATED):
        model.predict(repeated(library))


def test_a_table_of_text_names_the_column():
    with pytest.raises(DataError, match=REPEATED):
        th.TableVectorizer().fit(repeated("pandas").astype(str))
    with pytest.raises(DataError, match=REPEATED):
        th.HistGradientBoostingClassifier(max_iter=2).fit(repeated("pandas").astype(str), Y)


def test_numbers_as_names_are_refused_alike():
    with pytest.raises(DataError, match="3 columns named 7 and 1 more"):
        th.Ridge().fit(pd.DataFrame(np.eye(5), columns=[7, 7, 7, 8, 8]), np.arange(5.0))
