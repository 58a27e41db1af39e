"""Estimators of a mean and a covariance: maximum likelihood, shrinkage, robust."""
