"""Regression with functions that are not linear in their parameters, and transformed responses."""
