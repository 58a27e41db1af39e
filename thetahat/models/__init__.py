"""The methods of the course, family by family."""
