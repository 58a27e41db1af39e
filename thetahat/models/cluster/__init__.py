"""Clusters: groups of rows that are near each other, without labels."""
