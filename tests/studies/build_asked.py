"""``triptych study`` as it would ask the worker for a build; nothing is built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from studies import cli_study_make
from studies.cli import app


class Asked:
    """What the terminal asks the worker for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
        self.home = home
        self.arguments: dict[str, Any] = {}
        monkeypatch.setattr(cli_study_make, "work", self.work)

    def work(self, _said: object, kind: str, arguments: dict[str, Any]) -> dict[str, Any]:
        assert kind == "study-build"
        self.arguments = arguments
        return {"items": 1, "hash": "0", "path": "p", "notes": ["Look here."]}

    def __call__(self, *words: object, code: int = 0) -> str:
        said = CliRunner().invoke(app, ["--home", str(self.home), "study", *map(str, words)])
        assert said.exit_code == code, said.output
        return said.output
