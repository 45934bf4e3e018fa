"""The version of this package, in a module of its own: every other one may import it."""

__version__ = "0.1.0"
