"""Ensembles: many models that answer as one."""
