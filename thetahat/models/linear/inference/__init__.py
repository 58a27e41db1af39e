"""Standard errors, tests and intervals of linear models."""
