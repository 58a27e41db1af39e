"""Losses of class scores: z has one column for each class."""
