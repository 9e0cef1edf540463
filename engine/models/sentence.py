"""Any sentence-transformers model: texts alone, CLIP-like, or with pictures inside a text.

A user's card or folder names it, no code does. Text and pictures go in as the model's own mixed
input where it has one; otherwise, and for slices, fields are embedded one by one and joined as a
dual tower's. The instruction is the library's ``prompt``. Refuses pictures where a model takes
none. The exact families of this program stay with their own adapters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from engine.device import ATTENTIONS, Choice, fall_back
from engine.errors import ItemRefused, WeightsRefused
from engine.evidence.item import ModelInput
from engine.models.common import fingerprint, identify, memory_errors, quiet
from engine.models.marks import clean
from engine.models.record import Loading, Record
from engine.models.sentence_folder import check_folder, import_library, load_model
from engine.models.settings import Settings
from engine.models.towers import NOTHING, join

AT_ONCE = 32
PICTURE_TOKENS = 256  # a guess, to batch like with like
ADDED_TOKENS = 8  # begin, end and the like, which a text does not show


@dataclass(frozen=True)
class _Part:
    """One call's input: what is given, under which prompt, for which field."""

    field: int
    given: Any
    prompt: str | None
    kind: str


class SentenceEncoder:
    """A loaded model of this family; see ``engine.encoder.Encoder``."""

    def __init__(
        self,
        model: Any,
        settings: Settings,
        *,
        model_id: str,
        fingerprint: str,
        record: Record,
        notes: tuple[str, ...],
    ) -> None:
        self.model, self.settings = model, settings
        self.model_id, self.fingerprint, self.record = model_id, fingerprint, record
        self.notes, self.shortened = notes, tuple[bool, ...]()
        self.max_slices, self.at_once = settings.max_slices, AT_ONCE
        self.takes_pictures = "image" in model.modalities
        self.mixes = self.takes_pictures and "message" in model.modalities
        self.control = control_tokens(model)
        with quiet(), torch.inference_mode():
            self.dim = int(self._call([self._text(NOTHING)], None).shape[1])

    def cost(self, item: ModelInput) -> int:
        """A guess at the tokens: letters of the texts, and a constant for every picture."""
        letters = sum(len(text) for text in (*item.texts, item.instruction or ""))
        pictures = len(item.images) + sum(len(volume) for volume in item.volumes)
        words = min(letters // 3, self.model.max_seq_length or letters)
        return 1 + words + PICTURE_TOKENS * pictures

    def same(self, item: ModelInput) -> tuple[str, bool] | None:
        """Not known: items are told apart by their content."""
        return None

    def encode(self, batch: Sequence[ModelInput]) -> NDArray[np.float32]:
        """Embed a batch; unit rows [B, D], float32.

        Raises:
            ItemRefused: pictures, for a model that takes none.
        """
        parts: list[_Part] = []
        items: list[int] = []
        self.shortened = tuple(
            self._take(item, row, parts, items) for row, item in enumerate(batch)
        )
        with quiet(), torch.inference_mode():
            found = self._vectors(parts)
            owners = torch.tensor([part.field for part in parts], device=found.device)
            rows = torch.tensor(items, device=found.device)
            return join(found, owners, rows, len(batch), self.settings.fuse).cpu().numpy()

    def _take(self, item: ModelInput, row: int, parts: list[_Part], items: list[int]) -> bool:
        """Add an item's fields; whether its text will be cut."""
        pictures = [_picture(one) for one in item.images]
        volumes = [[_picture(one) for one in volume] for volume in item.volumes if len(volume)]
        if (pictures or volumes) and not self.takes_pictures:
            raise ItemRefused(
                f"{self.model_id} takes texts only and this item holds a picture. "
                "Leave the picture out, or choose a model that takes pictures."
            )
        text, prompt = self._words(item, alone=not pictures and not volumes)
        groups: list[list[Any]] = []
        if text and pictures and self.mixes:
            image = pictures if len(pictures) > 1 else pictures[0]
            groups.append([{"image": image, "text": text}])
        else:
            groups += [[self._text(text)]] if text else []
            groups += [[{"image": one} for one in pictures]] if pictures else []
        groups += [[{"image": one} for one in volume] for volume in volumes]
        for group in groups:
            parts += [_Part(len(items), one, prompt, _kind(one)) for one in group]
            items.append(row)
        return self._is_cut(f"{prompt or ''}{text}")

    def _words(self, item: ModelInput, *, alone: bool) -> tuple[str, str | None]:
        """The text of an item and the prompt it stands under, None for the model's own.

        A model that prepends its prompt gets one blank between the two; an instruction without a
        text is then the text itself. One with turns has a place for a prompt of its own.
        """
        text = " ".join(clean(one, self.control) for one in item.texts)
        asked = self.settings.instruction_slot == "prefix"
        prompt = clean(item.instruction or "", self.control).strip() if asked else ""
        if prompt and not text.strip() and not self.mixes:
            text, prompt = prompt, ""
        if prompt and not self.mixes and not text[:1].isspace():
            prompt = f"{prompt} "
        blank = not text.strip()
        return (NOTHING if alone else "") if blank else text, prompt or None

    def _text(self, text: str) -> Any:
        """A text as the library must take it: never as the address of a picture to fetch."""
        return {"text": text} if self.takes_pictures else text

    def _vectors(self, parts: Sequence[_Part]) -> torch.Tensor:
        """Raw vectors [N, D] in the order of the parts, like with like in one call."""
        groups: dict[tuple[str | None, str], list[int]] = {}
        for number, part in enumerate(parts):
            groups.setdefault((part.prompt, part.kind), []).append(number)
        made = [
            self._call([parts[number].given for number in numbers], prompt)
            for (prompt, _), numbers in groups.items()
        ]
        order = torch.tensor([number for numbers in groups.values() for number in numbers])
        return torch.cat(made)[torch.argsort(order).to(made[0].device)]

    def _call(self, inputs: list[Any], prompt: str | None) -> torch.Tensor:
        """The library's own ``encode``; fewer inputs at once where memory is short."""
        while True:
            try:
                with memory_errors():
                    return self.model.encode(
                        inputs,
                        prompt=prompt,
                        batch_size=self.at_once,
                        show_progress_bar=False,
                        convert_to_tensor=True,
                        truncate_dim=self.settings.truncate_dim or None,
                    ).float()
            except MemoryError:
                if self.at_once == 1 or len(inputs) == 1:
                    raise
                self.at_once = max(1, min(self.at_once, len(inputs)) // 2)

    def _is_cut(self, text: str) -> bool:
        """By the tokenizer, where the model has one with a limit; turns around it not counted."""
        limit, tokenizer = self.model.max_seq_length, getattr(self.model, "tokenizer", None)
        if not limit or len(text) + ADDED_TOKENS <= limit or not callable(tokenizer):
            return False
        return len(tokenizer(text, truncation=False, verbose=False)["input_ids"]) > limit


def _picture(array: NDArray[np.uint8]) -> Image.Image:
    return Image.fromarray(array)


def _kind(given: Any) -> str:
    if isinstance(given, str):
        return "text"
    count = len(given["image"]) if isinstance(given.get("image"), list) else 1
    return f"{'+'.join(sorted(given))} {count}"


def control_tokens(model: Any) -> tuple[str, ...]:
    """The tokenizer's control tokens, none for a model without a tokenizer of that kind."""
    tokenizer = getattr(model, "tokenizer", None)
    named = list(getattr(tokenizer, "all_special_tokens", ()))
    added = getattr(tokenizer, "get_added_vocab", None)
    return tuple(dict.fromkeys([*named, *(added() if callable(added) else ())]))


def load(order: Loading) -> SentenceEncoder:
    """Load a model of this family.

    Raises:
        EngineMissing: the library is not installed.
        WeightsRefused: the folder names foreign code, is pickled, or cannot be loaded.
    """
    if order.weights.adapter is not None:
        raise WeightsRefused(f"{order.card.title} is an adapter; this family is loaded whole.")
    library = import_library(order.card.title)
    check_folder(order.weights.folder)
    model = load_model(library, order)
    inner = getattr(getattr(model, "transformers_model", None), "config", None)
    attention = str(getattr(inner, "_attn_implementation", None) or "none")
    digest, record = identify(order, attention=attention)
    version = f"sentence-transformers {library.__version__}"
    encoder = SentenceEncoder(
        model,
        order.settings,
        model_id=order.card.id,
        fingerprint=fingerprint({"model": digest, "library": version}),
        record=replace(record, libraries=(*record.libraries, version)),
        notes=(_reason(order.choice, attention),),
    )
    takes = "texts and pictures in one input" if encoder.mixes else "texts and pictures apart"
    encoder.notes += (f"Takes {takes if encoder.takes_pictures else 'texts only'}.",)
    return encoder


def _reason(choice: Choice, attention: str) -> str:
    """The device's reason, with the attention that the library took where it is another."""
    return fall_back(choice, (attention,)).reason if attention in ATTENTIONS else choice.reason
