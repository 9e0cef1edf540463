"""VLM2Vec-V2.0 against its authors' code, run on the very same tiny base and DoRA adapter.

The recorded vectors are theirs (``golden/make_vlm2vec.py`` says which code and versions). Real
weights were never run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.errors import ItemRefused, WeightsRefused
from engine.evidence.item import ModelInput
from engine.models import qwen2_vl
from engine.models.load import load_encoder
from engine.models.qwen2_vl import Qwen2VLEncoder
from tests.peers import tally
from tests.peers.rzen_cases import HOSTILE, picture, stack
from tests.peers.rzen_cases import MARKED as MARKED_TEXT
from tests.peers.tiny import write_settings
from tests.peers.tiny_qwen2 import make_adapter, make_qwen2
from tests.peers.vlm2vec_cases import (
    ADAPTER,
    BASE,
    BATCH,
    CASES,
    KINDS,
    MARKED,
    PROBES,
    QUERY,
    Case,
    array,
)  # fmt: skip
from tests.peers.vlm2vec_tiny import make_kinds, make_vlm2vec
from tests.peers.weights import digest_of

MODEL = "VLM2Vec-V2.0"
CLOSE, DIFFERENT = 1e-5, 1e-3
GOLDEN = json.loads((Path(__file__).parent / "golden" / "vlm2vec.json").read_text("utf-8"))
REFERENCE = f"{GOLDEN['code'][:31]}, {', '.join(GOLDEN['environment'][:2])}"


def item(case: Case) -> ModelInput:
    """A case as the adapters take it."""
    texts = () if case.text is None else (case.text,)
    return ModelInput(case.instruction, texts, case.images, tuple(map(array, case.volumes)))


def load(folder: Path, **settings: object) -> Qwen2VLEncoder:
    there = folder.parent
    encoder = load_encoder(
        str(folder), weights_dir=there, shipped_dir=there, device="cpu", settings=settings
    )
    assert isinstance(encoder, Qwen2VLEncoder)
    return encoder


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Adapter and base side by side, as published; the adapter names its base."""
    return make_vlm2vec(tmp_path_factory.mktemp("vlm2vec"))


@pytest.fixture(scope="module")
def encoder(adapter: Path) -> Qwen2VLEncoder:
    return load(adapter)


def one(encoder: Qwen2VLEncoder, name: str) -> np.ndarray:
    return encoder.encode([item(CASES[name])])[0]


def tampered(encoder: Qwen2VLEncoder, name: str, change: Any) -> np.ndarray:
    """The vector of a case with what the model is called with changed on purpose."""
    batch = encoder.batch([item(CASES[name])])
    with torch.inference_mode():
        return qwen2_vl.pool(encoder.model, change(batch)).numpy()[0]


def test_the_golden_belongs_to_this_checkpoint(adapter: Path):
    base = adapter.parent / BASE
    assert digest_of(base, also=("vocab.json", "merges.txt")) == GOLDEN["checkpoint"]
    assert digest_of(adapter) == GOLDEN["adapter digests"][ADAPTER]


@pytest.mark.parametrize("name", CASES)
def test_the_authors_vectors(adapter: Path, encoder: Qwen2VLEncoder, name: str):
    chosen = load(adapter, newline_style="mmeb") if CASES[name].mmeb else encoder
    tally.compare(MODEL, REFERENCE, name, one(chosen, name), GOLDEN["cases"][name], within=CLOSE)


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_mixed_batch_padded_on_either_side(adapter: Path, side: str):
    chosen = load(adapter, padding_side=side)
    rows = chosen.encode([item(CASES[name]) for name in BATCH])
    tally.compare(MODEL, REFERENCE, f"batch, {side}", rows, GOLDEN["batches"][side], within=CLOSE)
    alone = np.stack([one(chosen, name) for name in BATCH])
    tally.compare(MODEL, "one by one", f"mixed batch, {side}", rows, alone, within=CLOSE)


def test_everything_in_one_batch_equals_one_by_one(encoder: Qwen2VLEncoder):
    names = [name for name, case in CASES.items() if not case.mmeb and "image" not in name[:9]]
    rows = encoder.encode([item(CASES[name]) for name in names])
    alone = np.stack([one(encoder, name) for name in names])
    tally.compare(MODEL, "one by one", "pictures, slices, texts", rows, alone, within=CLOSE)


