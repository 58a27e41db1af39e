"""Boosting of rows on the workers of a Dask cluster, from merged histograms."""
