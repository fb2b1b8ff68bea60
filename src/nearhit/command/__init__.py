"""The command `nearhit`. Its entry point is here; everything else is in app.py, which needs the extra.

    app          options in, the steps below one after the other, the result out
    problems     one line for whatever goes wrong, and exit codes
    screen       the report to look at
    results      the report as files (with pictures, all_or_nothing)
    run          the fit, and the report of it
    doubts       features that look like a mistake
    task         classes or numbers
    columns      what each column is for
    sidecar      what a file beside the table says about its columns
    tables       the table (with csv_tables, arff_tables, arrow_schemas)
    options      what the options say, and the library's messages in their words
    messages     what all of them say to the user

Imports go from the top of this list to its end.
"""

from __future__ import annotations

import sys

EXTRA = ("typer", "rich", "polars")


def main() -> int:
    """Run the command; say which extra to install if it cannot run. Returns the exit code."""
    try:
        from nearhit.command.app import app

        app(prog_name="nearhit")
    except ModuleNotFoundError as missing:
        if str(missing.name).partition(".")[0] not in EXTRA:
            raise
        print('nearhit: the command needs typer, rich and polars: pip install "nearhit[cli]"', file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # while modules were being imported; problems.py has its own answer after that
        print("nearhit: stopped", file=sys.stderr)
        return 130
    return 0
