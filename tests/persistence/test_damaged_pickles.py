"""Damaged pickles and files in which compiled code would follow a wrong index are refused."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import thetahat as th

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((30, 3))
Y = np.where(X[:, 0] > 0, "yes", "no")


def with_a_wrong_index(entries):
    """A copy of sparse entries of which one points behind the last column."""
    entries = entries.copy()
    entries.indices[-1] = 2**30
    return entries


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (th.SparseRandomProjection(2, random_state=0).fit(X), "components_"),
        (th.LogisticRegression().fit(X, Y).sparsify(), "coef_"),
        (th.SVC().fit(csr_array(X), Y), "support_vectors_"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_sparse_attributes_are_checked(model, name):
    damaged = pickle.loads(pickle.dumps(model))
    vars(damaged)[name] = with_a_wrong_index(getattr(model, name))
    with pytest.raises(th.errors.DataError, match=f"{name} is no sparse matrix"):
        pickle.loads(pickle.dumps(damaged))


def test_sparse_rows_of_neighbours_are_checked():
    model = th.KNeighborsClassifier(3, algorithm="brute").fit(csr_array(X), Y)
    vars(model._index)["rows"] = with_a_wrong_index(model._index.rows)
    with pytest.raises(th.errors.DataError, match="rows is no sparse matrix"):
        pickle.loads(pickle.dumps(model))


def test_raw_predictions_without_columns_are_refused():
    """Each tree adds to the column whose number is that of the tree modulo their count."""
    trees = th.GradientBoostingClassifier(n_estimators=3).fit(X, Y)._packed
    with pytest.raises(ValueError, match="leaves must hold one number"):
        trees.sum(X, np.zeros((len(X), 0)), 0)


def test_another_degree_does_not_fill_the_memory():
    model = th.PolynomialThreshold().fit(X, Y)
    model._monomials.degree = 255
    with pytest.raises(th.errors.DataError, match="must be the number of monomials"):
        pickle.loads(pickle.dumps(model))


def test_widths_of_tables_agree():
    """Codes are compared with the widths before the tables are read."""
    model = th.CategoricalNB().fit(np.column_stack([np.arange(30) % 2, np.arange(30) % 3]), Y)
    model._sizes = model._sizes[::-1].copy()
    with pytest.raises(th.errors.DataError, match="must hold the widths of the tables"):
        pickle.loads(pickle.dumps(model))


def test_columns_of_a_table_are_not_listed():
    """2⁶³ names would be made before the first is compared."""
    model = th.TableVectorizer().fit(X)
    model.n_features_in_ = 2**63
    assert pickle.loads(pickle.dumps(model)).n_features_in_ == 2**63
    model.n_features_in_ = 1
    with pytest.raises(th.errors.DataError, match=r"there is no column \['x1'\]"):
        pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize("step", [3, "text"])
def test_a_step_of_a_pipeline_is_an_estimator(tmp_path, step):
    model = make_pipeline(StandardScaler(), th.LogisticRegression()).fit(X, Y)
    model.steps[0] = ("standardscaler", step)
    th.save(model, tmp_path / "model.theta")
    with pytest.raises(th.errors.DataError, match="a pipeline with an invalid step"):
        th.load(tmp_path / "model.theta")


def test_self_training_without_its_classifier_is_refused():
    model = th.SelfTrainingClassifier().fit(X, (Y == "yes").astype(int))
    del model.estimator_
    with pytest.raises(th.errors.DataError, match="estimator_ is missing"):
        pickle.loads(pickle.dumps(model))
