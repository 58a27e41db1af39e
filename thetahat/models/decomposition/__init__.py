"""Rows as combinations of few parts: dictionaries, components, factors."""
