"""Transforms of rows and targets that come before a model."""
