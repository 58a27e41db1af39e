"""What every layer stands on: errors, settings, threads, memory, randomness, watches."""
