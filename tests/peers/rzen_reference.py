"""An independent RzenEmbed in plain transformers: features scattered by hand, no ids to the model.

Written from specification 8 alone; shares no code with the engine. Its switches make it wrong on
purpose.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from transformers import AutoImageProcessor, AutoTokenizer, Qwen2VLForConditionalGeneration
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize

from engine.models.common import quiet
from tests.peers.rzen_cases import Case, Pixels

BEFORE = "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\n"
AFTER = "<|im_end|>\n<|im_start|>assistant\n"
END = "<|endoftext|>"
PAD = "<|image_pad|>"
AREA = 28 * 28


@dataclass(frozen=True)
class Way:
    """How to embed; the defaults are right.

    Attributes:
        positions: ``linear``, ``mrope``, or ``left``: padded left, places counted with padding.
        before: the string in front of the media.
        end: the string at the very end.
        resizes: 2, or 1 to leave out the first.
        list_limits: frames have limits of their own, in tokens.
        image_limits: for a single picture, in tokens.
        text_first: words in front of the media.
        pool: ``last`` attended token, or the last ``column``.
        longest: pad to that many tokens.
        attended: with padding attended to.
    """

    positions: str = "linear"
    before: str = BEFORE
    end: str = END
    resizes: int = 2
    list_limits: tuple[int, int] = (160, 180)
    image_limits: tuple[int, int] = (256, 1280)
    text_first: bool = False
    pool: str = "last"
    longest: int = 0
    attended: bool = False


RIGHT = Way()


class Reference:
    """One item at a time, padded where that is asked for."""

    def __init__(self, folder: Path) -> None:
        with quiet():
            self.tokenizer = AutoTokenizer.from_pretrained(folder)
            self.pictures = AutoImageProcessor.from_pretrained(folder, backend="pil")
            whole = Qwen2VLForConditionalGeneration.from_pretrained(folder, dtype=torch.float32)
        self.model = whole.eval().model

    def vector(self, case: Case, way: Way = RIGHT) -> np.ndarray:
        """The unit vector [D] of one case."""
        with quiet(), torch.inference_mode():
            made = self._pixels(case, way)
            text = self.string(case, way)
            for grid in made.get("image_grid_thw", ()):
                text = text.replace(PAD, "<held>" * int(grid.prod() // 4), 1)
            ids = self.tokenizer(text.replace("<held>", PAD))["input_ids"]
            hidden, last = self._hidden(ids, made, way)
            row = hidden[0, last]
            return torch.nn.functional.normalize(row.float(), dim=-1).numpy()

    def string(self, case: Case, way: Way = RIGHT) -> str:
        """The prompt with one placeholder per picture."""
        count = len(case.frames) + (case.image is not None)
        media = f"<|vision_start|>{PAD}<|vision_end|>" * count
        said = (case.instruction or "") + (case.text or "")
        parts = (said, media) if way.text_first else (media, said)
        return way.before + "".join(parts) + AFTER + way.end

    def _pixels(self, case: Case, way: Way) -> dict[str, Any]:
        shown = [*case.frames] if case.image is None else [case.image, *case.frames]
        if not shown:
            return {}
        least, most = way.list_limits if case.frames else way.image_limits
        with quiet():
            return self.pictures(
                images=[resized(one, way.resizes) for one in shown],
                size={"shortest_edge": least * AREA, "longest_edge": most * AREA},
                return_tensors="pt",
            )

    def _hidden(self, ids: list[int], made: dict[str, Any], way: Way) -> tuple[torch.Tensor, int]:
        spare = max(0, way.longest - len(ids))
        filler = [self.tokenizer.convert_tokens_to_ids(END)] * spare
        left = way.positions == "left"
        row = torch.tensor([filler + ids if left else ids + filler])
        none = int(way.attended)
        mask = torch.tensor(
            [[none] * spare + [1] * len(ids) if left else [1] * len(ids) + [none] * spare]
        )
        last = row.shape[1] - 1 if left or way.pool == "column" else len(ids) - 1
        pad = self.tokenizer.convert_tokens_to_ids(PAD)
        if way.positions == "mrope":
            out = self.model(
                input_ids=row, attention_mask=mask, mm_token_type_ids=(row == pad).int(), **made
            )
            return out.last_hidden_state, last
        embeds = self.model.get_input_embeddings()(row)
        if made:
            seen = self.model.visual(made["pixel_values"], grid_thw=made["image_grid_thw"])
            embeds[row == pad] = seen.pooler_output
        places = torch.arange(row.shape[1]).expand(3, 1, -1)
        out = self.model.language_model(
            inputs_embeds=embeds, attention_mask=mask, position_ids=places, use_cache=False
        )
        return out.last_hidden_state, last


def resized(pixels: Pixels, resizes: int = 2) -> Image.Image:
    """The authors' own resize, the first of the two: one too long for the second is squashed."""
    picture = Image.fromarray(pixels)
    if resizes == 1:
        return picture
    sides = np.maximum(28, np.round(np.array(picture.size) / 28) * 28).astype(int)
    if sides.prod() < 4 * AREA:
        height, width = smart_resize(
            *pixels.shape[:2], factor=28, min_pixels=4 * AREA, max_pixels=16384 * AREA
        )
        return picture.resize((width, height))
    return picture.resize(tuple(np.minimum(sides, 200 * sides.min()).tolist()))
