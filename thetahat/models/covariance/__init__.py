"""Estimates of a covariance matrix."""
