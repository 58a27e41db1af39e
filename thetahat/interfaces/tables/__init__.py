"""Read tables from files, and find the kinds of their columns."""
