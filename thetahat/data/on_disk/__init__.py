"""Rows in files: `.npy`, delimited text, Parquet and Arrow, read a few blocks at a time."""
