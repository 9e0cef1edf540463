"""BLIP-2 for image-text retrieval: a ViT, a Q-Former read twice, one vector (specification 5).

A text is read at ``[CLS]`` under its mask, a picture at the query tokens. One copy of the weights
serves both, ``Blip2ForImageTextRetrieval``; under float16 the library keeps its Q-Former and query
tokens in float32, under bfloat16 it does not. Never run on the published weights, only on tiny
ones of the same architecture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers.models.blip_2 import Blip2ForImageTextRetrieval

from engine.errors import WeightsRefused
from engine.evidence.item import ModelInput
from engine.models.blip2_files import Blip2Processor, load_configuration, load_processor
from engine.models.common import load_strictly, memory_errors, with_attention
from engine.models.record import Loading
from engine.models.settings import Settings
from engine.models.towers import Fields, TowerEncoder, finish, take_apart, texts_of

PICTURES_AT_ONCE = 16
JOINT = "lavis768"
# What a file may hold beyond the model, and no more: running numbers of positions, and what a
# conversion of LAVIS leaves behind: the word tables under its general renaming, the temperature
# of the training, the head that writes captions. The language model in the published
# configuration has no weights in the file.
_CAPTIONS = (
    "bias", "decoder.bias", "decoder.weight", "transform.dense.weight", "transform.dense.bias",
    "transform.LayerNorm.weight", "transform.LayerNorm.bias",
)  # fmt: skip
UNUSED = (
    "embeddings.position_ids",
    "qformer.embeddings.position_ids",
    "qformer.embeddings.word_embeddings.weight",
    "qformer.embeddings.position_embeddings.weight",
    "temp",
    *(f"Qformer.cls.predictions.{name}" for name in _CAPTIONS),
)


class Blip2Towers:
    """See ``engine.models.towers.Towers``.

    Vectors are what the authors call features: a text's, and each query token's, are of unit
    length; the raw states of ``lavis768`` are not.
    """

    def __init__(
        self, model: Blip2ForImageTextRetrieval, processor: Blip2Processor, query_pool: str
    ) -> None:
        config = model.config
        self.module: torch.nn.Module = model
        self.processor, self.query_pool = processor, query_pool
        self.control, self.length = processor.control, processor.length
        wide = config.qformer_config.hidden_size if query_pool == JOINT else None
        self.dim = int(wide or config.image_text_hidden_size)
        self.patches = (processor.side // int(config.vision_config.patch_size)) ** 2

    def tokenise(self, texts: Sequence[str]) -> tuple[dict[str, torch.Tensor], list[bool]]:
        """The processor's."""
        return self.processor.tokenise(texts)

    def patch(self, picture: NDArray[np.uint8]) -> torch.Tensor:
        """The processor's."""
        return self.processor.patch(picture)

    def text_vectors(self, tensors: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Vectors [N, D] of texts, read at ``[CLS]``."""
        model: Any = self.module
        found = model.qformer(
            query_embeds=model.embeddings(input_ids=tensors["input_ids"]),
            query_length=0,
            attention_mask=tensors["attention_mask"],
        )
        state = found.last_hidden_state[:, 0]
        return state if self.query_pool == JOINT else _project(model.text_projection, state)

    def picture_vectors(self, pixels: torch.Tensor) -> torch.Tensor:
        """Vectors [N, D] of pictures: their query tokens made one."""
        queries = self.query_states(pixels)
        if self.query_pool == JOINT:
            return queries[:, 0]
        if self.query_pool == "first":
            return _project(self.module.vision_projection, queries[:, 0])
        mean = _project(self.module.vision_projection, queries).mean(dim=1)
        return torch.nn.functional.normalize(mean, dim=-1)

    def query_states(self, pixels: torch.Tensor) -> torch.Tensor:
        """States of the query tokens [N, Q, hidden], the picture seen, no text."""
        model: Any = self.module
        seen = self._see(pixels)
        return model.qformer(
            query_embeds=model.query_tokens.expand(len(pixels), -1, -1), **seen
        ).last_hidden_state

    def joint_vectors(
        self, pixels: torch.Tensor, tensors: Mapping[str, torch.Tensor]
    ) -> torch.Tensor:
        """Query 0 with picture and text seen together, raw [N, hidden]: LAVIS' multimodal feature.

        Args:
            pixels: N pictures.
            tensors: of N texts, one for each picture.
        """
        model: Any = self.module
        queries = model.query_tokens.expand(len(pixels), -1, -1)
        mask = tensors["attention_mask"]
        found = model.qformer(
            query_embeds=model.embeddings(input_ids=tensors["input_ids"], query_embeds=queries),
            query_length=queries.shape[1],
            attention_mask=torch.cat([mask.new_ones(queries.shape[:2]), mask], dim=1),
            **self._see(pixels),
        )
        return found.last_hidden_state[:, 0]

    def _see(self, pixels: torch.Tensor) -> dict[str, torch.Tensor]:
        model: Any = self.module
        patches = model.vision_model(pixel_values=pixels).last_hidden_state
        mask = torch.ones(patches.shape[:2], dtype=torch.long, device=patches.device)
        return {"encoder_hidden_states": patches, "encoder_attention_mask": mask}


def _project(layer: Any, states: torch.Tensor) -> torch.Tensor:
    """Unit vectors, float32; the layer may be in half precision where the Q-Former is not."""
    return torch.nn.functional.normalize(layer(states.to(layer.weight.dtype)).float(), dim=-1)


@dataclass(frozen=True)
class JointFields(Fields):
    """Fields of a batch in which a picture may be looked at together with its item's text.

    Attributes:
        read_with: of every picture, the row in ``texts`` it is read with, None for alone.
    """

    read_with: list[int | None] = field(default_factory=list)


class Blip2Encoder(TowerEncoder):
    """A loaded model of this family.

    Under ``lavis768`` an item's text is no field of its own where there are pictures: each picture
    and slice is read together with it. LAVIS knows one picture and one text only; that the states
    of several are averaged, and that an instruction taken as a field stays one, is this project's
    choice.
    """

    towers: Blip2Towers

    def _fields(self, batch: Sequence[ModelInput]) -> Fields:
        if self.settings.query_pool != JOINT:
            return super()._fields(batch)
        return _joint_fields(batch, self.settings, self.towers.control)

    def _look(self, fields: Fields, start: int, pixels: torch.Tensor) -> torch.Tensor:
        if not isinstance(fields, JointFields):
            return super()._look(fields, start, pixels)
        rows = fields.read_with[start : start + len(pixels)]
        found = torch.zeros(len(pixels), self.dim, device=self.device)
        alone = [index for index, row in enumerate(rows) if row is None]
        if alone:
            found[alone] = self.towers.picture_vectors(pixels[alone]).float()
        together = [index for index, row in enumerate(rows) if row is not None]
        if together:
            texts = [fields.texts[row] for row in rows if row is not None]
            tensors = {k: v.to(self.device) for k, v in self.towers.tokenise(texts)[0].items()}
            found[together] = self.towers.joint_vectors(pixels[together], tensors).float()
        return found

    def _texts(self, fields: Fields) -> tuple[torch.Tensor, set[int]]:
        vectors, cut = super()._texts(fields)
        if isinstance(fields, JointFields) and fields.texts:
            shortened = self.towers.tokenise(fields.texts)[1]
            owners = zip(fields.picture_fields, fields.read_with, strict=True)
            cut |= {
                fields.field_items[one]
                for one, row in owners
                if row is not None and shortened[row]
            }  # fmt: skip
        return vectors, cut


def _joint_fields(
    batch: Sequence[ModelInput], settings: Settings, control: Sequence[str]
) -> JointFields:
    """Fields of a batch, the text of an item with pictures moved to those pictures."""
    own = settings.instruction_slot == "field"
    told = replace(settings, instruction_slot="drop") if own else settings
    with_text: dict[int, str] = {}
    items = list(batch)
    for number, item in enumerate(batch):
        pictured = item.images or any(len(volume) for volume in item.volumes)
        text = texts_of(item, told, control)
        if pictured and text:
            with_text[number] = text[0]
            items[number] = replace(item, texts=(), instruction=item.instruction if own else None)
    fields = take_apart(items, settings, control)
    known = {text: row for row, text in enumerate(fields.texts)}
    for joint in with_text.values():
        if known.setdefault(joint, len(known)) == len(fields.texts):
            fields.texts.append(joint)
    owners = [fields.field_items[one] for one in fields.picture_fields]
    rows = [known[with_text[item]] if item in with_text else None for item in owners]
    return JointFields(**vars(fields), read_with=rows)


def load(order: Loading) -> TowerEncoder:
    """Load a model of this family.

    Raises:
        WeightsRefused: keys, shapes or files that do not fit.
        ModelError: a setting the model cannot follow.
    """
    folder, asked = order.weights.folder, order.settings
    if order.weights.adapter is not None:
        raise WeightsRefused(f"{order.card.title} is an adapter; this family is loaded whole.")
    order = with_attention(order, Blip2ForImageTextRetrieval)
    config = load_configuration(folder)
    processor = load_processor(folder, config, max_tokens=asked.max_tokens)
    with memory_errors():
        model = load_strictly(
            Blip2ForImageTextRetrieval,
            folder,
            dtype=getattr(torch, order.choice.dtype),
            allowed=UNUSED,
            attention=order.choice.attention,
        ).to(order.choice.device)
    encoder = finish(
        order,
        Blip2Towers(model, processor, asked.query_pool),
        settings=replace(asked, max_tokens=processor.length),
        notes=_notes(processor, model),
        kind=Blip2Encoder,
    )
    encoder.pictures_at_once = PICTURES_AT_ONCE
    return encoder


def _notes(processor: Blip2Processor, model: Blip2ForImageTextRetrieval) -> tuple[str, ...]:
    kept = model.qformer.dtype
    split = f"The Q-Former and its queries stay in {str(kept).removeprefix('torch.')}."
    return tuple(
        note
        for note in (
            f"Texts are cut at {processor.length} tokens.",
            processor.assumed,
            split if kept != model.vision_model.dtype else "",
        )
        if note
    )
