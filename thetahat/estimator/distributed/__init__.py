"""How estimators take Dask collections: fits by the workers, lazy predictions."""
