"""The point of nearhit in ten seconds: two genotypes that matter only together, by ReliefF and by information gain.

    python -m nearhit.demo [--out DIR]
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from nearhit import ReliefF
from nearhit.demo import FILE, TARGET, load
from nearhit.demo.make_data import PAIR
from nearhit.measures import score_features
from nearhit.ranking import ranks_of

ROWS_SHOWN = 6


class Score(NamedTuple):
    """What a genotype tells together with the others, and alone."""

    rank: int
    feature: str
    weight: float
    rank_alone: int
    information_gain: float


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m nearhit.demo", description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("demo-output"), metavar="DIR", help="where files are written")
    out = parser.parse_args(arguments).out
    scores = score()
    print(story(scores))
    try:
        write(scores, out)
    except OSError as error:
        parser.exit(2, f"{parser.prog}: cannot write into {out}: {error.strerror}; name another directory with --out.\n")
    print(what_next(out))


def write(scores: list[Score], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    (out / "scores.csv").write_text(as_csv(scores), encoding="utf-8")
    print(f"Written: {out / 'scores.csv'}  all {len(scores)} genotypes, both ways")
    if find_spec("matplotlib"):
        draw(scores, out / "ranking.png")
        print(f"         {out / 'ranking.png'}  each genotype by what it tells alone and together")
    else:
        print(f"Skipped: {out / 'ranking.png'}  needs matplotlib: pip install matplotlib")


def score() -> list[Score]:
    """All genotypes, what ReliefF puts first in front."""
    names, X, status = load()
    categories = range(len(names))
    relief = ReliefF(categorical_features=categories).fit(X, status)
    gains = score_features(X, status, "information gain", categories)
    columns = zip(relief.ranking_, names, relief.weights_, ranks_of(gains), gains, strict=True)
    return sorted((Score(*row) for row in columns), key=lambda row: row.rank)


def story(scores: list[Score]) -> str:
    before = (
        "Two of these 50 genotypes raise the risk of 400 people, but only together: each alone tells nothing about\n"
        "who is ill. Which method finds the two?"
    )
    lines = [
        "            together: ReliefF    alone: information gain",
        "genotype    rank     weight      rank         bits",
    ]
    for row in scores[:ROWS_SHOWN]:
        together, alone = f"{row.rank:>5} {row.weight:>10.4f}", f"{row.rank_alone:>9} {row.information_gain:>12.4f}"
        lines.append(f"{row.feature:<10} {together} {alone}{'   <- one of the two' if row.feature in PAIR else ''}")
    lines.append(f"... and {len(scores) - ROWS_SHOWN} more")
    places = " and ".join(str(place) for place in sorted(row.rank_alone for row in scores if row.feature in PAIR))
    after = (
        "ReliefF compares each person with similar people and puts the two at the top; information gain looks at one\n"
        f"column at a time and leaves them at places {places} of {len(scores)}."
    )
    return "\n".join([before, "", *lines, "", after, ""])


def as_csv(scores: list[Score]) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(Score._fields)
    table.writerows(scores)
    return text.getvalue()


def draw(scores: list[Score], file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5), layout="constrained")
    axes = figure.subplots()
    for row in scores:
        decides = row.feature in PAIR
        axes.plot(row.information_gain, row.weight, "o", color="tab:red" if decides else "tab:gray", alpha=0.8)
        if decides:
            axes.annotate(row.feature, (row.information_gain, row.weight), xytext=(8, -4), textcoords="offset points")
    axes.axhline(0, color="black", linewidth=0.5)
    axes.set(xlabel="alone: information gain, bits", ylabel="together: weight of ReliefF")
    axes.set_title("Upper left: matters only together with others", loc="left")
    figure.savefig(file, dpi=120)


def what_next(out: Path) -> str:
    command = f"{program()} rank {as_seen_from_here(FILE)} --target {TARGET} --out {out / 'rank'}"
    if not find_spec("typer"):
        command += "\n           (the command needs an extra: pip install 'nearhit[cli]')"
    return f"""
Next, the same on the command line; your own table goes in the place of this one:

    {command}

and in Python:

    from nearhit import Ranking, ReliefF
    from nearhit.demo import load
    names, X, status = load()
    relief = ReliefF(categorical_features=range(50)).fit(X, status)
    print(Ranking.of(names, relief.weights_))
"""


def program() -> str:
    """The command `nearhit` as it can be typed here."""
    beside = Path(sys.executable).with_name("nearhit")
    found = shutil.which("nearhit")
    return "nearhit" if found and Path(found) == beside else as_seen_from_here(beside)


def as_seen_from_here(path: Path) -> str:
    return min(str(path), os.path.relpath(path), key=len)


if __name__ == "__main__":
    main()
