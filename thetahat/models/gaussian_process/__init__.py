"""Gaussian processes: random functions with a kernel as covariance."""
