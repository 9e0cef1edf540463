"""A torch of machines that are not here: what is asked of it before a model is loaded."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

GB = 10**9


def fake_torch(
    *,
    cards: int = 0,
    ampere: bool = True,
    mps: bool = False,
    macos: tuple[int, int] = (15, 0),
    hip: str | None = None,
    sdpa: bool = True,
    memory: tuple[int, int] = (60 * GB, 80 * GB),
) -> Any:
    functional = SimpleNamespace(scaled_dot_product_attention=None) if sdpa else SimpleNamespace()
    return SimpleNamespace(
        cuda=SimpleNamespace(
            is_available=lambda: cards > 0,
            device_count=lambda: cards,
            get_device_name=lambda index: f"Card {index}",
            get_device_capability=lambda index: (8, 6) if ampere else (7, 5),
            mem_get_info=lambda index: memory,
        ),
        backends=SimpleNamespace(
            mps=SimpleNamespace(
                is_available=lambda: mps,
                is_macos_or_newer=lambda major, minor: macos >= (major, minor),
            )
        ),
        mps=SimpleNamespace(
            recommended_max_memory=lambda: 12 * GB, driver_allocated_memory=lambda: 2 * GB
        ),
        version=SimpleNamespace(hip=hip),
        nn=SimpleNamespace(functional=functional),
        ops=SimpleNamespace(mkldnn=SimpleNamespace(_is_mkldnn_bf16_supported=lambda: False)),
    )
