"""A download that goes well: pinned, partial, told before, recorded after, found again, removed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub import constants

from engine import weights as weights_module
from engine.catalog import find_card
from engine.control import Control
from engine.errors import WeightsMissing, WeightsRefused
from engine.removal import remove
from engine.weights import RECORD, find_weights, read_record, resolve
from tests.engine.fake_hub import COMMIT, NEWER, FakeHub
from tests.engine.hub_fixture import (
    adapter_files,
    at_hub,
    get,
    own_card,
    places,
    qwen_files,
    safetensors,
    siglip_files,
)

WANTED = {"config.json", "tokenizer_config.json", "spiece.model", "model.safetensors"}


@pytest.fixture
def hub(monkeypatch, tmp_path):
    with at_hub(monkeypatch, tmp_path) as fake:
        own_card(tmp_path, "mine", family="siglip", hub_id="me/towers", revision=COMMIT)
        yield fake


def found(tmp_path: Path, model: str = "mine"):
    where = places(tmp_path)
    card = find_card(model, cards_dir=where.cards)
    return find_weights(card, weights_dir=where.weights, shipped_dir=where.shipped)


def test_what_is_wanted_arrives_whole_and_is_told_before_the_first_byte(hub: FakeHub, tmp_path):
    files = siglip_files()
    hub.add("me/towers", files)
    said: list[str] = []
    steps: list[tuple[int, int, str, str]] = []
    control = Control(log=said.append, report=lambda *step: steps.append(step))
    done = get("mine", tmp_path, control)
    folder = tmp_path / "weights" / "mine"
    assert done.folder == folder
    assert {path.name for path in folder.iterdir()} == WANTED | {RECORD}
    assert all((folder / name).read_bytes() == files[name] for name in WANTED)
    size = sum(len(files[name]) for name in WANTED)
    assert (done.size, done.fetched, done.revision) == (size, size, COMMIT)
    assert steps[0][1:] == (size, "bytes", "Fetching mine")
    assert steps[-1][0] == size
    assert "301 kB in 4 files" in said[0] or "300 kB in 4 files" in said[0]
    assert COMMIT in said[0]
    assert "pinned" in said[0]


def test_the_record_says_what_came_and_the_hash_is_known_without_reading(
    hub: FakeHub, tmp_path, monkeypatch
):
    files = siglip_files()
    hub.add("me/towers", files)
    get("mine", tmp_path)
    record = read_record(tmp_path / "weights" / "mine")
    assert record is not None
    assert (record["hub_id"], record["revision"], record["asked"]) == ("me/towers", COMMIT, COMMIT)
    listed = {file["path"]: file["sha256"] for file in record["files"]}
    assert listed["model.safetensors"] == hashlib.sha256(files["model.safetensors"]).hexdigest()
    read: list[str] = []
    real = weights_module._hash_file

    def noted(path, meter):
        read.append(path.name)
        return real(path, meter)

    monkeypatch.setattr(weights_module, "_hash_file", noted)
    where = places(tmp_path)
    card = find_card("mine", cards_dir=where.cards)
    here = resolve(card, weights_dir=where.weights, shipped_dir=where.shipped)
    assert here.revision == COMMIT
    assert "model.safetensors" not in read
    assert "config.json" in read


def test_a_second_time_nothing_is_fetched(hub: FakeHub, tmp_path):
    hub.add("me/towers", siglip_files())
    get("mine", tmp_path)
    asked = len(hub.asked)
    said: list[str] = []
    again = get("mine", tmp_path, Control(log=said.append))
    assert (again.size, again.fetched, len(hub.asked)) == (0, 0, asked)
    assert "is on this machine" in said[0]


def test_an_unpinned_card_takes_the_newest_and_writes_it_down(hub: FakeHub, tmp_path):
    own_card(tmp_path, "loose", family="siglip", hub_id="me/towers")
    repository = hub.add("me/towers", siglip_files())
    said: list[str] = []
    assert get("loose", tmp_path, Control(log=said.append)).revision == COMMIT
    assert "it is written down" in said[0]
    repository.commits[NEWER], repository.head = siglip_files(1), NEWER
    assert get("loose", tmp_path).revision == COMMIT  # what is here stays what it is
    record = read_record(tmp_path / "weights" / "loose")
    assert record is not None
    assert record["asked"] is None


def test_a_branch_is_fetched_once_and_is_not_called_pinned(hub: FakeHub, tmp_path):
    own_card(tmp_path, "loose", family="siglip", hub_id="me/towers", revision="main")
    hub.add("me/towers", siglip_files())
    said: list[str] = []
    assert get("loose", tmp_path, Control(log=said.append)).revision == COMMIT
    assert "it is written down" in said[0]
    assert get("loose", tmp_path).fetched == 0


def test_another_pin_replaces_the_download_and_keeps_what_a_user_laid_there(hub, tmp_path):
    repository = hub.add("me/towers", siglip_files())
    repository.commits[NEWER] = siglip_files(1)
    get("mine", tmp_path)
    folder = tmp_path / "weights" / "mine"
    (folder / "triptych.json").write_text("{}", encoding="utf-8")
    own_card(tmp_path, "mine", family="siglip", hub_id="me/towers", revision=NEWER)
    assert found(tmp_path) is None
    assert get("mine", tmp_path).revision == NEWER
    assert (folder / "model.safetensors").read_bytes() == siglip_files(1)["model.safetensors"]
    assert (folder / "triptych.json").is_file()


def test_a_file_that_was_lost_is_fetched_alone(hub: FakeHub, tmp_path):
    hub.add("me/towers", siglip_files())
    get("mine", tmp_path)
    folder = tmp_path / "weights" / "mine"
    (folder / "spiece.model").unlink()
    assert found(tmp_path) is None
    again = get("mine", tmp_path)
    assert again.fetched == len(b"pieces")
    assert {path.name for path in folder.iterdir()} == WANTED | {RECORD}


def test_a_hub_id_may_name_its_commit(hub: FakeHub, tmp_path):
    repository = hub.add("me/siglip-small", siglip_files())
    repository.commits[NEWER], repository.head = siglip_files(1), NEWER
    done = get(f"me/siglip-small@{COMMIT}", tmp_path)
    assert (done.revision, done.folder.name) == (COMMIT, "me--siglip-small--c0ffee000000")
    assert get("me/siglip-small", tmp_path).revision == NEWER


def test_an_adapter_brings_its_base_and_both_sizes_are_told_first(hub: FakeHub, tmp_path):
    card = find_card("vlm2vec-v2.0")
    base = find_card("Qwen/Qwen2-VL-2B-Instruct")
    hub.add(card.hub_id, adapter_files(), commit=card.revision)
    hub.add(base.hub_id, qwen_files(), commit=base.revision)
    said: list[str] = []
    first_byte: list[int] = []
    hub.on_bytes = lambda: first_byte.append(len(said))
    done = get(card, tmp_path, Control(log=said.append))
    assert first_byte[0] >= 3  # both and the sum were said before
    assert "with its base Qwen2-VL-2B-Instruct" in said[2]
    assert done.size == sum(map(len, [*adapter_files().values(), *qwen_files().values()]))
    where = places(tmp_path)
    here = resolve(card, weights_dir=where.weights, shipped_dir=where.shipped)
    assert here.adapter == where.weights / "vlm2vec-v2.0"
    assert here.folder == where.weights / "qwen2-vl-2b-instruct"
    assert here.revision == f"{base.revision}+{card.revision}"


def test_an_adapter_copied_by_hand_gets_the_base_that_its_card_names(hub: FakeHub, tmp_path):
    folder = tmp_path / "weights" / "medemb-2b"
    folder.mkdir(parents=True)
    for name, content in adapter_files("anything").items():
        (folder / name).write_bytes(content)
    base = find_card("qwen3-vl-embedding-2b")
    hub.add(base.hub_id, qwen_files("qwen3_vl"), commit=base.revision)
    done = get("medemb-2b", tmp_path)
    assert "a folder that was copied there" in done.said[0]
    where = places(tmp_path)
    here = resolve(find_card("medemb-2b"), weights_dir=where.weights, shipped_dir=where.shipped)
    assert here.folder == where.weights / base.id
    assert here.revision == f"{base.revision}+local"


def test_an_adapter_outside_the_catalogue_names_its_base_itself(hub: FakeHub, tmp_path):
    own_card(tmp_path, "tuned", family="siglip", hub_id="me/tuned")
    hub.add("me/tuned", adapter_files("somebody/base"))
    hub.add("somebody/base", qwen_files())
    get("tuned", tmp_path)
    assert (tmp_path / "weights" / "somebody--base" / RECORD).is_file()
    hub.add("me/tuned", adapter_files("no such thing"))
    remove(find_card("tuned", cards_dir=tmp_path / "cards"), weights_dir=tmp_path / "weights")
    with pytest.raises(WeightsMissing, match="base 'no such thing' is not known"):
        get("tuned", tmp_path)


def test_the_layout_of_medimageinsight_is_taken_as_it_is(hub: FakeHub, tmp_path):
    files = {
        "2024.09.27/config.yaml": b"a: 1",
        "2024.09.27/vision_model/medimageinsigt-v1.0.0.pt": safetensors(3),
        "2024.09.27/language_model/clip_tokenizer_4.16.2/vocab.json": b"{}",
        "2024.09.27/language_model/clip_tokenizer_4.16.2/merges.txt": b"a b",
        "medimageinsightmodel.py": b"import os",
        "README.md": b"",
    }
    hub.add("lion-ai/MedImageInsights", files)
    done = get("medimageinsight", tmp_path)
    assert done.size == sum(len(files[name]) for name in files if name.startswith("2024"))
    place = found(tmp_path, "medimageinsight")
    assert place is not None
    assert place.revision == COMMIT
    files["2024.09.27/vision_model/medimageinsigt-v1.0.0.pt"] = b"PK\x03\x04" + b"\0" * 5000
    remove(find_card("medimageinsight"), weights_dir=tmp_path / "weights")
    with pytest.raises(WeightsRefused, match="does not open like the safetensors file"):
        get("medimageinsight", tmp_path)


def test_a_model_of_sentence_transformers_keeps_its_folders(hub: FakeHub, tmp_path, monkeypatch):
    monkeypatch.setitem(weights_module.WANTED_BELOW, "siglip", ("*",))
    files = {
        "modules.json": b"[]",
        "0_Part/config.json": b"{}",
        "0_Part/model.safetensors": safetensors(4, 3000),
        "1_Pooling/config.json": b"{}",
        "onnx/model.safetensors": safetensors(4, 3000),
        "checkpoint-10/model.safetensors": safetensors(4, 3000),
    }
    hub.add("me/towers", files)
    get("mine", tmp_path)
    folder = tmp_path / "weights" / "mine"
    kept = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert kept == {*list(files)[:4], RECORD}
    where = places(tmp_path)
    card = find_card("mine", cards_dir=where.cards)
    first = resolve(card, weights_dir=where.weights, shipped_dir=where.shipped).digest
    (folder / "1_Pooling" / "config.json").write_bytes(b'{"pooling": "max"}')  # of another size
    assert found(tmp_path) is None
    assert first


def test_the_real_client_gets_the_same_files_from_this_hub(hub: FakeHub, tmp_path, monkeypatch):
    """So that the fake one says nothing that only this program would believe."""
    files = siglip_files()
    hub.add("me/towers", files)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    folder = huggingface_hub.snapshot_download(
        "me/towers",
        revision=COMMIT,
        endpoint=hub.endpoint,
        local_dir=tmp_path / "theirs",
        allow_patterns=sorted(WANTED),
    )
    get("mine", tmp_path)
    for name in WANTED:
        theirs = (Path(folder) / name).read_bytes()
        assert theirs == (tmp_path / "weights" / "mine" / name).read_bytes() == files[name]


def test_remove_frees_what_was_fetched_and_leaves_what_was_not(hub: FakeHub, tmp_path):
    hub.add("me/towers", siglip_files())
    size = get("mine", tmp_path).size
    folder = tmp_path / "weights" / "mine"
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    card = find_card("mine", cards_dir=tmp_path / "cards")
    gone = remove(card, weights_dir=tmp_path / "weights")
    assert (gone.freed, gone.kept) == (size, ("notes.txt",))
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    with pytest.raises(WeightsRefused, match="put there by somebody else"):
        remove(card, weights_dir=tmp_path / "weights")
    (folder / "notes.txt").unlink()
    folder.rmdir()
    with pytest.raises(WeightsRefused, match="is not here"):
        remove(card, weights_dir=tmp_path / "weights")


def test_a_record_that_leads_out_of_the_folder_deletes_nothing_there(hub: FakeHub, tmp_path):
    hub.add("me/towers", siglip_files())
    get("mine", tmp_path)
    folder, outside = tmp_path / "weights" / "mine", tmp_path / "weights" / "other.txt"
    outside.write_text("keep", encoding="utf-8")
    record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    record["files"].append({"path": "../other.txt", "size": 4})
    (folder / RECORD).write_text(json.dumps(record), encoding="utf-8")
    remove(find_card("mine", cards_dir=tmp_path / "cards"), weights_dir=tmp_path / "weights")
    assert outside.read_text(encoding="utf-8") == "keep"
    assert not folder.exists()


def test_a_users_folder_and_shipped_models_are_never_removed(tmp_path: Path):
    for model in ("siglip-nano", "random", "medemb-2b"):
        with pytest.raises(WeightsRefused, match="Nothing was deleted"):
            remove(find_card(model), weights_dir=tmp_path)


def test_a_link_under_a_models_name_leads_to_nothing_that_is_ours(hub: FakeHub, tmp_path):
    hub.add("me/towers", siglip_files())
    folder = get("mine", tmp_path).folder
    other = folder.with_name("other")
    own_card(tmp_path, "other", family="siglip", hub_id="me/towers", revision=COMMIT)
    other.symlink_to(folder)
    other.with_name(".other.part").mkdir()
    card = find_card("other", cards_dir=places(tmp_path).cards)
    assert remove(card, weights_dir=places(tmp_path).weights).freed == 0
    assert {path.name for path in folder.iterdir()} == WANTED | {RECORD}
    assert other.is_symlink()
    assert not other.with_name(".other.part").exists()


def test_mending_a_gap_keeps_what_a_user_laid_there(hub: FakeHub, tmp_path):
    hub.add("me/towers", siglip_files())
    folder = get("mine", tmp_path).folder
    (folder / "draft.part").write_text("mine")
    (folder / "config.json").unlink()
    get("mine", tmp_path)
    assert (folder / "draft.part").read_text() == "mine"
    assert {path.name for path in folder.iterdir()} == WANTED | {RECORD, "draft.part"}
