"""Generalised linear models: logistic and Poisson regression."""
