"""Bayesian model averaging of regressors and classifiers."""
