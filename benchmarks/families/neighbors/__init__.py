"""Methods of near rows: one file per family."""
