"""Growing trees: columns, limits and constraints."""
