"""Gaussians inside models: in boxes, mixed, and as priors and posteriors of linear functions."""
