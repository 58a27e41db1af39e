"""Many fits at once, on threads and in worker processes."""
