"""Codes for a given dictionary: scikit-learn's, use without `fit`, bad input."""

import numpy as np
import pytest
from sklearn import decomposition

import thetahat as th
from thetahat.errors import ParameterError


def atoms_and_rows(k=12, d=6, n=40):
    random = np.random.default_rng(0)
    atoms = random.standard_normal((k, d))
    return atoms / np.linalg.norm(atoms, axis=1)[:, None], random.standard_normal((n, d))


@pytest.mark.parametrize("algorithm", ["omp", "lars", "threshold", "lasso_cd", "lasso_lars"])
@pytest.mark.parametrize("split_sign", [False, True], ids=["", "split"])
def test_codes_are_those_of_scikit_learn(algorithm, split_sign):
    atoms, X = atoms_and_rows(5)
    options = {
        "transform_algorithm": algorithm, "split_sign": split_sign, "transform_alpha": 0.2,
        "transform_n_nonzero_coefs": 2 if algorithm in ("omp", "lars") else None,
    }  # fmt: skip
    ours, theirs = th.SparseCoder(atoms, **options), decomposition.SparseCoder(atoms, **options)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=2e-4)
    ours, theirs = ours.fit(X), theirs.fit(X)
    codes = ours.transform(X)
    assert ours.n_components_ == theirs.n_components_ == 5
    np.testing.assert_allclose(ours.inverse_transform(codes), theirs.inverse_transform(codes))
    assert len(ours.get_feature_names_out()) == codes.shape[1]


def test_codes_are_those_of_dictionary_learning():
    _, X = atoms_and_rows()
    learned = th.DictionaryLearning(4, alpha=0.1, transform_algorithm="lasso_cd").fit(X)
    coder = th.SparseCoder(learned.components_, transform_algorithm="lasso_cd", transform_alpha=0.1)
    np.testing.assert_array_equal(coder.transform(X), learned.transform(X))


def test_no_dictionary_codes_rows_by_their_own_entries():
    _, X = atoms_and_rows()
    coder = th.SparseCoder(None, transform_algorithm="threshold", transform_alpha=0.5)
    expected = np.sign(X) * np.maximum(np.abs(X) - 0.5, 0)
    np.testing.assert_array_equal(coder.fit(X).transform(X), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_precision_is_that_of_the_rows(dtype):
    atoms, X = atoms_and_rows()
    assert th.SparseCoder(atoms).transform(X.astype(dtype)).dtype == dtype


@pytest.mark.parametrize(
    ("dictionary", "options", "error"),
    [
        (np.ones(6), {}, "dictionary has shape \\(6,\\)"),
        (np.ones((0, 6)), {}, "at least one atom"),
        ([["a"] * 6], {}, "dictionary=.* must be"),
        (np.full((2, 6), np.nan), {}, "dictionary\\[0, 0\\] = nan"),
        (np.ones((2, 5)), {}, "the atoms have 5 columns, X has 6"),
        (np.eye(6), {"transform_algorithm": "best"}, "transform_algorithm='best'"),
        (np.eye(6), {"transform_alpha": -1.0}, "transform_alpha=-1.0"),
        (np.eye(6), {"transform_algorithm": "lars", "positive_code": True}, "positive_code"),
    ],
)
def test_bad_input_is_refused(dictionary, options, error):
    _, X = atoms_and_rows()
    for use in (th.SparseCoder.fit, th.SparseCoder.transform):
        with pytest.raises((ValueError, th.errors.CapabilityError), match=error):
            use(th.SparseCoder(dictionary, **options), X)


def test_without_a_dictionary_and_a_fit_there_are_no_codes():
    _, X = atoms_and_rows()
    with pytest.raises(ValueError, match="not fitted"):
        th.SparseCoder(None).transform(X)


def test_transform_accepts_a_target_as_scikit_learn_does():
    atoms, X = atoms_and_rows()
    coder = th.SparseCoder(atoms).set_output(transform="pandas")
    table = coder.fit(X).transform(X, np.zeros(len(X)))
    np.testing.assert_array_equal(table, th.SparseCoder(atoms).transform(X))
    assert list(table.columns) == list(coder.get_feature_names_out())


def test_files_are_coded_without_a_fit(tmp_path):
    atoms, X = atoms_and_rows()
    np.save(tmp_path / "rows.npy", X)
    rows = th.scan(tmp_path / "rows.npy")
    coder = th.SparseCoder(atoms)
    np.testing.assert_array_equal(coder.transform(rows), coder.transform(X))
    with pytest.raises(ValueError, match="the atoms have 5 columns, X has 6"):
        th.SparseCoder(atoms[:, :5]).transform(rows)
    np.testing.assert_array_equal(coder.fit(X).transform(rows), coder.transform(X))


@pytest.mark.parametrize("unit", [1e-160, 1e160])
@pytest.mark.parametrize("algorithm", ["lars", "lasso_cd", "omp", "threshold"])
def test_atoms_whose_products_overflow_or_vanish_are_refused(algorithm, unit):
    atoms = np.eye(3) * unit
    with pytest.raises(ParameterError, match="products of atoms would overflow or vanish"):
        th.SparseCoder(atoms, transform_algorithm=algorithm).transform(np.ones((2, 3)))
