"""What a likelihood says of its maximum: information and separation."""
