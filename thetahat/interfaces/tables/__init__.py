"""Files of columns: reading them, and saying what the columns are."""
