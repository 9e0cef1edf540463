"""What several tiny checkpoints share: the control tokens of Qwen, pictures, settings files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.peers.pictures import picture, volume

__all__ = ["SPECIALS", "picture", "volume", "write_settings"]
SPECIALS = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>",
    "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>",
)  # fmt: skip


def write_settings(folder: Path, **content: Any) -> None:
    """Write a ``triptych.json``."""
    (folder / "triptych.json").write_text(json.dumps(content), encoding="utf-8")
