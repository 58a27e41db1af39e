"""Linear and quadratic programs, interior points, constrained problems."""
