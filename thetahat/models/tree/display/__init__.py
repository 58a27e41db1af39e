"""Trees as pictures, text and regions."""
