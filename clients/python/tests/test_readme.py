"""The examples of the README: all of them fit the types, and the first one runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from conftest import API_KEY, Answer, Arrived, Server
from samples import sample_of

import countersign
from countersign import models

ROOT = Path(__file__).parents[1]
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)


def test_the_first_example_runs(
    server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = sample_of(models.Claim, Random(1))
    media = sample_of(models.Media, Random(1))

    def answer(arrived: Arrived) -> Answer:
        if arrived.method == "POST":
            return Answer(json=media)
        return Answer(json={"object": "list", "data": [claim], "has_more": False, "next_cursor": None})

    server.answer = answer
    monkeypatch.setenv("COUNTERSIGN_API_KEY", API_KEY)
    monkeypatch.setenv("COUNTERSIGN_BASE_URL", server.url)
    exec(EXAMPLES[0], {})
    assert capsys.readouterr().out.splitlines() == [
        f"{media['media_id']} {media['sha256']}",
        f"{claim['claim_id']} {claim['reference']} {claim['risk_score']}",
    ]


def test_all_examples_fit_the_types(tmp_path: Path) -> None:
    assert len(EXAMPLES) > 7
    for number, example in enumerate(EXAMPLES):
        (tmp_path / f"example_{number}.py").write_text(example, "utf-8")
    cache = os.environ.get("MYPY_CACHE_DIR", ".mypy_cache")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, str(tmp_path)]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout.startswith("Success"), done.stdout + done.stderr


def test_the_version_is_that_of_the_changelog() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.findall(r"^## (\S+)", changelog, re.MULTILINE)[0] == countersign.__version__
