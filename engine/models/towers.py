"""What every dual tower shares: an item taken apart, each field through its tower, one vector.

A family gives two towers (``Towers``); this module owns the fields of an item, where its
instruction goes, how slices, pictures and texts become one vector (specification 0.1), and how
many pictures are on the device at once. Several pictures, and the slices of a volume, are pooled
to one field first, so that 64 slices do not drown a text. Refuses nothing: every item has a field.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from engine.evidence.item import ModelInput
from engine.models.common import identify, memory_errors, quiet
from engine.models.marks import clean
from engine.models.record import Loading, Record
from engine.models.settings import Settings

NOTHING = "NULL"
PICTURES_AT_ONCE = 32
LAYOUT = ("text_row", "text_field", "pixel_values", "picture_field", "field_item", "rows")


class Reads(Protocol):
    """The half of a family that needs no weights: tokenizer and picture processor."""

    @property
    def control(self) -> Sequence[str]:
        """The tokenizer's control tokens, broken up where a user typed them."""
        ...

    def tokenise(self, texts: Sequence[str]) -> tuple[dict[str, torch.Tensor], list[bool]]:
        """Tensors of the text tower, on the CPU, and which of the texts were cut."""
        ...

    def patch(self, picture: NDArray[np.uint8]) -> torch.Tensor:
        """A picture [H, W, 3] as the picture tower wants it: float32 [3, h, w], on the CPU."""
        ...


