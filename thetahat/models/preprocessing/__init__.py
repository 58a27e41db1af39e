"""Transformations of rows and targets before a model is fitted."""
