"""Generative classifiers: a model of the data in every class, and Bayes' rule."""
