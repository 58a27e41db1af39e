"""Local learning: averages and least squares weighted around each query."""