class Sees(Protocol):
    """The half with the weights; both towers give raw vectors, not yet of unit length."""

    def text_vectors(self, tensors: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Vectors [N, D] of what ``tokenise`` made of N texts."""
        ...

    def picture_vectors(self, pixels: torch.Tensor) -> torch.Tensor:
        """Vectors [N, D] of pictures [N, 3, h, w], float32 on the device."""
        ...


class Towers(Reads, Sees, Protocol):
    """A family's two towers, loaded.

    Attributes:
        module: holds the weights.
        dim: length of a vector (D).
        patches: of one picture, to estimate its cost.
        length: most tokens of a text.
    """

    module: torch.nn.Module
    dim: int
    patches: int
    length: int


@dataclass(frozen=True)
class Fields:
    """A batch taken apart: which text or picture belongs to which field, and that to which item.

    Attributes:
        texts: each different text once.
        text_rows: of every text field, which of ``texts`` it is.
        text_fields: of every text field, its number.
        pictures: every picture and slice.
        picture_fields: of every picture, the number of its field.
        field_items: of every field, its item.
    """

    texts: list[str] = field(default_factory=list)
    text_rows: list[int] = field(default_factory=list)
    text_fields: list[int] = field(default_factory=list)
    pictures: list[NDArray[np.uint8]] = field(default_factory=list)
    picture_fields: list[int] = field(default_factory=list)
    field_items: list[int] = field(default_factory=list)


def take_apart(inputs: Sequence[ModelInput], settings: Settings, control: Sequence[str]) -> Fields:
    """The fields of a batch: an item's texts as one, its pictures as one, each volume as one."""
    fields, known = Fields(), dict[str, int]()
    for number, item in enumerate(inputs):
        for text in texts_of(item, settings, control):
            fields.text_rows.append(known.setdefault(text, len(known)))
            fields.text_fields.append(len(fields.field_items))
            fields.field_items.append(number)
        for group in (item.images, *item.volumes):
            if len(group):
                fields.picture_fields.extend([len(fields.field_items)] * len(group))
                fields.pictures.extend(group)
                fields.field_items.append(number)
    fields.texts.extend(known)
    return fields


def texts_of(item: ModelInput, settings: Settings, control: Sequence[str]) -> list[str]:
    """The text fields of an item: one, and one more for an instruction taken as a field.

    An item without anything is the word NULL, as the authors' wrappers have it; an item that is
    one empty text stays that text, unless the settings say NULL there too.
    """
    text = " ".join(clean(one, control) for one in item.texts)
    instruction = clean(item.instruction or "", control).strip()
    if settings.instruction_slot == "prefix":
        text = f"{instruction} {text}".strip()
    found = [text] if text.strip() else []
    if settings.instruction_slot == "field" and instruction:
        found.append(instruction)
    if found or item.images or any(len(volume) for volume in item.volumes):
        return found
    return [text if item.texts and settings.empty_text == "kept" else NOTHING]


def build_batch(
    reads: Reads, inputs: Sequence[ModelInput], settings: Settings
) -> dict[str, torch.Tensor]:
    """Tokenise and resize a batch, on the CPU, for ``pool``; this is the way of training.

    Returns:
        The text tower's tensors of T different texts; ``text_row`` and ``text_field`` [N];
        ``pixel_values`` [P, 3, h, w] and ``picture_field`` [P]; ``field_item`` [F]: a field's row
        in the batch; ``rows`` [B]. What a batch has not is left out.
    """
    fields = take_apart(inputs, settings, reads.control)
    batch = {"field_item": torch.tensor(fields.field_items), "rows": torch.arange(len(inputs))}
    if fields.texts:
        batch |= reads.tokenise(fields.texts)[0]
        batch["text_row"] = torch.tensor(fields.text_rows)
        batch["text_field"] = torch.tensor(fields.text_fields)
    if fields.pictures:
        batch["pixel_values"] = torch.stack([reads.patch(one) for one in fields.pictures])
        batch["picture_field"] = torch.tensor(fields.picture_fields)
    return batch


def pool(
    sees: Sees,
    batch: Mapping[str, torch.Tensor],
    *,
    fuse: str = "mean_of_unit",
    pictures_at_once: int = PICTURES_AT_ONCE,
) -> torch.Tensor:
    """Vectors of a batch, with gradients where the caller records them.

    Args:
        sees: the towers.
        batch: from ``build_batch``, on the device.
        fuse: see ``join``.
        pictures_at_once: most pictures in one call of the tower.

    Returns:
        float32 tensor [B, D] of unit rows.
    """
    parts, owners = [], []
    if "text_row" in batch:
        tensors = {name: value for name, value in batch.items() if name not in LAYOUT}
        parts.append(sees.text_vectors(tensors).float()[batch["text_row"]])
        owners.append(batch["text_field"])
    if "pixel_values" in batch:
        for chunk in batch["pixel_values"].split(pictures_at_once):
            parts.append(sees.picture_vectors(chunk).float())
        owners.append(batch["picture_field"])
    return join(torch.cat(parts), torch.cat(owners), batch["field_item"], len(batch["rows"]), fuse)


def join(
    vectors_ND: torch.Tensor,
    owner_N: torch.Tensor,
    item_F: torch.Tensor,
    count: int,
    fuse: str = "mean_of_unit",
) -> torch.Tensor:
    """From the towers' vectors to one of each item.

    Args:
        vectors_ND: raw vectors, float32.
        owner_N: the field of each.
        item_F: the item of each field.
        count: of items (B).
        fuse: ``mean_of_unit`` makes vectors unit before they are averaged to a field, and fields
            before they are averaged to an item; ``mean_raw`` averages both as they come; ``sum``
            adds raw fields. Since the end is made unit, the last two agree to rounding.

    Returns:
        float32 tensor [B, D] of unit rows.
    """
    unit = fuse == "mean_of_unit"
    field_FD = _mean(vectors_ND, owner_N, len(item_F), unit=unit)
    item_BD = _mean(field_FD, item_F, count, unit=unit)
    if fuse == "sum":
        item_BD = item_BD * torch.bincount(item_F, minlength=count)[:, None]
    return torch.nn.functional.normalize(item_BD, dim=-1)


def _mean(vectors: torch.Tensor, owners: torch.Tensor, count: int, *, unit: bool) -> torch.Tensor:
    """Mean of the vectors of each owner, each made unit before if ``unit``."""
    if unit:
        vectors = torch.nn.functional.normalize(vectors, dim=-1)
    total = vectors.new_zeros(count, vectors.shape[1]).index_add(0, owners, vectors)
    return total / torch.bincount(owners, minlength=count).clamp(min=1)[:, None]


class TowerEncoder:
    """A loaded dual tower; see ``engine.encoder.Encoder``.

    Args:
        towers: of the family.
        settings: as they ended up.
        model_id: the card's id.
        fingerprint: from ``engine.models.common.identify``.
        record: the same.
        device: torch's word.
        notes: sentences about choices made at load.
        pictures_at_once: most pictures in one call of the tower; halved, down to one, where the
            device has not the memory, before the item itself is given up.
    """

    def __init__(
        self,
        towers: Towers,
        settings: Settings,
        *,
        model_id: str,
        fingerprint: str,
        record: Record,
        device: str,
        notes: tuple[str, ...],
        pictures_at_once: int = PICTURES_AT_ONCE,
    ) -> None:
        self.towers, self.settings, self.device = towers, settings, device
        self.model_id, self.fingerprint, self.record = model_id, fingerprint, record
        self.notes, self.shortened = notes, tuple[bool, ...]()
        self.dim, self.max_slices = towers.dim, settings.max_slices
        self.pictures_at_once = pictures_at_once

    @property
    def model(self) -> torch.nn.Module:
        """Both towers' weights."""
        return self.towers.module

    def cost(self, item: ModelInput) -> int:
        """Tokens of the text tower plus patches of every picture."""
        pictures = len(item.images) + sum(len(volume) for volume in item.volumes)
        texts = len(texts_of(item, self.settings, ()))
        return max(1, texts * self.towers.length + self.towers.patches * pictures)

    def same(self, item: ModelInput) -> tuple[str, bool] | None:
        """The digest of a text's tokens after cutting; None for an item with pictures."""
        if item.images or item.volumes:
            return None
        whole, shortened = hashlib.sha256(), False
        with quiet():
            for text in texts_of(item, self.settings, self.towers.control):
                tensors, cut = self.towers.tokenise([text])
                shortened |= any(cut)
                for name, tensor in sorted(tensors.items()):
                    whole.update(f"{name} {tuple(tensor.shape)}\0".encode())
                    whole.update(tensor.contiguous().numpy().tobytes())
        return whole.hexdigest(), shortened

    def encode(self, batch: Sequence[ModelInput]) -> NDArray[np.float32]:
        """Embed a batch; unit rows [B, D], float32."""
        with quiet(), memory_errors(), torch.inference_mode():
            fields = self._fields(batch)
            text_ND, cut = self._texts(fields)
            found = torch.cat([text_ND, self._pictures(fields)])
            owners = self._index(fields.text_fields + fields.picture_fields)
            items = self._index(fields.field_items)
            vectors = join(found, owners, items, len(batch), self.settings.fuse).cpu().numpy()
        self.shortened = tuple(number in cut for number in range(len(batch)))
        return vectors

    def _index(self, numbers: list[int]) -> torch.Tensor:
        return torch.tensor(numbers, dtype=torch.long, device=self.device)

    def _texts(self, fields: Fields) -> tuple[torch.Tensor, set[int]]:
        """Vectors of all text fields, and the items of which one was cut."""
        if not fields.texts:
            return torch.zeros(0, self.dim, device=self.device), set()
        tensors, cut = self.towers.tokenise(fields.texts)
        on_device = {name: value.to(self.device) for name, value in tensors.items()}
        vectors = self.towers.text_vectors(on_device).float()[self._index(fields.text_rows)]
        rows = zip(fields.text_rows, fields.text_fields, strict=True)
        return vectors, {fields.field_items[one] for row, one in rows if cut[row]}

    def _fields(self, batch: Sequence[ModelInput]) -> Fields:
        return take_apart(batch, self.settings, self.towers.control)

    def _look(self, fields: Fields, start: int, pixels: torch.Tensor) -> torch.Tensor:
        """Vectors [N, D] of the pictures from ``start`` on; a family may look at texts too."""
        return self.towers.picture_vectors(pixels)

    def _pictures(self, fields: Fields) -> torch.Tensor:
        parts, start = [torch.zeros(0, self.dim, device=self.device)], 0
        while start < len(fields.pictures):
            chunk = fields.pictures[start : start + self.pictures_at_once]
            try:
                with memory_errors():
                    pixels = torch.stack([self.towers.patch(one) for one in chunk])
                    parts.append(self._look(fields, start, pixels.to(self.device)).float())
            except MemoryError:
                if len(chunk) == 1:
                    raise
                self._fewer(len(chunk) // 2)
                continue
            start += len(chunk)
        return torch.cat(parts)

    def _fewer(self, count: int) -> None:
        self.pictures_at_once = count
        self.notes = (
            *(note for note in self.notes if not note.startswith("Memory ran out")),
            f"Memory ran out; pictures go through the tower {count} at a time.",
        )


def finish(
    order: Loading,
    towers: Towers,
    *,
    settings: Settings | None = None,
    notes: tuple[str, ...] = (),
    kind: type[TowerEncoder] = TowerEncoder,
) -> TowerEncoder:
    """The encoder of towers that were loaded and moved to the device.

    Args:
        order: what the loader was given.
        towers: of the family.
        settings: as they ended up, the order's when left out.
        notes: the family's own sentences, after the device's.
        kind: a subclass, where a family adds to the encoder.
    """
    settled = settings or order.settings
    digest, record = identify(order, settings=settled)
    return kind(
        towers,
        settled,
        model_id=order.card.id,
        fingerprint=digest,
        record=record,
        device=order.choice.device,
        notes=(order.choice.reason, *notes),
    )
