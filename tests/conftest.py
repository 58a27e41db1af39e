"""Settings that must stand before SciPy is first imported."""

import os

# scikit-learn's check of array inputs runs only with it.
os.environ["SCIPY_ARRAY_API"] = "1"
