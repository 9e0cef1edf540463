"""Downloads that go wrong: cut, killed, altered, gated, gone, full, offline, stopped."""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine import transfer
from engine.alone import alone
from engine.catalog import find_card
from engine.control import Control
from engine.errors import Cancelled, EngineMissing, WeightsMissing, WeightsRefused
from engine.hub import has_token
from engine.removal import remove
from engine.weights import find_weights
from tests.engine.fake_hub import COMMIT, NEWER, FakeHub
from tests.engine.hub_fixture import at_hub, get, own_card, places, safetensors, siglip_files

ROOT = Path(__file__).resolve().parents[2]
WEIGHTS = "model.safetensors"
TOKEN = "hf_notforanyone"  # a made-up word


@pytest.fixture
def hub(monkeypatch, tmp_path):
    with at_hub(monkeypatch, tmp_path) as fake:
        own_card(tmp_path, "mine", family="siglip", hub_id="me/towers", revision=COMMIT)
        fake.add("me/towers", siglip_files())
        yield fake


def is_whole(tmp_path: Path) -> bool:
    where = places(tmp_path)
    card = find_card("mine", cards_dir=where.cards)
    place = find_weights(card, weights_dir=where.weights, shipped_dir=where.shipped)
    if place is None:
        assert not (where.weights / "mine").exists()
        return False
    files = siglip_files()
    return all(path.read_bytes() == files[path.name] for path in place.folder.glob("*.s*"))


def refused(tmp_path: Path, match: str, kind: type[Exception] = WeightsMissing, **more) -> str:
    with pytest.raises(kind, match=match) as caught:
        get("mine", tmp_path, **more)
    assert TOKEN not in str(caught.value)
    assert not is_whole(tmp_path)
    return str(caught.value)


def test_a_cut_connection_is_taken_up_where_it_broke(hub: FakeHub, tmp_path):
    hub.cut_after[WEIGHTS] = [100_000, 50_000]
    said: list[str] = []
    steps: list[int] = []
    control = Control(log=said.append, report=lambda done, *_: steps.append(done))
    done = get("mine", tmp_path, control)
    ranges = [head.get("range") for head in hub.bodies(f"{WEIGHTS}?signed")]
    assert ranges[0] is None
    starts = [int(str(one).removeprefix("bytes=").removesuffix("-")) for one in ranges[1:]]
    assert len(starts) == 2
    assert 0 < starts[0] <= 100_000
    assert starts[0] < starts[1] <= 150_000
    assert sum("connection broke" in sentence for sentence in said) == 2
    assert steps == sorted(steps)
    assert steps[-1] == done.size == done.fetched
    assert is_whole(tmp_path)


def test_a_line_that_stays_dead_ends_in_a_sentence_and_the_rest_is_taken_up(hub, tmp_path):
    hub.cut_after[WEIGHTS] = [200_000] + [0] * 20
    said = refused(tmp_path, "What has arrived stays")
    assert "hf download me/towers" in said
    hub.cut_after.clear()
    again = get("mine", tmp_path)
    assert again.fetched <= again.size - 150_000
    assert any("from an earlier try" in sentence for sentence in again.said)
    assert is_whole(tmp_path)


def test_a_killed_download_is_taken_up(hub: FakeHub, tmp_path):
    hub.repositories["me/towers"].commits[COMMIT][WEIGHTS] = big = safetensors(7, 3_000_000)
    enough = threading.Event()
    parts = tmp_path / "weights" / ".mine.part"

    def slowly() -> None:
        if sum(path.stat().st_size for path in parts.glob(f"{WEIGHTS}*.part")) > 500_000:
            enough.set()
        time.sleep(0.002)

    hub.on_bytes = slowly
    code = (
        "from pathlib import Path; from tests.engine.hub_fixture import get; "
        f"get('mine', Path({str(tmp_path)!r}))"
    )
    child = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.PIPE)
    assert enough.wait(60)
    child.kill()
    child.communicate()
    hub.on_bytes = lambda: None
    assert not (tmp_path / "weights" / "mine").exists()
    again = get("mine", tmp_path)
    assert again.fetched <= again.size - 500_000
    assert (tmp_path / "weights" / "mine" / WEIGHTS).read_bytes() == big


def test_a_hub_without_ranges_starts_over_and_the_count_stays_true(hub: FakeHub, tmp_path):
    hub.no_ranges = True
    hub.cut_after[WEIGHTS] = [100_000]
    steps: list[int] = []
    done = get("mine", tmp_path, Control(report=lambda done, *_: steps.append(done)))
    assert steps[-1] == done.size
    assert done.fetched > done.size
    assert is_whole(tmp_path)


