"""Bayesian linear regression: priors, posteriors, evidence."""
