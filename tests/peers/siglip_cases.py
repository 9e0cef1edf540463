"""Cases of SigLIP and MedSigLIP, for the tests and for the scripts that record goldens."""

from __future__ import annotations

from tests.peers.pictures import picture

CYCLE = ("lung", "nodule", "of", "mm", "left", "upper", "lobe", "no", "effusion", "acute", "tear")


def words(count: int) -> str:
    """A text of so many tokens: each word is one piece of the tiny vocabulary."""
    return " ".join(CYCLE[(7 * number + number // 3) % len(CYCLE)] for number in range(count))


# With the end token a text has one id more; 64 is the model's length.
TEXTS = {
    "0 tokens": "",
    "1 token": words(1),
    "62 tokens": words(62),
    "63 tokens, full with the end": words(63),
    "64 tokens, cut by one": words(64),
    "200 tokens, cut": words(200),
    "capitals, punctuation, blanks": "Findings:  NO acute (left) lung-nodule, of 1.5 mm!",
}
CUT = ("64 tokens, cut by one", "200 tokens, cut")
PICTURES = {
    "square": picture(60, 60),
    "wide": picture(45, 90, 1),
    "tall, odd": picture(83, 40, 2),
    "larger than the model's": picture(700, 520, 3),
    "a sliver": picture(3, 50, 4),
}
FUSED = ("1 token", "wide")
