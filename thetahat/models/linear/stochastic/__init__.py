"""Linear models fitted by steps on single rows."""
