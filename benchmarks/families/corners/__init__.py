"""Small, sparse, wide and many-class problems: one file per family."""
