"""Which objects of a collection a study asks about, as the terminal takes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from db.home import Home
from engine.control import Control
from studies.cli_study_make import SHORTEST
from studies.jobs import load_job
from tests.studies.build_asked import Asked
from tests.studies.preference_material import PASSPHRASE


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Asked:
    monkeypatch.setenv("TRIPTYCH_PASSPHRASE", PASSPHRASE)
    return Asked(monkeypatch, tmp_path / "home")


def test_a_collection_is_asked_about_by_number_or_file(
    asked: Asked, scans: Home, tmp_path: Path
) -> None:
    asked.home = scans.root
    build = ("build", "--collection", "Scans", "--models", "a,b")
    asked(*build)
    assert not {"queries", "other_patients"} & set(asked.arguments)
    assert asked.arguments["total"] == 530
    asked(*build, "--queries", "3", "--other-patients")
    lot = asked.arguments["queries"]
    assert (len(set(lot)), asked.arguments["other_patients"]) == (3, True)
    assert asked.arguments["total"] == 3, "no more is asked for than there are queries"
    asked(*build, "--queries", "3", "--total", "9")
    assert asked.arguments["total"] == 9, "who asks for more is told that there is less"
    asked(*build, "--queries", "3", "--seed", "1")
    assert asked.arguments["queries"] == lot, "the same seed, the same lot"
    listed = tmp_path / "ids.txt"
    listed.write_text(f"# some\n{lot[1]}\n\n{scans.root.parent / 'scans' / 'r5.txt'}\n", "utf-8")
    asked(*build, "--queries", listed)
    assert asked.arguments["queries"][0] == lot[1]
    assert len(asked.arguments["queries"]) == 2
    (scans.root.parent / "ids.txt").write_text("scans/r5.txt\n", "utf-8")
    asked(*build, "--queries", scans.root.parent / "ids.txt")
    assert len(asked.arguments["queries"]) == 1
    for told, words in (("0", "from 1 to 6"), ("7", "has 6 objects"), ("no.txt", "neither")):
        assert words in asked(*build, "--queries", told, code=1)
    listed.write_text("12345\n", "utf-8")
    assert "Line 1 of" in asked(*build, "--queries", listed, code=1)
    listed.write_bytes(b"\xff\xfe\x00")
    assert "is no text" in asked(*build, "--queries", listed, code=1)
    listed.write_text("# none\n", "utf-8")
    assert "lists nothing" in asked(*build, "--queries", listed, code=1)
    data = ("build", "--data", tmp_path, "--models", "a,b", "--queries", "3")
    assert "go with --collection" in asked(*data, code=2)


def test_a_new_study_wants_the_passphrase_that_the_wizard_wants(asked: Asked, scans: Home) -> None:
    from app.views import study_wizard

    asked.home = scans.root
    build = ("build", "--collection", "Scans", "--models", "a,b", "--passphrase")
    assert "at least 8 characters" in asked(*build, "a" * (SHORTEST - 1), code=1)
    assert asked.arguments == {}
    asked(*build, "a" * SHORTEST)
    assert asked.arguments["passphrase"] == "a" * SHORTEST
    assert SHORTEST == study_wizard.SHORTEST


@pytest.fixture(scope="module")
def scans(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with a collection of six reports."""
    folder = tmp_path_factory.mktemp("asked")
    (folder / "scans").mkdir()
    for number in range(6):
        said = f"FINDINGS:\nNodule of {number + 3} mm in the left lung.\n"
        (folder / "scans" / f"r{number}.txt").write_text(said, encoding="utf-8")
    home = Home(folder / "home").make()
    arguments = {"paths": [str(folder / "scans")], "collection": "Scans"}
    load_job("import")(home, arguments, Control())
    return home
