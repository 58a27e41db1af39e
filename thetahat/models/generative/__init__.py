"""Classifiers from a model of the data in every class."""
