"""Axis-parallel rectangles, the standard example of PAC learning."""
