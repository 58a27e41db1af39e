"""Bayesian model averaging."""
