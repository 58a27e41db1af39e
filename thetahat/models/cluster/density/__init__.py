"""Clusters as regions where rows lie densely, apart from rows that belong to none."""
