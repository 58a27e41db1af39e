"""Kernel methods and support vector machines: one file per family."""
