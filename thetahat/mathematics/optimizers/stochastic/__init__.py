"""Stochastic gradient methods and learning rates."""
