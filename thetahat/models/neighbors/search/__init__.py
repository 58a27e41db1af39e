"""The engine that finds neighbours: kd-tree, scan and matrix products, with the same results."""
