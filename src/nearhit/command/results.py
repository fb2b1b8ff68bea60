"""A report as files: CSV, JSON and a picture, the same bytes for the same input."""

from __future__ import annotations

import csv
import io
import json
from importlib.util import find_spec
from pathlib import Path

import nearhit
from nearhit.command.all_or_nothing import check_directory, write_together
from nearhit.command.messages import Refusal, counted, printable, tell
from nearhit.command.run import Report

RESULTS = ("scores.csv", "scores.json", "ranking.png")


def check_out(out: Path, file: str) -> None:
    """Refuse before any work what would fail after it."""
    if find_spec("matplotlib") is None:
        raise Refusal('--out draws a picture with matplotlib, which is missing: pip install "nearhit[report]"')
    check_directory(out, RESULTS, file)


def write_results(out: Path, report: Report) -> None:
    """All files of --out, or none."""
    try:
        write_together(out, _files(report))
    except OSError as error:
        raise Refusal(f"cannot write into {out}: {error.strerror}. Nothing there was changed.") from None
    tell(f"wrote {', '.join(RESULTS)} into {out}")


def _files(report: Report) -> dict[str, bytes]:
    """Names and contents; the same for the same input."""
    from nearhit.command.pictures import draw_ranking

    title = f"What tells “{printable(report.roles.target)}”"
    n_features = len(report.scores)
    what = f"{report.method} on {report.file}: {counted(report.n_rows, 'row')}, {counted(n_features, 'feature')}"
    picture = draw_ranking([(score.feature, score.weight) for score in report.scores], title, what)
    return dict(zip(RESULTS, (to_csv(report).encode(), to_json(report).encode(), picture), strict=True))


def to_csv(report: Report) -> str:
    """One line per feature, the best first; weights to the last bit."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    tested = report.parameters["p_values"] is not None
    writer.writerow(["rank", "feature", "weight", "selected", *(["p_value"] if tested else [])])
    for s in report.scores:
        writer.writerow(
            [s.rank, s.feature, repr(s.weight), str(s.selected).lower(), *([repr(s.p_value)] if tested else [])]
        )
    return text.getvalue()


def to_json(report: Report) -> str:
    """Scores and how they came about; neither times nor places, so the same input gives the same text."""
    content = {
        "nearhit": nearhit.__version__,
        "file": report.file,
        "target": report.roles.target,
        "task": report.decision.task,
        "task_because": report.decision.why,
        "method": report.method,
        "parameters": report.parameters,
        "weight_column": report.roles.weight,
        "rows": report.n_rows,
        "features": {"numeric": report.numeric, "categorical": report.categorical},
        "cells_missing": report.cells_missing,
        "classes": [{"class": label, "rows": rows} for label, rows in report.classes] or None,
        "neighbors_used": report.neighbors_used,
        "kernel": report.kernel,
        "scores": [{name: value for name, value in vars(s).items() if value is not None} for s in report.scores],
        "twins": None if report.twins is None else [group._asdict() for group in report.twins],
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
