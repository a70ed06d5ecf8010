"""The package as it was built; tests that need it skip where it was not."""

import sys

try:
    import sluice
except ImportError as error:
    print(f"skipped: the package is not built here ({error})")
    sys.exit(77)


def need(*modules):
    """Skips where one of Debian's packages is not installed."""
    for module in modules:
        try:
            __import__(module)
        except ImportError as error:
            print(f"skipped: {error}")
            sys.exit(77)
