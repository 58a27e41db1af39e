"""Used by every layer: errors, settings, threads, memory, random numbers, progress."""
