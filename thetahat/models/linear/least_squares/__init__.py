"""Least squares, ridge regression and related models of the mean."""
