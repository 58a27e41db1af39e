"""Generative classifiers: a model of the rows of every class, and Bayes' rule."""