@pytest.mark.parametrize("name", [WEIGHTS, "config.json"])
def test_a_wrong_checksum_deletes_that_file_and_says_so(hub: FakeHub, tmp_path, name):
    length = 64 if name == WEIGHTS else 40
    hub.repositories["me/towers"].wrong[name] = "0" * length
    refused(tmp_path, rf"{name} arrived with another checksum .* was deleted", WeightsRefused)
    growing = tmp_path / "weights" / ".mine.part"
    assert not list(growing.glob(f"{name}*"))
    hub.repositories["me/towers"].wrong.clear()
    again = get("mine", tmp_path)
    assert again.fetched < again.size or name != WEIGHTS
    assert is_whole(tmp_path)


def test_bytes_altered_on_this_disk_are_found_when_a_download_is_taken_up(hub, tmp_path):
    hub.cut_after[WEIGHTS] = [200_000] + [0] * 20
    refused(tmp_path, "What has arrived stays")
    (part,) = (tmp_path / "weights" / ".mine.part").glob(f"{WEIGHTS}*")
    with part.open("r+b") as stream:
        stream.seek(1000)
        stream.write(b"altered")
    hub.cut_after.clear()
    refused(tmp_path, "another checksum", WeightsRefused)
    get("mine", tmp_path)
    assert is_whole(tmp_path)


def gate(hub: FakeHub, tmp_path: Path, **more: object) -> None:
    own_card(
        tmp_path, "mine", family="siglip", hub_id="me/towers", revision=COMMIT, gated=True,
        licence="Some terms",
    )  # fmt: skip
    hub.add("me/towers", siglip_files(), gated=True, **more)


def test_a_gate_is_explained_with_the_page_and_the_login(hub: FakeHub, tmp_path, monkeypatch):
    gate(hub, tmp_path, token=TOKEN)
    assert has_token() is False
    said = refused(tmp_path, r"Some terms.*must be accepted first: open https://\S+/me/towers")
    assert "`hf auth login`" in said
    assert hub.bodies("resolve") == []  # before the first byte
    monkeypatch.setenv("HF_TOKEN", "hf_another")
    assert "hf auth login" not in refused(tmp_path, "accept the terms, and try again")
    hub.repositories["me/towers"].awaiting = True
    refused(tmp_path, "awaiting the publisher's approval")


def test_the_token_opens_the_gate_and_goes_nowhere_else(hub: FakeHub, tmp_path, monkeypatch):
    gate(hub, tmp_path, token=TOKEN)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    said: list[str] = []
    get("mine", tmp_path, Control(log=said.append))
    assert is_whole(tmp_path)
    with_token = [where for _, where, head in hub.asked if TOKEN in head.get("authorization", "")]
    assert with_token
    assert not any("signed=yes" in where for where in with_token)  # not to the store
    assert TOKEN not in "".join(said)
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(TOKEN.encode() in path.read_bytes() for path in kept)


def test_a_revision_or_a_repository_that_is_gone_is_said(hub: FakeHub, tmp_path):
    own_card(tmp_path, "mine", family="siglip", hub_id="me/towers", revision=NEWER)
    refused(tmp_path, f"does not know its revision {NEWER}; mend the card")
    own_card(tmp_path, "mine", family="siglip", hub_id="me/nothing")
    refused(tmp_path, "knows no me/nothing, or keeps it private")


def test_a_busy_hub_is_asked_again_a_broken_one_is_not_for_ever(hub: FakeHub, tmp_path):
    hub.answer[WEIGHTS] = [503, 429]
    get("mine", tmp_path)
    assert is_whole(tmp_path)
    remove(find_card("mine", cards_dir=tmp_path / "cards"), weights_dir=tmp_path / "weights")
    hub.answer[WEIGHTS] = [500] * 20
    refused(tmp_path, r"the hub answers 500\), 6 times without a new byte")
    hub.answer[WEIGHTS] = [404]
    refused(tmp_path, "the hub answers 404")


def test_a_full_disk_is_found_before_the_first_byte(hub: FakeHub, tmp_path, monkeypatch):
    free = SimpleNamespace(total=10**9, used=10**9, free=100_200_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: free)
    said = refused(tmp_path, r"needs 30\d kB, 100\.2 MB free at ")
    assert str(tmp_path) in said
    assert "--home" in said
    assert hub.bodies("resolve") == []
    hub.cut_after[WEIGHTS] = [200_000] + [0] * 20
    free.free = 10**9
    refused(tmp_path, "What has arrived stays")
    hub.cut_after.clear()
    free.free = 100_200_000  # what is here already is not asked for again
    get("mine", tmp_path)
    assert is_whole(tmp_path)


