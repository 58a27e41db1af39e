"""What every layer stands on: errors, configuration, threads, memory, randomness, watching a fit."""
