"""What a tree is grown from and by which rules."""
