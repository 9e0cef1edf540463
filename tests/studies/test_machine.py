"""The job that looks at this machine."""

from __future__ import annotations

import json
from typing import Any

import pytest

import engine.device as device_module
import studies.machine as machine_module
from engine.control import Control
from engine.errors import EngineMissing
from studies.jobs import load_job
from studies.machine import machine_job, processor_alone
from tests.engine.made_up_torch import GB, fake_torch


def look(monkeypatch: pytest.MonkeyPatch, **facts: Any) -> dict[str, Any]:
    torch = fake_torch(**facts)
    for module in (device_module, machine_module):
        monkeypatch.setattr(module, "import_torch", lambda: torch)
    found = machine_job(None, {}, Control())  # type: ignore[arg-type]
    return json.loads(json.dumps(found))


def test_every_device_is_listed_with_what_it_can(monkeypatch):
    found = look(monkeypatch, cards=2)
    assert [one["device"] for one in found["devices"]] == ["cuda:0", "cuda:1", "cpu"]
    first = found["devices"][0]
    assert (first["name"], first["memory_total"], first["dtype"]) == ("Card 0", 80 * GB, "bfloat16")
    assert found["chosen"] == "cuda:0"
    assert first["attention"] == "sdpa"
    assert found["devices"][-1]["formats"]["float16"] != ""


def test_a_mac_and_an_old_card_say_what_they_lack(monkeypatch):
    mac = look(monkeypatch, mps=True, macos=(13, 0))
    assert [one["device"] for one in mac["devices"]] == ["mps", "cpu"]
    assert "macOS 14" in mac["devices"][0]["formats"]["bfloat16"]
    old = look(monkeypatch, cards=1, ampere=False)
    assert old["devices"][0]["dtype"] == "float32"
    assert "no bfloat16" in old["devices"][0]["formats"]["bfloat16"]


def test_without_torch_the_line_that_mends_it_is_told(monkeypatch):
    def missing() -> None:
        raise EngineMissing("Run: pip")

    monkeypatch.setattr(machine_module, "import_torch", missing)
    found = machine_job(None, {}, Control())  # type: ignore[arg-type]
    assert (found["devices"], found["problem"]) == ([], "Run: pip")


def test_the_true_machine(home):
    pytest.importorskip("torch")
    found = load_job("machine")(home, {}, Control())
    assert found["libraries"]["torch"]
    assert found["chosen"] in [one["device"] for one in found["devices"]]
    alone, last = processor_alone(), found["devices"][-1]
    assert set(alone) == set(last)
    assert alone["memory_total"] == last["memory_total"]
