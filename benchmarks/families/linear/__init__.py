"""Linear models: one file per family."""
