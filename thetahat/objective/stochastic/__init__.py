"""Epochs of single-row steps."""
