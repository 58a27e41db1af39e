"""Bayesian linear regression: priors, posteriors and evidence."""
