"""What the README and the docs show is what happens: their Python runs and prints that, their commands end well."""

from __future__ import annotations

import ast
import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nearhit import recipes, relief

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
CHECKS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(found["language"], textwrap.dedent(found["text"]), text.count("\n", 0, found.start("text")))
        for found in FENCE.finditer(text)
    ]


def runnable(page: Path) -> bool:
    return any(block.language in ("python", "console") for block in blocks(page))


@pytest.mark.parametrize("page", list(filter(runnable, PAGES)), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_does_what_the_page_says(page, tmp_path, monkeypatch):
    """Blocks of a page share names and a folder, as they would for a reader who follows it from the top."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.language == "python":
            names = run_python(block, names, page)
        elif block.language == "console":
            run_commands(block, page)


def run_python(block: Block, names: dict[str, Any], page: Path) -> dict[str, Any]:
    if ">>>" not in block.text:
        exec(compile("\n" * block.line + block.text, str(page), "exec"), names)
        return names
    test = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=CHECKS).run(test, out=report.append, clear_globs=False)
    assert not report, "".join(report)
    return test.globs


def run_commands(block: Block, page: Path) -> None:
    """The lines that start with nearhit or python; what they print is not compared."""
    for line in block.text.splitlines():
        program, *arguments = shlex.split(line)
        assert program in ("nearhit", "python"), f"{page}:{block.line}: cannot run {line!r}"
        beside = str(Path(sys.executable).parent)
        found = sys.executable if program == "python" else shutil.which("nearhit", path=beside)
        assert found, "the command nearhit is not installed beside this Python"
        plain = {**os.environ, "NO_COLOR": "1", "COLUMNS": "120", "MPLBACKEND": "agg"}
        done = subprocess.run([found, *arguments], capture_output=True, text=True, env=plain, timeout=120)
        assert done.returncode == 0, f"{page}:{block.line}: {line}\n{done.stdout}\n{done.stderr}"


def test_links_between_pages_lead_somewhere():
    pages = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "changes" / "README.md"]
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"


# --- docs/recipes.md ------------------------------------------------------------------------------------------

IN_THE_PAPERS = {
    "RELIEF-A": recipes.RELIEF_A,
    "RELIEF-B": recipes.RELIEF_B,
    "RELIEF-C": recipes.RELIEF_C,
    "RELIEF-D": recipes.RELIEF_D,
    "RELIEF-E": recipes.RELIEF_E,
    "RELIEF-F": recipes.RELIEF_F,
    "Relief (Kira": recipes.RELIEF,
    "**ReliefF**": recipes.RELIEFF,
    "**RReliefF**": recipes.RRELIEFF,
    "contextual merit": recipes.CONTEXTUAL_MERIT,
}


@pytest.mark.parametrize("start", IN_THE_PAPERS)
def test_the_table_of_recipes_names_the_parameters_that_make_them(start):
    text = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    (cell,) = re.findall(rf"^\| {re.escape(start)}[^|]*\| `([^`]+)`", text, re.MULTILINE)
    estimator = eval(cell, vars(relief))
    estimator._check_parameters()
    wanted = IN_THE_PAPERS[start]
    assert replace(estimator._recipe(), name=wanted.name) == wanted


# --- docs/messages.md -----------------------------------------------------------------------------------------

OF_SCIKIT_LEARN = ["Unknown label type: continuous"]


def longest_part(message: str) -> str:
    """The part of a message that says most about which one it is; … stands for what depends on the data."""
    return max(message.split("…"), key=len).strip(" .,;:'")


def text_of(node: ast.AST) -> str:
    """A literal or an f-string, with … for what is filled in."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) if isinstance(part, ast.Constant) else "…" for part in node.values)
    return ""


@pytest.fixture(scope="module")
def page() -> str:
    return " ".join((ROOT / "docs" / "messages.md").read_text(encoding="utf-8").split())


@pytest.fixture(scope="module")
def nodes() -> list[ast.AST]:
    files = sorted((ROOT / "src" / "nearhit").rglob("*.py"))
    return [node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]


def test_every_warning_has_a_line_in_the_docs(page, nodes):
    calls = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "warnings.warn"]
    warned = [longest_part(text_of(call.args[0])) for call in calls]
    assert len(warned) >= 3
    assert all(warned), "a warning has a text that is put together elsewhere"
    missing = [text for text in warned if text not in page]
    assert not missing, f"docs/messages.md has no line for: {missing}"


def test_the_docs_have_no_message_that_is_never_given(page, nodes):
    texts = [text_of(node) for node in nodes] + OF_SCIKIT_LEARN
    shown = [longest_part(found) for found in re.findall(r"\*\*(.+?)\*\*", page)]
    assert len(shown) >= 30
    strange = [text for text in shown if not any(text in known for known in texts)]
    assert not strange, f"docs/messages.md explains what nearhit never says: {strange}"
