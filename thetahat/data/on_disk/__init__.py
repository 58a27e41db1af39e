"""Rows in files (`.npy`, delimited text, Parquet, Arrow), read a few blocks at a time."""
