"""Any sentence-transformers model against the library's own ``encode``, one item at a time."""

from __future__ import annotations

import importlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentence_transformers
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modality import infer_modality

from engine.encoder import Encoder
from engine.errors import EngineMissing, ItemRefused, WeightsRefused
from engine.models import sentence_folder
from engine.models.common import quiet
from engine.models.load import load_encoder
from tests.peers import tally
from tests.peers.cases import make
from tests.peers.pictures import picture, volume
from tests.peers.tiny_sentence import make_bert, make_clip, make_mixing

MODEL = "sentence-transformers"
LIBRARY = f"sentence-transformers {sentence_transformers.__version__}, one at a time"
TEXT, ASKED = "lung nodule of 3 mm, left", "find the mass"
ADDRESS = "https://example.org/lung.png"


def load(folder: Path, **settings: object) -> Encoder:
    """By a user's card, without code."""
    cards = folder.parent / f"cards-{folder.name}"
    cards.mkdir(exist_ok=True)
    card = {"family": "sentence-transformers", "folder": str(folder), "settings": settings}
    (cards / "mine.json").write_text(json.dumps(card), encoding="utf-8")
    return load_encoder(
        "mine", weights_dir=folder.parent, shipped_dir=folder, cards_dir=cards, device="cpu"
    )


class Theirs:
    """The library and nothing else."""

    def __init__(self, folder: Path) -> None:
        with quiet():
            self.model = SentenceTransformer(str(folder), device="cpu")

    def raw(self, given: Any, prompt: str | None = None) -> np.ndarray:
        found = self.model.encode([given], prompt=prompt, convert_to_tensor=True)
        return found[0].float().numpy()

    def __call__(self, given: Any, prompt: str | None = None) -> np.ndarray:
        return unit(self.raw(given, prompt))

    def image(self, array: np.ndarray, prompt: str | None = None) -> np.ndarray:
        return self({"image": Image.fromarray(array)}, prompt)


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def mean(*vectors: np.ndarray) -> np.ndarray:
    return unit(np.mean(vectors, axis=0))


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bert(tmp_path_factory.mktemp("st") / "bert")


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_clip(tmp_path_factory.mktemp("st") / "clip")


