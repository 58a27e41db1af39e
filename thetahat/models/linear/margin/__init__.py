"""Linear support vector machines, and halfspaces by linear programming or exact search."""