@pytest.mark.parametrize("name", MARKED)
def test_three_axis_positions_are_theirs_too(adapter: Path, name: str):
    """Their own routine, which finds pictures only between vision markers."""
    chosen = load(adapter, positions="mrope", video_wrap="outer")
    theirs = GOLDEN["marked"][name]
    tally.compare(MODEL, REFERENCE, f"mrope: {name}", one(chosen, name), theirs, within=CLOSE)


def test_the_wrong_ways_differ(adapter: Path, encoder: Qwen2VLEncoder):
    name = "image, instruction, text"
    right = one(encoder, name)
    ways = {
        "3-D positions": {"positions": "mrope"},
        "vision markers added": {"video_wrap": "outer"},
        "line breaks of the evaluation": {"newline_style": "mmeb"},
        "another smallest picture": {"min_pixels": 16 * 28 * 28},
        "instruction dropped": {"instruction_slot": "drop"},
    }
    for what, settings in ways.items():
        wrong = one(load(adapter, **settings), name)
        tally.differs(MODEL, what, right, wrong, beyond=DIFFERENT, case=name)
    slices = one(encoder, "five slices")
    pictures = one(load(adapter, volume_as="images"), "five slices")
    tally.differs(MODEL, "slices as pictures", slices, pictures, beyond=DIFFERENT)


@pytest.mark.parametrize("name", PROBES)
def test_a_dropped_adapter_differs(adapter: Path, encoder: Qwen2VLEncoder, name: str):
    """The base alone gives their vectors of the base alone, and far from those of the adapter."""
    base = adapter.parent / BASE
    write_settings(base, family="vlm2vec")
    bare = one(load(base), name)
    tally.compare(MODEL, REFERENCE, f"base alone: {name}", bare, GOLDEN["base alone"][name])
    tally.differs(MODEL, "adapter dropped", one(encoder, name), bare, beyond=0.1, case=name)
    assert GOLDEN["base and checkpoint"][name] == GOLDEN["cases"][name]  # either way of theirs


def test_other_padding_an_end_token_and_the_last_place_differ(
    adapter: Path, encoder: Qwen2VLEncoder
):
    right = one(encoder, "text")
    end = encoder.pieces.tokenizer.convert_tokens_to_ids("<|endoftext|>")

    def longer(batch: dict[str, torch.Tensor], *, left: bool) -> dict[str, torch.Tensor]:
        ids, filler = batch["input_ids"], torch.tensor([[end]])
        ids = torch.cat([filler, ids] if left else [ids, filler], dim=1)
        mask = torch.ones_like(ids)
        return {
            "input_ids": ids, "attention_mask": mask,
            "position_ids": qwen2_vl.linear_positions(mask),
        }  # fmt: skip

    for what, left in (("padding attended", True), ("an end token added", False)):
        wrong = tampered(encoder, "text", lambda batch, left=left: longer(batch, left=left))
        tally.differs(MODEL, what, right, wrong, beyond=DIFFERENT)
    batch = encoder.batch([item(CASES["one token"]), item(CASES["text"])])
    with torch.inference_mode():
        hidden = encoder.model(**batch, use_cache=False).last_hidden_state[0, -1]
    last = torch.nn.functional.normalize(hidden, dim=-1).numpy()
    tally.differs(MODEL, "the last place pooled", one(encoder, "one token"), last, beyond=DIFFERENT)


def test_another_resize_differs(encoder: Qwen2VLEncoder, monkeypatch: pytest.MonkeyPatch):
    from PIL import Image

    from engine.models import vlm2vec

    def bilinear(pixels: np.ndarray, rows: int, columns: int) -> np.ndarray:
        return np.asarray(Image.fromarray(pixels).resize((columns, rows), resample=2))

    right = one(encoder, "image, instruction, text")
    monkeypatch.setattr(vlm2vec, "bicubic", bilinear)
    wrong = one(encoder, "image, instruction, text")
    tally.differs(MODEL, "bilinear resize", right, wrong, beyond=DIFFERENT)


