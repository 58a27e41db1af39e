"""One file per family of benchmark cases."""
