"""Sparse linear models: lasso, elastic net, matching pursuit, best subsets."""