LAYOUTS: dict[str, dict[str, str]] = {
    "before 4.52": {},
    "today's": {"prefix": "base_model.model.model.language_model.layers."},
    "of the bare model": {"prefix": "base_model.model.language_model.layers."},
    "without prefix": {"prefix": "layers."},
    "of a wrapper": {"prefix": "base_model.model.encoder.model.layers."},
    "older endings": {
        "suffix": ".default.weight", "magnitude": ".lora_magnitude_vector.default.weight",
    },
    "magnitude with .weight": {"magnitude": ".lora_magnitude_vector.weight"},
    "magnitude with .default": {"magnitude": ".lora_magnitude_vector.default"},
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_of_keys_gives_the_same_vector(adapter: Path, tmp_path: Path, layout: str):
    folder = make_adapter(tmp_path / "a", adapter.parent / BASE, **LAYOUTS[layout])
    found = load(folder)
    assert found.record.adapter_tensors == 3 * 3 * 7
    theirs = GOLDEN["cases"]["text"]
    tally.compare(MODEL, REFERENCE, f"keys {layout}", one(found, "text"), theirs, within=CLOSE)


def test_every_kind_of_adapter_is_merged_as_peft_has_it(adapter: Path, encoder: Qwen2VLEncoder):
    for kind, folder in make_kinds(adapter.parent).items():
        assert digest_of(folder) == GOLDEN["adapter digests"][kind]
        ours, theirs = one(load(folder), "text"), GOLDEN["adapters"][kind]
        tally.compare(MODEL, REFERENCE, f"adapter: {kind}", ours, theirs, within=CLOSE)
        tally.differs(
            MODEL, "another kind of adapter", one(encoder, "text"), ours, beyond=0.1, case=kind
        )
    assert set(KINDS) == set(GOLDEN["adapters"])


def test_a_merged_folder_gives_the_same_vectors(
    adapter: Path, encoder: Qwen2VLEncoder, tmp_path: Path
):
    """In today's layout and in the old one, with a head and without."""
    weights = {name: one.contiguous() for name, one in encoder.model.state_dict().items()}
    old = {name.replace("language_model.", "model.", 1): one for name, one in weights.items()}
    whole = old | {"lm_head.weight": weights["language_model.embed_tokens.weight"].clone()}
    for name, tensors in {"today": weights, "old": old, "old-with-head": whole}.items():
        folder = tmp_path / f"vlm2vec-{name}"
        if name == "today":
            make_qwen2(folder)
        else:
            folder.mkdir()
            for path in adapter.iterdir():
                if not path.name.startswith("adapter_"):
                    (folder / path.name).write_bytes(path.read_bytes())
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        merged = load(folder)
        assert merged.record.adapter_tensors is None
        for probe in PROBES:
            theirs = GOLDEN["cases"][probe]
            case = f"merged folder, {name}: {probe}"
            tally.compare(MODEL, REFERENCE, case, one(merged, probe), theirs, within=CLOSE)


def test_a_base_that_lost_a_tensor_is_refused(adapter: Path, encoder: Qwen2VLEncoder, tmp_path):
    folder = tmp_path / "vlm2vec-cut"
    make_qwen2(folder)
    weights = {name: one.contiguous() for name, one in encoder.model.state_dict().items()}
    weights.pop("language_model.norm.weight")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(WeightsRefused, match=r"missing: language_model\.norm\.weight"):
        load(folder)


def test_a_pickled_adapter_is_told_the_way(adapter: Path, tmp_path: Path):
    """The benchmark's wrapper fetches ``adapter_model.bin``; only tensors of it may be read."""
    folder = make_adapter(tmp_path / "pickled", adapter.parent / BASE)
    tensors = load_file(folder / "adapter_model.safetensors")
    (folder / "adapter_model.safetensors").unlink()
    torch.save(tensors, folder / "adapter_model.bin")
    with pytest.raises(WeightsRefused, match="weights_only=True") as refused:
        load(folder)
    recipe = str(refused.value).split('python -c "')[1].split('"')[0]
    subprocess.run([sys.executable, "-c", recipe], cwd=folder, check=True)
    theirs = GOLDEN["cases"]["text"]
    tally.compare(MODEL, REFERENCE, "converted adapter", one(load(folder), "text"), theirs)


@pytest.mark.parametrize(
    ("typed", "theirs"),
    [(HOSTILE, "hostile text, broken up"), (MARKED_TEXT, "marks taken out")],
)
def test_typed_tokens_and_marks_never_reach_the_prompt(
    encoder: Qwen2VLEncoder, typed: str, theirs: str
):
    case = CASES[theirs]
    hostile = replace(case, text=typed)
    batch = encoder.batch([item(hostile)])
    assert int((batch["input_ids"] == encoder.pieces.image).sum()) == 4
    assert int((batch["input_ids"] == encoder.pieces.video).sum()) == 0
    ours = encoder.encode([item(hostile)])[0]
    name = f"typed: {theirs}"
    tally.compare(MODEL, REFERENCE, name, ours, GOLDEN["cases"][theirs], within=CLOSE)
    said = item(Case("x", typed))
    assert np.isfinite(encoder.encode([said])).all()


def test_a_placeholder_that_slips_through_is_refused(encoder: Qwen2VLEncoder):
    row = qwen2_vl.Row("", "what is <|image_pad|>?")
    with pytest.raises(ItemRefused, match="would break the prompt"):
        qwen2_vl.build_batch(encoder.pieces, [row], encoder.settings)


def test_too_long_is_refused_or_the_text_shortened(adapter: Path):
    """Six slices of six tokens: the text gives way, placeholders and instruction never do."""
    long = replace(CASES["six slices and text"], text="Left lung? " * 9)
    kept = replace(long, text=long.text[:40])
    whole = load(adapter).batch([item(long)])["input_ids"].shape[1]
    with pytest.raises(ItemRefused, match=f"{whole} tokens long, .* the model takes 60"):
        load(adapter, max_tokens=60).encode([item(long)])
    chosen = load(adapter, max_tokens=60, over_length="shorten")
    rows = chosen.encode([item(long), item(CASES["one token"])])
    assert chosen.shortened == (True, False)
    batch = chosen.batch([item(long)])
    assert batch["input_ids"].shape == (1, 60)
    text = chosen.pieces.tokenizer.decode(batch["input_ids"][0])
    cut = replace(long, text=text.split("Answer:  ")[1])
    assert (long.text or "").startswith(cut.text or "?")
    same = load(adapter).encode([item(cut)])[0]
    tally.compare(MODEL, "its own shorter text", "text shortened", rows[0], same, within=CLOSE)
    assert tally.apart(same, load(adapter).encode([item(kept)])[0]) > DIFFERENT
    tight = load(adapter, max_tokens=20, over_length="shorten")
    with pytest.raises(ItemRefused, match="for pictures"):
        tight.encode([item(long)])


def test_files_of_every_kind_reach_the_model_as_they_look(encoder: Qwen2VLEncoder, tmp_path: Path):
    """Grey, palette, RGBA on white, 16 bit; 5 and 100 slices, sampled to 64."""
    from PIL import Image

    from engine.evidence.item import ImageRef, Item, VolumeRef
    from engine.evidence.pixels import prepare

    colours = picture(60, 44, 3)
    clear = np.dstack([colours, np.full(colours.shape[:2], 255, np.uint8)])
    grey = colours[..., 0]
    palette = Image.fromarray(colours).quantize(32)
    files = {
        "grey": (Image.fromarray(grey), np.dstack([grey] * 3)),
        "palette": (palette, np.asarray(palette.convert("RGB"))),
        "rgba": (Image.fromarray(clear), colours),
        "sixteen": (Image.fromarray(grey.astype(np.uint16) * 257), None),
    }
    for name, (shown, pixels) in files.items():
        shown.save(tmp_path / f"{name}.png")
        seen = prepare(Item(images=(ImageRef(tmp_path / f"{name}.png"),)), max_slices=64)
        vector = encoder.encode([seen])[0]
        if pixels is not None:
            same = encoder.encode([item(Case(images=(pixels,)))])[0]
            tally.compare(MODEL, "the same pixels", f"file: {name}", vector, same, within=CLOSE)
        assert np.isfinite(vector).all()
    slices = stack(100, 30, 30, 300)
    paths = tuple(tmp_path / f"slice_{index:03d}.png" for index in range(100))
    for path, pixels in zip(paths, slices, strict=True):
        Image.fromarray(pixels).save(path)
    query = Item(volumes=(VolumeRef(paths),), instruction=QUERY)
    vector = encoder.encode([prepare(query, max_slices=encoder.max_slices)])[0]
    theirs = GOLDEN["cases"]["100 slices"]
    tally.compare(MODEL, REFERENCE, "100 slices from files", vector, theirs, within=CLOSE)


def test_more_slices_than_the_model_takes_are_refused(encoder: Qwen2VLEncoder):
    with pytest.raises(ItemRefused, match="sample the slices"):
        encoder.encode([item(Case(volumes=(stack(65, 30, 30),)))])


def test_what_is_said_about_the_model(adapter: Path, encoder: Qwen2VLEncoder):
    assert encoder.dim == 64
    assert encoder.record.family == "vlm2vec"
    assert "Merged 63 adapter tensors into Qwen2-VL-2B-Instruct." in encoder.notes
    others = (load(adapter, positions="mrope"), load(adapter, newline_style="mmeb"))
    assert len({encoder.fingerprint, *(other.fingerprint for other in others)}) == 3
    for name in ("image and instruction", "six slices and text", "two volumes"):
        true = encoder.batch([item(CASES[name])])["input_ids"].shape[1]
        assert encoder.cost(item(CASES[name])) == pytest.approx(true, rel=0.2)
