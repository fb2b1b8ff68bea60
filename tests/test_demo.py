"""The demo makes its point, says the truth about what it wrote, and does without matplotlib."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import subprocess
import sys
import textwrap

import pytest

from nearhit.demo import FILE, TARGET, __main__, load, make_data


def test_the_data_are_those_that_the_script_beside_them_makes():
    assert FILE.read_text(encoding="ascii") == make_data.table()
    assert FILE.with_suffix(".json").read_text(encoding="ascii") == make_data.sidecar()
    assert FILE.stat().st_size < 100_000


def test_the_data_are_what_is_said_of_them():
    names, X, status = load()
    assert X.shape == (400, 50)
    assert set(X.ravel().tolist()) == {0, 1, 2}
    assert status.tolist().count("case") == status.tolist().count("control") == 200
    assert set(make_data.PAIR) <= set(names)
    sidecar = json.loads(make_data.sidecar())
    assert sidecar == {"nominal": names, "target": TARGET, "task": "classification"}


def test_the_table_of_risks_is_flat_at_the_margins():
    share = {0: 0.25, 1: 0.5, 2: 0.25}
    low, high = make_data.RISK_OTHERWISE, make_data.RISK_IF_ONE_IS_1
    for own in share:
        risks = {other: high if (own == 1) != (other == 1) else low for other in share}
        assert sum(share[other] * risk for other, risk in risks.items()) == pytest.approx(0.5)


def test_relieff_has_the_pair_at_the_top_and_information_gain_has_not():
    scores = __main__.score()
    assert {row.feature for row in scores[:2]} == set(make_data.PAIR)
    assert all(row.rank_alone > 10 for row in scores[:2])
    assert scores[1].weight > 2 * scores[2].weight


def test_what_is_printed_and_written(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    __main__.main(["--out", str(tmp_path / "new" / "folder")])
    printed = capsys.readouterr().out
    without_paths = [line for line in printed.splitlines() if str(tmp_path) not in line]
    assert max(map(len, without_paths)) <= 110
    assert printed.count("<- one of the two") == 2
    with (tmp_path / "new" / "folder" / "scores.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [(int(row["rank"]), row["feature"], float(row["weight"])) for row in rows] == [
        row[:3] for row in __main__.score()
    ]
    assert (tmp_path / "new" / "folder" / "ranking.png").read_bytes().startswith(b"\x89PNG")


def test_the_python_that_it_proposes_runs():
    proposed = __main__.what_next(FILE.parent).split("and in Python:")[1]
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(textwrap.dedent(proposed), {})
    assert [line.split()[1] for line in shown.getvalue().splitlines()[1:3]] == ["snp41", "snp17"]


def test_a_directory_that_cannot_be_written_is_told_in_one_line(tmp_path, capsys):
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as stopped:
        __main__.main(["--out", str(tmp_path / "file")])
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("python -m nearhit.demo: cannot write into ") and line.endswith("directory with --out.")


def test_without_matplotlib_it_says_what_is_skipped(tmp_path):
    (tmp_path / "hide.py").write_text(
        "import runpy, sys\n"
        "sys.modules.update(dict.fromkeys(['matplotlib', 'rich', 'typer', 'polars', 'pandas']))\n"
        "runpy.run_module('nearhit.demo', run_name='__main__')\n"
    )
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "hide.py"], cwd=tmp_path, env=ascii_only, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "ranking.png  needs matplotlib: pip install" in done.stdout
    assert "pip install 'nearhit[cli]'" in done.stdout
    assert [path.name for path in (tmp_path / "demo-output").iterdir()] == ["scores.csv"]
