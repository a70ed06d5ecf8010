"""Imports the package that was built. Tests that need the package are skipped if it was not built."""

import importlib.util
import sys

try:
    import sluice
except ImportError as error:
    print(f"skipped: the package is not built here ({error})")
    sys.exit(77)


def need(*modules):
    """Skips the test if one of these Python modules is not installed."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            print(f"skipped: {module} is not installed")
            sys.exit(77)
