"""The scikit-learn face of the library: base classes shared by every model."""
