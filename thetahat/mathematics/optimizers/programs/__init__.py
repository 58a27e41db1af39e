"""Linear and quadratic programs, interior points and constrained problems."""
