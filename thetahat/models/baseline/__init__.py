"""Baseline models that ignore X."""
