"""What the command tells its user: refusals, news on stderr, and the phrases that both are made of."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar


class Refusal(Exception):
    """Something that the user can put right; the message is one line that says how."""


#: what is to be told if all goes well, while `news_at_the_end` holds it back
_news: ContextVar[list[str] | None] = ContextVar("news", default=None)


def tell(message: str) -> None:
    """One line on stderr, at once if nothing holds it back."""
    if (news := _news.get()) is not None:
        news.append(message)
    else:
        print("nearhit:", " ".join(message.split()), file=sys.stderr, flush=True)


@contextmanager
def news_at_the_end() -> Iterator[None]:
    """Tell what a block has to tell when it is done. If it fails, its error is to be the only line."""
    news: list[str] = []
    token = _news.set(news)
    try:
        yield
    finally:
        _news.reset(token)
    for message in news:
        tell(message)


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """The end of a message about an unknown name: the nearest ones, if any is near."""
    import difflib

    by_small_letters = {other.lower(): other for other in known}
    near = difflib.get_close_matches(name.lower(), by_small_letters, n=2, cutoff=0.7)
    return f" Did you mean {' or '.join(repr(by_small_letters[other]) for other in near)}?" if near else ""


def listed(names: Sequence[str], at_most: int = 5) -> str:
    """Names for a message: the first few, and how many more there are."""
    rest = f" and {len(names) - at_most} more" if len(names) > at_most else ""
    return ", ".join(map(repr, names[:at_most])) + rest


def counted(number: int, thing: str) -> str:
    """A number with its noun: `1 row`, `2 rows`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def first_line(error: BaseException) -> str:
    """What an error of another library says, short and without its full stop."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def printable(name: str) -> str:
    """A name that cannot move the cursor or break the line."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)
