"""qloop: from a product requirements document to landed, verified commits."""

__version__ = "0.1.0"
