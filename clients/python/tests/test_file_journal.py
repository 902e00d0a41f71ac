"""The journal in a file: what it survives, and that two processes can't use one."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Callable

import pytest

from countersign import FileJournal, JournalEntry, JournalError
from countersign._guard.journal import JournalStep, open_actions_of


def entry(jti: str, step: JournalStep) -> JournalEntry:
    return {"jti": jti, "step": step, "at": "2026-11-20T15:11:04.310Z"}


def write(path: Path, *entries: JournalEntry) -> None:
    journal = FileJournal(path)
    for one in entries:
        journal.append(one)
    journal.close()


def add(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def steps_of(path: Path) -> dict[str, str]:
    journal = FileJournal(path)
    actions = open_actions_of(journal.read())
    journal.close()
    return {action.jti: action.step for action in actions}


def test_it_keeps_what_is_open_in_a_file_of_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    write(path, entry("a", "verified"), entry("b", "started"), entry("c", "started"), entry("c", "closed"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert steps_of(path) == {"a": "verified", "b": "started"}
    assert os.listdir(tmp_path) == ["journal"]
    assert '"c"' not in path.read_text()


def test_its_path_does_not_follow_the_program_into_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    journal = FileJournal("journal")
    monkeypatch.chdir("/")
    journal.append(entry("a", "verified"))
    journal.close()
    assert steps_of(tmp_path / "journal") == {"a": "verified"}


@pytest.mark.parametrize(
    "torn",
    [
        '{"step":"started","jti":"a"}',
        '{"step":"star\n{"holding":"opened","by":"next"}\n',
        '~\n{"holding":"op',
        '{"step":"star~\n{"hol~\n{"holding":"opened","by":"next"}\n',
    ],
)
def test_a_line_that_was_not_written_to_its_end_did_not_happen(tmp_path: Path, torn: str) -> None:
    path = tmp_path / "journal"
    write(path, entry("a", "verified"))
    add(path, torn)
    assert steps_of(path) == {"a": "verified"}


def test_a_damaged_line_in_the_middle_may_have_said_that_an_action_started(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    write(path, entry("a", "verified"))
    add(path, '{"step":"star\n{"step":"verified","jti":"b","at":""}\n')
    with pytest.raises(JournalError):
        FileJournal(path).read()


@pytest.mark.parametrize(
    "take",
    [
        lambda path: add(path, '\n{"holding":"opened","by":"another"}\n'),
        lambda path: os.unlink(path),
    ],
)
def test_it_starts_nothing_in_a_file_that_was_opened_or_removed(tmp_path: Path, take: Callable[[Path], None]) -> None:
    path = tmp_path / "journal"
    journal = FileJournal(path)
    journal.append(entry("a", "verified"))
    take(path)
    for jti in ("a", "b"):
        with pytest.raises(JournalError):
            journal.append(entry(jti, "started"))


@pytest.mark.skipif(sys.platform != "linux", reason="other machines don't tell which processes are alive")
def test_it_refuses_the_file_of_a_process_that_is_alive(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = FileJournal(path)
    journal.append(entry("a", "verified"))
    program = "import sys; from countersign import FileJournal; FileJournal(sys.argv[1]).read()"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    done = subprocess.run([sys.executable, "-c", program, path], env=environment, capture_output=True, text=True)
    assert "JournalError" in done.stderr
    journal.append(entry("a", "started"))


@pytest.mark.skipif(sys.platform != "linux", reason="it limits the size of files")
def test_it_goes_on_after_a_full_disk_without_the_note_that_did_not_fit(tmp_path: Path) -> None:
    import resource

    path = tmp_path / "journal"
    journal = FileJournal(path)
    journal.append(entry("a", "verified"))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Half of the note fits.
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 40, limits[1]))
    try:
        with pytest.raises(JournalError):
            journal.append(entry("a", "started"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert open_actions_of(journal.read())[0].step == "verified"
    journal.append(entry("b", "started"))
    journal.close()
    assert steps_of(path) == {"a": "verified", "b": "started"}
