"""How the documentation is made; the tests read the same list of public names."""
