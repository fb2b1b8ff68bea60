"""``python -m nearhit.command`` is the command `nearhit`."""

import sys

from nearhit.command import main

if __name__ == "__main__":
    sys.exit(main())
