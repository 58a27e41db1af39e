"""Generalised linear models: logistic, Poisson, Gamma and Tweedie regression."""
