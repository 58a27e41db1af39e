"""Codes of classes as columns of signs, in memory and block by block."""

import numpy as np
import pytest

from thetahat.data.validation import as_source
from thetahat.data.views.sign_targets import SignTargets, with_sign_targets


@pytest.mark.parametrize("n_classes", [2, 3])
def test_signs_in_memory_and_in_blocks(n_classes):
    codes = np.arange(7) % n_classes
    source = as_source(np.ones((7, 1)), codes.astype(float))
    signs = with_sign_targets(source, n_classes)
    columns = signs.y.reshape(7, -1)
    assert columns.shape == (7, 1 if n_classes == 2 else 3)
    assert signs.n_outputs == (0 if n_classes == 2 else 3)
    for row, code in zip(columns, codes, strict=True):
        expected = [1 if code else -1] if n_classes == 2 else np.where(np.arange(3) == code, 1, -1)
        np.testing.assert_array_equal(row, expected)
    view = SignTargets(n_features=1, n_outputs=signs.n_outputs, has_target=True, source=source)
    (block,) = view.blocks()
    np.testing.assert_array_equal(block.y, signs.y)
    assert view.n_rows == 7
