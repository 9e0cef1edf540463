"""A model on a fake hub, and everything that would reach another one switched off."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub import constants
from huggingface_hub.utils import close_session

from engine import transfer
from engine.card import ModelCard
from engine.catalog import find_card
from engine.control import Control
from engine.download import Downloaded, Places, download
from tests.engine.fake_hub import FakeHub, running


def safetensors(seed: int, size: int = 300_000) -> bytes:
    """Bytes that open like safetensors."""
    header = json.dumps({"w": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
    values = np.random.default_rng(seed).integers(0, 256, size, dtype=np.uint8)
    return len(header).to_bytes(8, "little") + header + values.tobytes()


def siglip_files(seed: int = 0) -> dict[str, bytes]:
    return {
        "config.json": b'{"model_type": "siglip"}',
        "tokenizer_config.json": b"{}",
        "spiece.model": b"pieces",
        "README.md": b"# words",
        "model.safetensors": safetensors(seed),
        "pytorch_model.bin": b"\x80\x04.",
        "onnx/model.json": b"{}",
    }


def adapter_files(base: str = "somebody/base") -> dict[str, bytes]:
    config = json.dumps({"base_model_name_or_path": base, "r": 8}).encode()
    return {"adapter_config.json": config, "adapter_model.safetensors": safetensors(5, 2000)}


def qwen_files(kind: str = "qwen2_vl") -> dict[str, bytes]:
    names = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    return {
        "config.json": json.dumps({"model_type": kind}).encode(),
        "tokenizer.json": b"{}",
        "model.safetensors.index.json": json.dumps({"weight_map": names}).encode(),
        names["a"]: safetensors(1, 5000),
        names["b"]: safetensors(2, 5000),
    }


@contextmanager
def at_hub(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[FakeHub]:
    """A fake hub that this process takes for the real one."""
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    monkeypatch.setenv("HF_HUB_CACHE", str(folder / "hub-cache"))
    monkeypatch.setenv("HF_TOKEN", "")
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(folder / "no-token"))
    monkeypatch.setattr(transfer, "PAUSE", 0.0)
    close_session()
    with running() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        yield hub
        close_session()


def places(folder: Path) -> Places:
    return Places(folder / "weights", folder / "shipped", folder / "cards")


def get(model: str | ModelCard, folder: Path, control: Control | None = None) -> Downloaded:
    where = places(folder)
    card = find_card(model, cards_dir=where.cards) if isinstance(model, str) else model
    return download(card, where, control=control or Control())


def own_card(home: Path, name: str, **content: object) -> None:
    path = home / "cards" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
