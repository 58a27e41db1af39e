"""Intervals for predicted numbers and sets of classes that hold at a given rate."""
