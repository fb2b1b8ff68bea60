"""One line on stderr for every problem, and an exit code that scripts can use.

Exit codes: 0, 1 for a fault of nearhit with its traceback, 2 for what the user can put right, 130 for Ctrl-C, 141 for
a pipe that nobody reads.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from nearhit.command.messages import Refusal, tell
from nearhit.command.options import in_options

STOPPED, PIPE_CLOSED = 130, 141  # as a shell has it: 128 and the number of the signal


class OneLine(TyperGroup):
    """Commands whose problems are told in one line on stderr, with an exit code that scripts can use."""

    #: the command that runs: its parser does not always say so in its errors
    _asked = "nearhit"

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        extra["standalone_mode"] = False
        with _warnings_in_one_line():
            try:
                code = super().main(*args, **extra)
            except Exception as error:
                if not hasattr(error, "format_message"):
                    raise
                # a wrong option or argument; which class says so depends on the version of typer
                asked = getattr(getattr(error, "ctx", None), "command_path", self._asked)
                tell(f"{error.format_message().rstrip('.')}. See {asked} --help.")
                code = 2
        sys.exit(code if isinstance(code, int) else 0)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        found = super().resolve_command(ctx, args)
        self._asked = f"{ctx.command_path} {found[0]}"
        return found

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Refusal as refusal:
            tell(str(refusal))
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            tell("stopped")
            raise typer.Exit(STOPPED) from None
        except BrokenPipeError:  # nobody reads on, as in `| head`
            _close_stdout()
            raise typer.Exit(PIPE_CLOSED) from None
        except OSError as error:  # a full disk behind stdout
            _close_stdout()
            where = f" ({error.filename})" if error.filename else ""
            tell(f"cannot go on: {error.strerror or error}{where}")
            raise typer.Exit(2) from None


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    told: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if not issubclass(category, UserWarning):
            show_others(message, category, *where, **more)
        elif str(message) not in told:
            told.add(str(message))
            tell(f"warning: {in_options(str(message))}")

    with warnings.catch_warnings():
        show_others = warnings.showwarning
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def _close_stdout() -> None:
    """Let the interpreter find nothing to complain about when it flushes stdout at its end."""
    with open(os.devnull, "w") as nowhere, suppress(io.UnsupportedOperation):
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
