"""How people reach the library without writing code; nothing imports this."""
