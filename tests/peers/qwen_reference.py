"""A plain reference for Qwen3-VL-Embedding, written from specification 2 without the adapter.

Conversation, the checkpoint's own chat template, the official frame-list path, transformers'
model, pooling by flipped argmax. Slow and straight: one item at a time, nothing shared.
"""

from __future__ import annotations

import math
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torchvision
from PIL import Image
from torchvision.transforms import InterpolationMode
from transformers import AutoImageProcessor, AutoModel, AutoProcessor
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize

from engine.evidence.item import ModelInput
from engine.models.common import quiet

LARGEST = 1800 * 32 * 32
TRIPLE = "<|vision_start|><|video_pad|><|vision_end|>"


def pillow_processor(folder: Path) -> Any:
    """The image processor as the references of the field run it."""
    return AutoImageProcessor.from_pretrained(folder, backend="pil")


class Reference:
    """The official way, with switches that make it wrong on purpose."""

    def __init__(self, folder: Path) -> None:
        with quiet():
            self.processor = AutoProcessor.from_pretrained(folder)
            self.processor.image_processor = pillow_processor(folder)
            self.processor.video_processor.cap_pixels_per_frame = False
            self.model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()

    def vector(
        self,
        item: ModelInput,
        *,
        wrap: str = "stripped",
        template: bool = True,
        sample_again: bool = False,
        fps: float = 2.0,
        first_factor: int = 64,
        linear: bool = False,
        own_resize: bool = False,
        most: tuple[int, ...] = (),
        content: list[dict[str, Any]] | None = None,
    ) -> np.ndarray:
        """One item's unit vector [D].

        Args:
            item: what is embedded.
            wrap: outer vision markers of a video, ``stripped`` or ``outer``.
            template: False for the bare text.
            sample_again: let the processor pick slices by frame rate.
            fps: slices a second.
            first_factor: of the first of a slice's two resizes.
            linear: plain positions, equal on the three axes.
            own_resize: let the processor resize slices by its own rule.
            most: largest area of each picture, the official one for all if empty.
            content: of the user's turn, in an order of its own.
        """
        text = self.text(item, content) if template else "".join(item.texts)
        if wrap == "stripped":
            text = text.replace(TRIPLE, "<|video_pad|>")
        videos = [
            torch.from_numpy(volume).permute(0, 3, 1, 2)
            if own_resize
            else official_video(volume, first_factor)
            for volume in item.volumes
        ]
        metadata = [
            {"fps": fps, "frames_indices": list(range(len(v))), "total_num_frames": len(v)}
            for v in videos
        ]
        with quiet(), torch.no_grad():
            made = self.processor(
                text=[text],
                images=[
                    official_image(image, most[place] if most else LARGEST)
                    for place, image in enumerate(item.images)
                ]
                or None,
                videos=videos or None,
                video_metadata=metadata or None,
                do_resize=own_resize,
                do_sample_frames=sample_again,
                padding=True,
                return_tensors="pt",
            )
            made.pop("video_metadata", None)
            if linear:
                places = torch.arange(made["input_ids"].shape[1])
                made["position_ids"] = places.expand(3, 1, -1)
            hidden = self.model(**made).last_hidden_state
        mask = made["attention_mask"]
        column = mask.shape[1] - mask.flip(dims=[1]).argmax(dim=1) - 1
        pooled = hidden[torch.arange(len(mask)), column]
        return torch.nn.functional.normalize(pooled, dim=-1)[0].numpy()

    def last_column(self, items: list[ModelInput]) -> np.ndarray:
        """Texts in one right-padded batch, pooled where nobody should: at the last column."""
        with quiet(), torch.no_grad():
            made = self.processor(
                text=[self.text(item) for item in items],
                padding=True,
                padding_side="right",
                return_tensors="pt",
            )
            hidden = self.model(**made).last_hidden_state
        return torch.nn.functional.normalize(hidden[:, -1], dim=-1).numpy()

    def text(self, item: ModelInput, content: list[dict[str, Any]] | None = None) -> str:
        """The string of the checkpoint's own template."""
        with quiet():
            return self.processor.apply_chat_template(
                conversation(item, content), add_generation_prompt=True, tokenize=False
            )


def conversation(
    item: ModelInput, content: list[dict[str, Any]] | None = None
) -> list[dict[str, Any]]:
    """System turn with the instruction, user turn with videos, pictures, texts."""
    instruction = (item.instruction or "").strip()
    if instruction and unicodedata.category(instruction[-1])[0] != "P":
        instruction += "."
    if content is None:
        content = [{"type": "video"} for _ in item.volumes]
        content += [{"type": "image"} for _ in item.images]
        content += [{"type": "text", "text": text} for text in item.texts]
    system = instruction or "Represent the user's input."
    return [
        {"role": "system", "content": [{"type": "text", "text": system}]},
        {"role": "user", "content": content or [{"type": "text", "text": "NULL"}]},
    ]


def official_image(pixels: np.ndarray, most: int = LARGEST) -> Image.Image:
    """Pillow's default resize to the rounded size."""
    height, width = smart_resize(
        *pixels.shape[:2], factor=32, min_pixels=4 * 32 * 32, max_pixels=most
    )
    return Image.fromarray(pixels).resize((width, height))


def official_video(volume: np.ndarray, first_factor: int = 64) -> torch.Tensor:
    """The two resizes of the frame-list path."""
    height, width = smart_resize(
        *volume.shape[1:3],
        factor=first_factor,
        min_pixels=4 * first_factor**2,
        max_pixels=16384 * first_factor**2,
    )
    frames = [Image.fromarray(pixels).resize((width, height)) for pixels in volume]
    if len(frames) % 2:
        frames.append(frames[-1])
    video = torch.stack([torch.from_numpy(np.array(f).transpose(2, 0, 1)) for f in frames])
    least = 128 * 32 * 32
    most = max(min(768 * 32 * 32, 10 * 768 * 32 * 32 / len(video) * 2), math.floor(least * 1.05))
    height, width = smart_resize(height, width, factor=32, min_pixels=least, max_pixels=most)
    return torchvision.transforms.functional.resize(
        video, [height, width], interpolation=InterpolationMode.BICUBIC, antialias=True
    ).float()
