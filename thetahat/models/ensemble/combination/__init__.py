"""Different models combined: voting, stacking, linear combinations."""
