"""Pruning of trees by held-out rows or description length."""
