"""Halfspaces and margins: support vector machines, consistent and best halfspaces."""
