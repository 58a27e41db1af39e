"""Step sizes: step rules and line search."""
