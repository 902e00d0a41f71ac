"""The version of the package, as in pyproject.toml: a test compares them."""

VERSION = "0.1.0"