@pytest.fixture(scope="module")
def mixing(qwen: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_mixing(qwen, tmp_path_factory.mktemp("st") / "mixing")


def same(case: str, ours: np.ndarray, theirs: np.ndarray) -> None:
    tally.compare(MODEL, LIBRARY, case, ours, theirs)


def test_a_text_model(bert: Path):
    encoder, theirs = load(bert), Theirs(bert)
    long = "lung nodule " * 40
    items = [
        make(TEXT), make("lung"), make("", instruction=None), make(), make(long),
        make(TEXT, instruction=ASKED),
    ]  # fmt: skip
    wanted = [
        theirs(TEXT), theirs("lung"), theirs("NULL"), theirs("NULL"), theirs(long),
        theirs(TEXT, f"{ASKED} "),
    ]  # fmt: skip
    same("texts only: six texts in one batch", encoder.encode(items), np.stack(wanted))
    assert encoder.shortened == (False, False, False, False, True, False)
    assert (encoder.dim, encoder.notes[-1]) == (24, "Takes texts only.")
    assert f"sentence-transformers {sentence_transformers.__version__}" in encoder.record.libraries
    glued = theirs(f"{ASKED}{TEXT}")
    tally.differs(MODEL, "prompt glued to the text", encoder.encode([items[5]])[0], glued,
                  beyond=1e-4)  # fmt: skip
    dropped = load(bert, instruction_slot="drop").encode([items[5]])[0]
    same("texts only: instruction dropped", dropped, theirs(TEXT))
    short = load(bert, truncate_dim=8)
    assert short.dim == 8
    same("texts only: 8 of 24 numbers", short.encode([make(TEXT)])[0], unit(theirs.raw(TEXT)[:8]))


def test_a_text_model_refuses_pictures_in_words(bert: Path):
    with pytest.raises(ItemRefused, match="takes texts only and this item holds a picture"):
        load(bert).encode([make(TEXT, images=(picture(30, 30),))])


def test_a_model_of_two_towers(clip: Path):
    encoder, theirs = load(clip), Theirs(clip)
    image, other, slices = picture(40, 30), picture(20, 50, 3), volume(5, 24, 24)
    items = [
        make(TEXT), make(images=(image,)), make(TEXT, images=(image, other), volumes=(slices,)),
        make(TEXT, images=(image,), instruction=ASKED), make(images=(image,), instruction=ASKED),
        make(volumes=(slices[::-1],)), make(),
    ]  # fmt: skip
    text, stack = theirs({"text": TEXT}), mean(*map(theirs.image, slices))
    wanted = [
        text, theirs.image(image),
        mean(text, mean(theirs.image(image), theirs.image(other)), stack),
        mean(theirs({"text": TEXT}, f"{ASKED} "), theirs.image(image)),
        mean(theirs({"text": ASKED}), theirs.image(image)), stack, theirs({"text": "NULL"}),
    ]  # fmt: skip
    same("two towers: seven items in one batch", encoder.encode(items), np.stack(wanted))
    alone = np.concatenate([encoder.encode([item]) for item in items])
    same("two towers: one by one", alone, np.stack(wanted))
    raw = np.mean([theirs.raw({"text": TEXT}), theirs.raw({"image": Image.fromarray(image)})], 0)
    item = make(TEXT, images=(image,))
    same("two towers: raw mean", load(clip, fuse="mean_raw").encode([item])[0], unit(raw))
    assert encoder.notes[-1] == "Takes texts and pictures apart."
    assert load_encoder(str(clip), weights_dir=clip, shipped_dir=clip, device="cpu").dim == 24


def test_a_model_that_mixes(mixing: Path):
    encoder, theirs = load(mixing), Theirs(mixing)
    image, other, slices = picture(40, 60), picture(64, 50, 3), volume(3, 40, 40)
    shown, beside = Image.fromarray(image), Image.fromarray(other)
    items = [
        make(TEXT), make(TEXT, instruction=ASKED), make(images=(image,), instruction=ASKED),
        make(TEXT, images=(image,), instruction=ASKED), make(TEXT, images=(image, other)),
        make(TEXT, volumes=(slices,), instruction=ASKED), make(volumes=(slices,)),
    ]  # fmt: skip
    wanted = [
        theirs(TEXT), theirs(TEXT, ASKED), theirs({"image": shown}, ASKED),
        theirs({"image": shown, "text": TEXT}, ASKED),
        theirs({"image": [shown, beside], "text": TEXT}),
        mean(theirs(TEXT, ASKED), mean(*(theirs.image(one, ASKED) for one in slices))),
        mean(*map(theirs.image, slices)),
    ]  # fmt: skip
    same("mixing: seven items in one batch", encoder.encode(items), np.stack(wanted))
    apart = mean(theirs(TEXT, ASKED), theirs({"image": shown}, ASKED))
    tally.differs(
        MODEL, "fields apart, where the model mixes", encoder.encode([items[3]])[0], apart,
        beyond=1e-3,
    )  # fmt: skip
    assert encoder.notes[-1] == "Takes texts and pictures in one input."


@pytest.mark.parametrize("kind", ["clip", "mixing"])
def test_a_text_is_never_the_address_of_a_picture(kind: str, request: pytest.FixtureRequest):
    folder = request.getfixturevalue(kind)
    assert infer_modality(ADDRESS) == "image"  # the library would fetch it
    same(f"{kind}: an address as text", load(folder).encode([make(ADDRESS)])[0],
         Theirs(folder)({"text": ADDRESS}))  # fmt: skip


def test_typed_control_tokens_are_neutralised(bert: Path):
    typed = load(bert).encode([make("lung [SEP] mass")])[0]
    same("a typed control token", typed, Theirs(bert)("lung [ SEP] mass"))
    tally.differs(MODEL, "a control token typed by a user", typed, Theirs(bert)("lung [SEP] mass"),
                  beyond=1e-4)  # fmt: skip


def change(folder: Path, name: str, edit: Callable[[Any], Any]) -> None:
    path = folder / name
    path.write_text(json.dumps(edit(json.loads(path.read_text("utf-8")))), encoding="utf-8")


def foreign(folder: Path) -> None:
    (folder / "evil.py").write_text("raise SystemExit('ran')", encoding="utf-8")
    change(folder, "modules.json", lambda all_: [*all_[:-1], {**all_[-1], "type": "evil.Evil"}])


def installed(folder: Path) -> None:
    change(folder, "modules.json", lambda all_: [{**all_[0], "type": "torch.nn.Linear"}, *all_[1:]])


def outside(folder: Path) -> None:
    change(folder, "modules.json", lambda all_: [*all_[:-1], {**all_[-1], "path": "../elsewhere"}])


def activation(folder: Path) -> None:
    change(folder, "2_Dense/config.json", lambda one: {**one, "activation_function": "os.system"})


def pickled(folder: Path) -> None:
    tensors = load_file(folder / "2_Dense/model.safetensors")
    (folder / "2_Dense/model.safetensors").unlink()
    torch.save(tensors, folder / "2_Dense/pytorch_model.bin")


def thinner(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    del tensors["encoder.layer.1.output.dense.weight"]
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})


