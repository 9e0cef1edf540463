"""transformers' own BLIP-2 for retrieval, called as its documentation calls it, and nothing else.

Processor with picture and text at once, the model's contrastive branch, one pair at a time; from
what comes out, an item's vector is put together in numpy (specification 5 and 0.1).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from transformers import AutoImageProcessor, AutoProcessor
from transformers.models.blip_2 import Blip2ForImageTextRetrieval

from engine.evidence.item import ModelInput
from engine.models.common import quiet

QUERIES = 32
BLANK = np.full((28, 28, 3), 90, np.uint8)


def unit(vector: Any) -> np.ndarray:
    numbers = np.asarray(vector, np.float64)
    return numbers / np.linalg.norm(numbers, axis=-1, keepdims=True)


def mean(*vectors: Any) -> np.ndarray:
    """Mean of unit vectors, made unit."""
    return unit(np.mean([unit(one) for one in vectors], axis=0))


class Plain:
    """The published way to use the class; ``length`` is of the text alone."""

    def __init__(self, folder: Path, *, length: int = 32) -> None:
        self.length = length
        with quiet():
            self.model = Blip2ForImageTextRetrieval.from_pretrained(
                folder, dtype=torch.float32
            ).eval()
            self.processor = AutoProcessor.from_pretrained(folder)
            self.processor.image_processor = AutoImageProcessor.from_pretrained(
                folder, backend="pil"
            )

    def both(self, pixels: np.ndarray, text: str, *, length: int | None = None) -> Any:
        """Everything the model says of one picture and one text.

        Args:
            pixels: [H, W, 3].
            text: as typed.
            length: most tokens in the processor's counting, which is the text and 32 more.
        """
        with quiet(), torch.no_grad():
            made = self.processor(
                images=Image.fromarray(pixels), text=[text], truncation=True, return_tensors="pt",
                max_length=(length or self.length + QUERIES),
            )  # fmt: skip
            return self.model(**made, use_image_text_matching_head=False)

    def text(self, text: str, **options: Any) -> np.ndarray:
        return self.both(BLANK, text, **options).text_embeds[0].double().numpy()

    def queries(self, pixels: np.ndarray) -> np.ndarray:
        """Unit vectors of the query tokens [32, D]."""
        return self.both(pixels, "lung").image_embeds[0].double().numpy()

    def image(self, pixels: np.ndarray) -> np.ndarray:
        return unit(self.queries(pixels).mean(axis=0))

    def score(self, pixels: np.ndarray, text: str) -> float:
        """The model's own: the largest of 32 cosines."""
        return float(self.both(pixels, text).logits_per_image[0])

    def item(self, one: ModelInput) -> np.ndarray:
        """Text, pictures and every volume a field each; an instruction is dropped."""
        fields = [self.text(" ".join(one.texts))] if "".join(one.texts).strip() else []
        for group in (one.images, *one.volumes):
            if len(group):
                fields.append(mean(*(self.image(pixels) for pixels in group)))
        return mean(*fields) if fields else self.text("" if one.texts else "NULL")