def test_a_disk_that_fills_up_on_the_way_is_a_sentence(hub: FakeHub, tmp_path, monkeypatch):
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(transfer.os, "fsync", full)
        refused(tmp_path, r"cannot be written to .* \(No space left on device\)")
    get("mine", tmp_path)
    assert is_whole(tmp_path)


def test_offline_is_said_with_the_way_by_hand(hub: FakeHub, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    said = refused(tmp_path, "switched off by HF_HUB_OFFLINE")
    assert f"hf download me/towers --revision {COMMIT}" in said
    assert str(tmp_path / "weights" / "mine") in said
    assert hub.asked == []


def test_a_network_that_is_down_is_said_with_the_way_by_hand(hub, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    said = refused(tmp_path, r"http://127\.0\.0\.1:9 cannot be reached \(ConnectError\)")
    assert "By hand" in said


def test_a_page_that_is_no_hub_is_said(hub: FakeHub, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", f"{hub.endpoint}/me/towers/resolve/main/README.md?")
    refused(tmp_path, "does not answer like a hub")


def test_a_mirror_that_tells_no_sizes_is_not_trusted(hub: FakeHub, tmp_path):
    hub.repositories["me/towers"].no_sizes = True
    refused(tmp_path, "without its size", WeightsRefused)


def test_without_the_hubs_library_the_line_that_mends_it_is_named(hub, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert has_token() is None
    refused(tmp_path, r"pip install", EngineMissing)


def test_stop_is_heard_within_a_chunk_and_what_came_is_taken_up(hub: FakeHub, tmp_path):
    hub.repositories["me/towers"].commits[COMMIT][WEIGHTS] = safetensors(7, 3_000_000)
    seen = [0]
    monkey = Control(
        cancelled=lambda: seen[0] > 0, report=lambda done, *_: seen.__setitem__(0, done)
    )
    with pytest.raises(Cancelled):
        get("mine", tmp_path, monkey)
    held = sum(path.stat().st_size for path in (tmp_path / "weights" / ".mine.part").iterdir())
    assert held < 1_000_000
    assert not is_whole(tmp_path)
    again = get("mine", tmp_path)
    assert again.fetched == again.size - held
    assert not (tmp_path / "weights" / ".mine.part").exists()


def test_progress_comes_at_most_ten_times_a_second(hub: FakeHub, tmp_path):
    hub.repositories["me/towers"].commits[COMMIT][WEIGHTS] = safetensors(7, 2_000_000)
    hub.on_bytes = lambda: time.sleep(0.004)
    times: list[float] = []
    get("mine", tmp_path, Control(report=lambda *_: times.append(time.monotonic())))
    assert len(times) >= 3
    assert len(times) <= 10 * (times[-1] - times[0]) + 4  # first, last, and the ends of files


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt"])
def test_only_pickles_are_refused_before_any_byte(hub: FakeHub, tmp_path, name):
    hub.add("me/towers", {"config.json": b"{}", name: b"\x80\x04."})
    said = refused(tmp_path, f"holds {name}, a pickled file", WeightsRefused)
    assert "safe_serialization" in said
    assert "spaces/safetensors/convert" in said
    assert hub.bodies("resolve") == []
    hub.add("me/towers", {"README.md": b""})
    refused(tmp_path, "holds no weights", WeightsRefused)


def test_a_folder_of_somebody_else_is_not_written_into(hub: FakeHub, tmp_path):
    folder = tmp_path / "weights" / "mine"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(WeightsRefused, match="did not download"):
        get("mine", tmp_path)
    assert [path.name for path in folder.iterdir()] == ["config.json"]


def test_a_file_that_would_lie_outside_is_not_taken(hub: FakeHub, tmp_path):
    files = siglip_files() | {"../../evil.json": b"{}"}
    hub.add("me/towers", files)
    refused(tmp_path, "it is not taken", WeightsRefused)
    assert not list(tmp_path.rglob("evil.json"))


def test_two_downloads_of_one_model_do_not_meet(hub: FakeHub, tmp_path):
    with alone(tmp_path / "weights" / "mine", "Mine"):
        refused(tmp_path, "Another window or command is at the weights of mine")
    get("mine", tmp_path)
    assert is_whole(tmp_path)


def test_a_half_download_can_be_removed(hub: FakeHub, tmp_path):
    hub.cut_after[WEIGHTS] = [200_000] + [0] * 20
    refused(tmp_path, "What has arrived stays")
    card = find_card("mine", cards_dir=tmp_path / "cards")
    gone = remove(card, weights_dir=tmp_path / "weights")
    assert gone.freed > 100_000
    assert not (tmp_path / "weights" / ".mine.part").exists()
