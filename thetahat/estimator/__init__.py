"""Base classes of all models, compatible with scikit-learn."""
