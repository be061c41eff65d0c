"""`python -m penstock.agent`."""

import sys

from penstock.agent.main import main

if __name__ == "__main__":
    sys.exit(main())
