"""Ensembles: combinations of many models."""
