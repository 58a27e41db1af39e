"""Scales and starts of robust regression."""
