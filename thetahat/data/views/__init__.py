"""Views of a source: the same rows with other targets, weights or units."""
