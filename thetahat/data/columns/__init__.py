"""What the columns of a table hold: kinds, labels, missing values."""
