"""Compares builtins as a driver compiles them from source with what kassay makes of them."""
