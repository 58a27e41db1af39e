"""The estimators, by family."""
