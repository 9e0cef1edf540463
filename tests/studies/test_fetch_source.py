"""Open sources over a server on this machine: told first, resumed, checked, refused with words."""

from __future__ import annotations

import json
import socket
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import engine.remote
from db.home import Home
from engine.control import Control
from engine.errors import Cancelled, WeightsMissing, WeightsRefused
from engine.weights import read_record
from studies.cli import app
from studies.errors import BadRequest, StudyError
from studies.fetch_source import fetch_job
from studies.medheb.builders.catalogue import source_cards
from tests.engine.fake_hub import FakeHub
from tests.engine.hub_fixture import at_hub

RECORD = "10519652"


def content(seed: int, size: int = 200_000) -> bytes:
    return np.random.default_rng(seed).integers(0, 256, size, np.uint8).tobytes()


FILES = {
    "bloodmnist.npz": content(1), "bloodmnist_64.npz": content(2), "pathmnist.npz": content(3)
}  # fmt: skip
TABLES = {"corpus.jsonl": b'{"_id": "1"}\n', "queries.jsonl": b"{}\n", "default.jsonl": b"{}\n"}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    with at_hub(monkeypatch, tmp_path) as fake:
        fake.add(RECORD, FILES)
        yield fake


def fetch(
    hub: FakeHub, tmp_path: Path, source: str = "bloodmnist", *, yes: bool = True,
    control: Control | None = None, files: tuple[str, ...] = (),
) -> dict[str, Any]:  # fmt: skip
    given = {
        "source": source, "folder": str(tmp_path / "sources"), "yes": yes, "files": list(files),
        "zenodo": hub.endpoint,
    }  # fmt: skip
    return fetch_job(Home(tmp_path / "home"), given, control or Control())


def test_everything_is_told_and_nothing_comes_before_a_yes(hub: FakeHub, tmp_path: Path):
    told = fetch(hub, tmp_path, yes=False)
    assert not told["whole"]
    assert (told["size"], told["need"], told["fetched"]) == (200_000, 200_000, 0)
    (sentence,) = told["said"]
    for word in ("BloodMNIST", "200 kB in 1 files (bloodmnist.npz)", "with checksums", "Licence",
                 f"zenodo.org/records/{RECORD}"):  # fmt: skip
        assert word in sentence
    assert not (tmp_path / "sources").exists()
    assert not hub.bodies("content")


def test_a_record_arrives_whole_with_progress_and_is_not_fetched_twice(
    hub: FakeHub, tmp_path: Path
):
    steps: list[tuple[int, int, str, str]] = []
    control = Control(report=lambda *step: steps.append(step))
    done = fetch(hub, tmp_path, control=control)
    folder = tmp_path / "sources" / "bloodmnist"
    assert done["whole"]
    assert (folder / "bloodmnist.npz").read_bytes() == FILES["bloodmnist.npz"]
    assert steps[-1] == (200_000, 200_000, "bytes", "Fetching BloodMNIST")
    record = read_record(folder)
    assert record is not None
    assert record["licence"]
    again = fetch(hub, tmp_path)
    assert (again["whole"], again["fetched"]) == (True, 0)
    assert len(hub.bodies("content")) == 1
    other = fetch(hub, tmp_path, files=("bloodmnist_64.npz",))
    assert other["fetched"] == 200_000, "the first file stays and is not fetched again"
    assert {path.name for path in folder.iterdir() if path.suffix == ".npz"} == {
        "bloodmnist.npz", "bloodmnist_64.npz",
    }  # fmt: skip


def test_a_cut_connection_is_taken_up_where_it_broke(hub: FakeHub, tmp_path: Path):
    hub.cut_after["bloodmnist.npz"] = [50_000, 60_000]
    said: list[str] = []
    done = fetch(hub, tmp_path, control=Control(log=said.append))
    assert done["whole"]
    starts = [head.get("range", "") for head in hub.bodies("content")]
    assert starts == ["", "bytes=50000-", "bytes=110000-"]
    assert any("The connection broke" in sentence for sentence in said)


