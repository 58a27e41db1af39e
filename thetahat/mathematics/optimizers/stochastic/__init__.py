"""Stochastic gradients and their learning rates."""
