"""`python -m qloop`: the same door as the installed command."""

import sys

from qloop.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