def test_a_stop_keeps_what_has_arrived(hub: FakeHub, tmp_path: Path):
    wish: list[bool] = []

    def report(done: int, *_: object) -> None:
        if done:
            wish.append(True)

    with pytest.raises(Cancelled):
        fetch(hub, tmp_path, control=Control(cancelled=lambda: bool(wish), report=report))
    assert not (tmp_path / "sources" / "bloodmnist").exists(), "half a source is none"
    done = fetch(hub, tmp_path)
    assert done["whole"]
    assert 0 < done["fetched"] < 200_000 or done["fetched"] == 200_000


def test_a_wrong_checksum_is_refused_and_deleted(hub: FakeHub, tmp_path: Path):
    hub.repositories[RECORD].wrong["bloodmnist.npz"] = "0" * 32
    with pytest.raises(WeightsRefused, match="another checksum"):
        fetch(hub, tmp_path)
    assert not list((tmp_path / "sources").rglob("*.npz*"))


def test_a_dataset_of_the_hub(hub: FakeHub, tmp_path: Path):
    hub.add("mteb/medical_qa", {**TABLES, "README.md": b"words"})
    done = fetch(hub, tmp_path, "medical_qa")
    folder = tmp_path / "sources" / "medical_qa"
    assert {path.name for path in folder.glob("*.jsonl")} == set(TABLES)
    assert not (folder / "README.md").exists()
    assert "huggingface.co/datasets/mteb/medical_qa" in done["said"][0]


def test_the_token_goes_to_the_hub_alone(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HF_TOKEN", "hf_" + "secret" * 5)
    fetch(hub, tmp_path)
    assert hub.asked
    assert not any("authorization" in heads for _, _, heads in hub.asked)


def test_what_needs_an_agreement_is_only_told(hub: FakeHub, tmp_path: Path):
    for card in source_cards():
        if card.access == "open" and card.files:
            continue
        with pytest.raises(BadRequest) as refused:
            fetch(hub, tmp_path, card.id)
        assert card.url in str(refused.value)
        assert card.obtain in str(refused.value)
    assert not hub.asked
    assert all(card.access == "open" for card in source_cards() if card.files)
    with pytest.raises(StudyError, match="no source 'nothing'"):
        fetch(hub, tmp_path, "nothing")


def test_faults_are_sentences(hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(WeightsRefused, match=r"holds no \*\.tar; there are: bloodmnist.npz"):
        fetch(hub, tmp_path, files=("*.tar",))
    with pytest.raises(WeightsMissing, match="Zenodo knows no record 7442914"):
        fetch(hub, tmp_path, "han_seg")
    (tmp_path / "sources" / "bloodmnist").mkdir(parents=True)
    with pytest.raises(WeightsRefused, match="did not download"):
        fetch(hub, tmp_path)
    (tmp_path / "sources" / "bloodmnist").rmdir()
    usage = namedtuple("usage", "total used free")(0, 0, 1000)
    with monkeypatch.context() as full:
        full.setattr(engine.remote.shutil, "disk_usage", lambda _: usage)
        with pytest.raises(WeightsMissing, match=r"needs 200 kB, 1 kB free.*--to"):
            fetch(hub, tmp_path)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        hub.endpoint = f"http://127.0.0.1:{closed.getsockname()[1]}"
    with pytest.raises(WeightsMissing, match="cannot be reached"):
        fetch(hub, tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(WeightsMissing, match="switched off"):
        fetch(hub, tmp_path)


def test_a_name_that_leads_out_is_not_taken(hub: FakeHub, tmp_path: Path):
    hub.add(RECORD, {"../bloodmnist.npz": b"x"})
    with pytest.raises(WeightsRefused, match="it is not taken"):
        fetch(hub, tmp_path, files=("*bloodmnist.npz",))


def test_the_command_asks_for_a_yes(tmp_path: Path):
    words = ["--home", str(tmp_path / "home"), "bench", "fetch", "mimic_cxr", "--to", str(tmp_path)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 1
    assert "Apply and read at" in done.output


def test_the_words_of_the_command(hub: FakeHub, tmp_path: Path):
    from studies.cli_bench_more import fetch_text

    before = fetch_text(fetch(hub, tmp_path, yes=False))
    assert "To fetch it add --yes" in before
    after = fetch_text(fetch(hub, tmp_path))
    assert "Everything is here, 200 kB fetched now." in after
    assert "bench build --source bloodmnist --from" in after
    assert json.dumps(fetch(hub, tmp_path))