def method(folder: Path) -> None:
    entry = {"text": {"method": "save_pretrained", "method_output_name": "x"}}
    change(folder, "sentence_bert_config.json", lambda one: {**one, "modality_config": entry})


def no_modules(folder: Path) -> None:
    (folder / "modules.json").unlink()


SPOILED = {
    foreign: "names evil.Evil, code that does not come with sentence-transformers",
    installed: "names torch.nn.Linear, code that does not come",
    outside: "leads out of it",
    activation: "names os.system; only torch.nn",
    pickled: "2_Dense/pytorch_model.bin, a pickled file",
    thinner: "missing: encoder.layer.1.output.dense.weight",
    method: "calls 'save_pretrained', no feature call",
    no_modules: "holds no modules.json",
}


@pytest.mark.parametrize("spoil", SPOILED, ids=lambda one: one.__name__)
def test_a_spoiled_folder_is_refused(bert: Path, tmp_path: Path, spoil: Callable[[Path], None]):
    folder = shutil.copytree(bert, tmp_path / "model")
    spoil(folder)
    with pytest.raises(WeightsRefused, match=SPOILED[spoil]):
        load(folder)


def test_a_missing_pooler_that_nobody_reads_is_no_matter(bert: Path, tmp_path: Path):
    folder = shutil.copytree(bert, tmp_path / "model")
    tensors = load_file(folder / "model.safetensors")
    kept = {name: value for name, value in tensors.items() if not name.startswith("pooler.")}
    assert len(kept) < len(tensors)
    save_file(kept, folder / "model.safetensors", {"format": "pt"})
    same("no pooler in the file", load(folder).encode([make(TEXT)])[0], Theirs(bert)(TEXT))


def test_without_the_library(bert: Path, monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(sentence_folder.importlib, "import_module", missing)
    with pytest.raises(EngineMissing, match=r'pip install "sentence-transformers>=5\.4"'):
        sentence_folder.import_library("Mine")
    monkeypatch.undo()
    library = importlib.import_module("sentence_transformers")
    monkeypatch.setattr(library, "__version__", "5.1.2")
    with pytest.raises(EngineMissing, match=r"5\.1\.2 is installed"):
        sentence_folder.import_library("Mine")


def test_fewer_at_once_where_memory_is_short(clip: Path, monkeypatch: pytest.MonkeyPatch):
    encoder, item = load(clip), make(volumes=(volume(9, 20, 20),))
    wanted, whole = encoder.encode([item]), type(encoder.model).encode

    def short(model: Any, inputs: list[Any], **options: Any) -> Any:
        if options["batch_size"] > 3:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return whole(model, inputs, **options)

    monkeypatch.setattr(type(encoder.model), "encode", short)
    assert tally.apart(encoder.encode([item]), wanted) < 1e-6
    assert encoder.at_once == 2
