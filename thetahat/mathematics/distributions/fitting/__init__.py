"""Maximum likelihood from mergeable summaries, with standard errors and intervals."""
