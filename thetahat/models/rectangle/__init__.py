"""Axis-parallel rectangles: the class that PAC learning begins with."""
