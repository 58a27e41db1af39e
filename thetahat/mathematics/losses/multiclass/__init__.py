"""Losses of class scores: one column of z for each class."""
