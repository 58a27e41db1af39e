"""The bootstrap, and the decomposition of error into bias and variance."""
