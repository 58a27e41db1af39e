"""Contributions of the columns to single predictions: Shapley values."""
