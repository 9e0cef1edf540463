"""Memory that runs out under true small encoders: batches halve, the item to blame is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

torch = pytest.importorskip("torch")

from engine.control import Control  # noqa: E402
from engine.encode import Encoded, encode_items  # noqa: E402
from engine.evidence.item import ImageRef, Item, VolumeRef  # noqa: E402
from engine.models.load import load_encoder  # noqa: E402
from studies.places import shipped_models  # noqa: E402

MODELS = ("qwen3-vl-embedding-nano", "siglip-nano")
COUNT = 6
FORMS = ("text", "2d", "3d")


def load(model: str) -> Any:
    folder = shipped_models()
    return load_encoder(model, weights_dir=folder / "none", shipped_dir=folder, device="cpu")


@pytest.fixture(params=MODELS)
def encoder(request) -> Any:
    """Loaded anew, since a size that was found is kept."""
    return load(request.param)


@pytest.fixture(scope="module")
def items(tmp_path_factory) -> dict[str, list[Item]]:
    folder = tmp_path_factory.mktemp("evidence")
    random = np.random.default_rng(5)

    def picture(name: str) -> Path:
        path = folder / f"{name}.png"
        Image.fromarray(random.integers(0, 256, (40, 40), dtype=np.uint8)).save(path)
        return path

    def volume(name: str, slices: int) -> Item:
        paths = tuple(picture(f"{name}_{number:02}") for number in range(slices))
        return Item(volumes=(VolumeRef(paths),))

    return {
        "text": [Item(text=f"Finding number {number}.") for number in range(COUNT)],
        "2d": [Item(images=(ImageRef(picture(f"p{number}")),)) for number in range(COUNT)],
        "3d": [volume(f"v{number}", 3) for number in range(COUNT)],
        "large": [volume("large", 24)],
    }


@contextmanager
def allocator(model: Any, refuses: Callable[[torch.Tensor], bool]) -> Iterator[list[int]]:
    """Stands before every tower and the whole model, and refuses tensors as a device would.

    Qwen3-VL hands all patches of a batch to its model at once, two-dimensional like token ids;
    they are told apart by their floating numbers.
    """
    refused: list[int] = []

    def before(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        seen = (kwargs.get(name) for name in ("input_ids", "pixel_values"))
        for value in (*args, *seen):
            if isinstance(value, torch.Tensor) and value.ndim in (2, 4) and refuses(value):
                refused.append(len(value))
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nx")

    modules = [model, *(getattr(model, name, None) for name in ("text_model", "vision_model"))]
    hooks = [
        one.register_forward_pre_hook(before, with_kwargs=True)
        for one in modules
        if one is not None
    ]
    try:
        yield refused
    finally:
        for hook in hooks:
            hook.remove()


def tokens(value: torch.Tensor) -> int:
    return 0 if value.is_floating_point() else value.numel()


def embed(encoder: Any, items: list[Item], said: list[str] | None = None) -> Encoded:
    control = Control(log=(said if said is not None else []).append)
    return encode_items(items, encoder, cache=None, control=control)


def rows_above(count: int) -> Callable[[torch.Tensor], bool]:
    """Refuse batches of texts and stacks of pictures of more than so many rows."""
    return lambda value: len(value) > count and (value.ndim == 4 or not value.is_floating_point())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("most", [1, 2, 4])
def test_batches_halve_until_they_fit_and_the_vectors_stay(encoder, items, form, most):
    whole, said = embed(encoder, items[form]), list[str]()
    with allocator(encoder.model, rows_above(most)) as refused:
        found = embed(encoder, items[form], said)
    assert refused, "the allocator was asked for more"
    assert found.failures == {}
    assert np.abs(found.vectors - whole.vectors).max() <= 1e-5
    told = [*said, *encoder.notes]
    assert any(line.startswith("Memory ran out") for line in told), told


@pytest.mark.parametrize("form", FORMS)
def test_an_item_that_never_fits_is_named_and_nothing_hangs(encoder, items, form):
    with allocator(encoder.model, rows_above(0)):
        found = embed(encoder, items[form])
    assert sorted(found.failures) == list(range(COUNT))
    assert np.isnan(found.vectors).all()
    for number, sentence in found.failures.items():
        name = {"text": f"'Finding number {number}.'", "2d": f"p{number}.png", "3d": f"v{number}_"}
        assert name[form] in sentence
        assert "more memory than the device has" in sentence
        assert "--dtype bfloat16" in sentence


def test_the_one_item_to_blame_is_named_and_the_others_go_on(items):
    encoder = load(MODELS[0])
    mixed = [*items["text"], *items["large"], *items["2d"]]
    whole, said = embed(encoder, mixed), list[str]()
    most = 60
    with allocator(encoder.model, lambda value: tokens(value) > most):
        found = embed(encoder, mixed, said)
    assert list(found.failures) == [COUNT]
    assert "large_00.png" in found.failures[COUNT]
    kept = [number for number in range(len(mixed)) if number != COUNT]
    assert np.abs(found.vectors[kept] - whole.vectors[kept]).max() <= 1e-5
    assert any("items at a time" in line for line in said)


def test_a_batch_size_that_was_found_is_kept(items):
    encoder = load(MODELS[0])
    many = [Item(text=f"{number} mm, no change") for number in range(32)]
    with allocator(encoder.model, rows_above(4)) as refused:
        embed(encoder, many)
    assert 0 < len(refused) <= 8, "it is not tried again with every batch"
