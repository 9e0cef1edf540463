"""Names of MedImageInsight's tensors: from every layout known to this adapter's own, strictly.

Nobody here has seen the published file, so every name its authors' code can read is understood
(specification 6.2): today's, the older ``visual.`` and ``text.``, DaViT's own ``conv_embeds`` and
``main_blocks``, Florence-2's, each behind wrappers like ``module.``. Tolerant in names, strict in
number: every tensor fits exactly one place and every place is filled once, or the names are said.
Torch-free.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from engine.errors import WeightsRefused

Shape = tuple[int, ...]
WRAPPERS = re.compile(r"^(?:(?:module|model|_orig_mod)\.)+")
OLD_STARTS = {
    "visual.": "image_encoder.",
    "text.": "lang_encoder.",
    "vision_projection": "image_projection",
    "text_projection": "lang_projection",
}
# In training only: the temperature of the loss, and a head of classes that the model does without.
UNUSED = ("logit_scale", "image_encoder.head.weight", "image_encoder.head.bias")

_DAVIT_BLOCK = re.compile(r"^(?:main_blocks|blocks)\.(\d+)\.(\d+)\.([01])\.(.+)$")
_SIDES = {"0": ("spatial_block", "window_attn"), "1": ("channel_block", "channel_attn")}
# DaViT's name of a part to today's; {attention} is the side's own
_DAVIT_PARTS = {
    "cpe.0.proj.": "conv1.fn.dw.",
    "cpe.1.proj.": "conv2.fn.dw.",
    "attn.": "{attention}.fn.",
    "mlp.": "ffn.fn.net.",
    "norm1.": "{attention}.norm.",
    "norm2.": "ffn.norm.",
}
# today's names to transformers' Florence-2
_FLORENCE = (
    (re.compile(r"^(convs\.\d+)\.proj\."), r"\1.conv."),
    (re.compile(r"\.(conv[12])\.fn\.dw\."), r".\1."),
    (re.compile(r"\.(?:window|channel)_attn\.norm\."), ".norm1."),
    (re.compile(r"\.((?:window|channel)_attn)\.fn\."), r".\1."),
    (re.compile(r"\.ffn\.norm\."), ".norm2."),
    (re.compile(r"\.ffn\.fn\.net\."), ".ffn."),
)
IMAGE = "image_encoder."


def rename(name: str) -> str:
    """A tensor's name in any layout to its name in ``medimageinsight.Model``."""
    name = WRAPPERS.sub("", name)
    for old, new in OLD_STARTS.items():
        if name.startswith(old):
            name = new + name.removeprefix(old)
            break
    if not name.startswith(IMAGE) or name in UNUSED:
        return name
    inner = _of_davit(name.removeprefix(IMAGE))
    for pattern, new in _FLORENCE:
        inner = pattern.sub(new, inner)
    return inner if inner.startswith("norms.") else f"backbone.{inner}"


def _of_davit(name: str) -> str:
    name = re.sub(r"^conv_embeds\.", "convs.", name)
    found = _DAVIT_BLOCK.match(name)
    if found is None:
        return name
    stage, depth, side, rest = found.groups()
    block, attention = _SIDES[side]
    for old, new in _DAVIT_PARTS.items():
        if rest.startswith(old):
            rest = new.format(attention=attention) + rest.removeprefix(old)
            break
    return f"blocks.{stage}.{depth}.{block}.{rest}"


def match(held: Mapping[str, Shape], wanted: Mapping[str, Shape], *, file: str) -> dict[str, str]:
    """Which tensor of a file goes where.

    Args:
        held: shapes of the file's tensors, by their names there.
        wanted: shapes of the model's tensors, by their names here.
        file: for messages.

    Returns:
        Names here to names there, one for each of ``wanted``.

    Raises:
        WeightsRefused: tensors missing, left over, of another shape, or two for one place.
    """
    found: dict[str, str] = {}
    problems: dict[str, list[str]] = {}
    for name in sorted(held):
        place = rename(name)
        if place in found:
            problems.setdefault("twice", []).append(f"{found[place]} and {name}")
        elif place in wanted and held[name] != wanted[place]:
            sizes = f"{list(held[name])} for {list(wanted[place])}"
            problems.setdefault("of another shape", []).append(f"{name} {sizes}")
        elif place not in wanted and place not in UNUSED:
            problems.setdefault("unexpected", []).append(name)
        found[place] = name
    missing = sorted(set(wanted) - set(found))
    if missing:
        problems["missing"] = missing
    _refuse(problems, file)
    return {place: found[place] for place in wanted}


def _refuse(problems: Mapping[str, Iterable[str]], file: str) -> None:
    if not problems:
        return
    said = []
    for kind, names in problems.items():
        names = list(names)
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        said.append(f"{kind}: {', '.join(names[:3])}{more}")
    raise WeightsRefused(
        f"The weights in {file} do not fit this model ({'; '.join(said)}). "
        "Use the folder as its authors published it."
    )
