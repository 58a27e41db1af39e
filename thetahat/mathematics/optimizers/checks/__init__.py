"""Checks of derivatives and convexity."""
