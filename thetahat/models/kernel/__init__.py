"""Kernel methods: linear methods in the feature space of a kernel."""
