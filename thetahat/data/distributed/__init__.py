"""Rows on a Dask cluster: partitions on workers, passes over them, and lazy predictions."""
