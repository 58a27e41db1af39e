"""Kernel density estimation."""
