"""Results out: several files written whole, or, whatever happens, none."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from nearhit.command.messages import Refusal
from nearhit.command.tables import STDIN


def check_directory(directory: Path, names: Sequence[str], source: str) -> None:
    """Refuse, before any work is done, a directory that results could not be written to."""
    if directory.exists() and not directory.is_dir():
        raise Refusal(f"--out {directory} is a file; name a directory.")
    nearest = _nearest_existing(directory)
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        raise Refusal(f"--out {directory} cannot be written: {nearest} allows no new files.")
    for path in (directory / name for name in names):
        if path.is_dir():
            raise Refusal(f"--out {directory} holds a directory {path.name} where a file of that name should go.")
        if source != STDIN and path.exists() and Path(source).exists() and path.samefile(source):
            raise Refusal(f"--out {directory} would overwrite the table {path.name} itself; name another directory.")


def write_together(directory: Path, contents: Mapping[str, bytes]) -> None:
    """Write several files whole, or, on any failure or Ctrl-C, none: then everything is as it was before.

    Parameters
    ----------
    directory : Path
        Made if it is missing, with its parents.
    contents : mapping of str to bytes
        Names and contents of the files; files of these names are replaced.
    """
    directory = directory.resolve()
    with _staging_directory(_nearest_existing(directory)) as staged, ExitStack() as undo:
        for name, content in contents.items():
            (staged / name).write_bytes(content)
        for missing in _missing_parents(directory):
            undo.callback(_remove_if_there, missing, Path.rmdir)
            missing.mkdir()
        for name in contents:
            _replace(staged, directory / name, undo)
        undo.pop_all()


@contextmanager
def _staging_directory(parent: Path) -> Iterator[Path]:
    """A hidden directory on the same disk, so that files move by a rename, which is all or nothing."""
    with tempfile.TemporaryDirectory(prefix=".nearhit-", dir=parent) as staged:
        yield Path(staged)


def _replace(staged: Path, path: Path, undo: ExitStack) -> None:
    """Move a file from the staging directory to its place, and say how to take that back."""
    if path.exists():
        before = staged / f"{path.name}.before"
        shutil.copy2(path, before)
        undo.callback(os.replace, before, path)
    else:
        undo.callback(_remove_if_there, path, Path.unlink)
    os.replace(staged / path.name, path)


def _remove_if_there(path: Path, remove: Callable[[Path], None]) -> None:
    if path.exists():
        remove(path)


def _missing_parents(directory: Path) -> list[Path]:
    """What must be made for a directory to exist, the outermost first."""
    return [path for path in [*reversed(directory.parents), directory] if not path.exists()]


def _nearest_existing(directory: Path) -> Path:
    return next(path for path in [directory.absolute(), *directory.absolute().parents] if path.exists())
