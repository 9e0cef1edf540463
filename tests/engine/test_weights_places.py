"""Where weights are found, in which order, and that nothing is ever fetched to load a model."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from engine import weights as weights_module
from engine.catalog import find_card
from engine.control import Control
from engine.errors import Cancelled, WeightsMissing, WeightsRefused
from engine.hub import cache_folder, in_words
from engine.models.load import load_encoder
from engine.weights import RECORD, complete, find_weights, resolve, weights_hash

PINNED = "9fdffc58afc957d1a03a25b10dba0329ab15c2a3"


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path: Path) -> Path:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def fill(folder: Path, kind: str = "siglip") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"model_type": kind}), encoding="utf-8")
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def find(model: str, tmp_path: Path):
    shipped = tmp_path / "shipped"
    return find_weights(find_card(model), weights_dir=tmp_path / "weights", shipped_dir=shipped)


def test_loading_never_opens_a_connection(monkeypatch, tmp_path: Path):
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    for model in ("siglip-so400m-384", "rzenembed", "vlm2vec-v2.0", "me/siglip-of-mine"):
        name = find_card(model).spoken
        with pytest.raises(WeightsMissing, match=f"triptych models download {name},"):
            resolve(find_card(model), weights_dir=tmp_path, shipped_dir=tmp_path)
    with pytest.raises(WeightsMissing, match=r"about 3\.5 GB.*Nothing is downloaded unasked"):
        load_encoder("siglip-so400m-384", weights_dir=tmp_path, shipped_dir=tmp_path)


def test_the_home_comes_first_then_the_cache_of_the_hub(cache: Path, tmp_path: Path):
    assert find("siglip-so400m-384", tmp_path) is None
    snapshot = fill(cache / "models--google--siglip-so400m-patch14-384" / "snapshots" / PINNED)
    place = find("siglip-so400m-384", tmp_path)
    assert place is not None
    assert (place.folder, place.kind, place.revision) == (snapshot, "cache", PINNED)
    copied = fill(tmp_path / "weights" / "siglip-so400m-384")
    place = find("siglip-so400m-384@release", tmp_path)
    assert place is not None
    assert (place.folder, place.kind, place.revision) == (copied, "home", "local")


def test_an_unpinned_model_in_the_cache_is_found_by_its_branch(cache: Path, tmp_path: Path):
    folder = cache / "models--me--siglip-of-mine"
    fill(folder / "snapshots" / "abc123")
    assert find("me/siglip-of-mine", tmp_path) is None
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("abc123\n", encoding="utf-8")
    place = find("me/siglip-of-mine", tmp_path)
    assert place is not None
    assert place.revision == "abc123"


def test_a_folder_of_pickles_is_found_and_refused(cache: Path, tmp_path: Path):
    folder = fill(tmp_path / "weights" / "siglip-so400m-384")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert find("siglip-so400m-384", tmp_path) is not None
    card = find_card("siglip-so400m-384")
    with pytest.raises(WeightsRefused, match="safe_serialization"):
        resolve(card, weights_dir=tmp_path / "weights", shipped_dir=tmp_path)


def test_a_half_copied_folder_is_not_a_model(cache: Path, tmp_path: Path):
    folder = fill(tmp_path / "weights" / "siglip-so400m-384")
    names = {"weight_map": {"a": "model.safetensors", "b": "second.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(names), encoding="utf-8")
    assert find("siglip-so400m-384", tmp_path) is None
    (folder / "second.safetensors").write_bytes(b"more")
    assert find("siglip-so400m-384", tmp_path) is not None
    (folder / "model.safetensors.index.json").write_text("[]", encoding="utf-8")
    assert find("siglip-so400m-384", tmp_path) is None


def test_shards_that_were_copied_without_their_index_are_counted(cache: Path, tmp_path: Path):
    folder = fill(tmp_path / "weights" / "siglip-so400m-384")
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    assert find("siglip-so400m-384", tmp_path) is None
    (folder / "model-00002-of-00002.safetensors").write_bytes(b"more")
    assert find("siglip-so400m-384", tmp_path) is not None


def test_a_download_with_a_cut_file_is_not_a_model(cache: Path, tmp_path: Path):
    folder = fill(tmp_path / "weights" / "siglip-so400m-384")
    files = [{"path": "model.safetensors", "size": 7}, {"path": "config.json", "size": 24}]
    record = {"revision": PINNED, "files": files}
    (folder / RECORD).write_text(json.dumps(record), encoding="utf-8")
    place = find("siglip-so400m-384", tmp_path)
    assert place is not None
    assert (place.kind, place.revision) == ("download", PINNED)
    (folder / "model.safetensors").write_bytes(b"weight")
    assert find("siglip-so400m-384", tmp_path) is None


def test_a_pickle_under_a_known_name_is_never_taken_for_safetensors(tmp_path: Path):
    folder = tmp_path / "2024.09.27"
    weights = folder / "vision_model" / "weights.pt"
    weights.parent.mkdir(parents=True)
    (folder / "config.yaml").write_text("a: 1", encoding="utf-8")
    weights.write_bytes(b"PK\x03\x04" + b"\0" * 100)
    assert not complete(tmp_path, family="medimageinsight")
    card = find_card(str(tmp_path))
    assert card.family == "medimageinsight"
    with pytest.raises(WeightsRefused, match="pickled"):
        resolve(card, weights_dir=tmp_path / "w", shipped_dir=tmp_path / "s")
    header = b'{"__metadata__":{}}'
    weights.write_bytes(len(header).to_bytes(8, "little") + header)
    assert complete(tmp_path, family="medimageinsight")
    first = weights_hash(tmp_path, family="medimageinsight")
    (folder / "config.yaml").write_text("a: 2", encoding="utf-8")
    assert weights_hash(tmp_path, family="medimageinsight") != first


def test_reading_much_for_the_first_time_is_shown_and_can_be_stopped(tmp_path, monkeypatch):
    folder, memo = fill(tmp_path / "m"), tmp_path / ".hashes.json"
    steps: list[tuple[int, int, str, str]] = []
    control = Control(report=lambda *step: steps.append(step))
    weights_hash(folder, control=control)
    assert steps == []  # little is read in silence
    monkeypatch.setattr(weights_module, "LONG", 10)
    with pytest.raises(Cancelled):
        weights_hash(folder, memo=memo, control=Control(cancelled=lambda: True))
    weights_hash(folder, memo=memo, control=control)
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert steps[0] == (0, size, "bytes", "Reading the weights once")
    assert steps[-1][0] == size
    steps.clear()
    weights_hash(folder, memo=memo, control=control)
    assert steps == []


@pytest.mark.parametrize(
    ("name", "value", "end"),
    [
        ("HF_HUB_CACHE", "one", "one"),
        ("HF_HOME", "two", "two/hub"),
        ("XDG_CACHE_HOME", "three", "three/huggingface/hub"),
    ],
)
def test_the_cache_lies_where_the_hubs_own_programs_look(monkeypatch, tmp_path, name, value, end):
    for other in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, str(tmp_path / value))
    assert cache_folder() == tmp_path / end


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1 kB"), (4_420_000_000, "4.4 GB"),
     (999_999, "1.0 MB"), (16_600_000_000, "16.6 GB"), (2 * 10**15, "2000.0 TB")],
)  # fmt: skip
def test_bytes_in_words(count: int, words: str):
    assert in_words(count) == words
