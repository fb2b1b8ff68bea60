"""The entry point of the command `nearhit`: everything else is in cli.py, which needs the extra."""

from __future__ import annotations

import sys

EXTRA = ("typer", "rich", "polars")


def main() -> int:
    """Run the command; say which extra to install if it cannot run. Returns the exit code."""
    try:
        from nearhit.cli import app

        app(prog_name="nearhit")
    except ModuleNotFoundError as missing:
        if str(missing.name).partition(".")[0] not in EXTRA:
            raise
        print('nearhit: the command needs typer, rich and polars: pip install "nearhit[cli]"', file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # while modules were being imported; cli.py has its own answer after that
        print("nearhit: stopped", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
