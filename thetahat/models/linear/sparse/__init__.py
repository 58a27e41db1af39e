"""Few coefficients: lasso, elastic net, matching pursuit, best subsets."""
