"""The cases of specification 10.2, as model inputs."""

from __future__ import annotations

from engine.evidence.item import ModelInput
from tests.peers.tiny import picture, volume

TEXT = "No acute cardiopulmonary process; heart size normal."


def make(
    *texts: str,
    images: tuple = (),
    volumes: tuple = (),
    instruction: str | None = None,
) -> ModelInput:
    """A model input with its fields by name."""
    return ModelInput(instruction, texts, images, volumes)


MIXED = {
    "text": make(TEXT),
    "empty text": make(""),
    "image": make(images=(picture(96, 128),)),
    "image and text": make("Which organ?", images=(picture(70, 50),), instruction="Find it"),
    "two images": make(images=(picture(64, 64), picture(100, 40, 3)), instruction="Compare: "),
    "image under the minimum": make(images=(picture(20, 12),)),
    "instruction without full stop": make(TEXT, instruction="  Find the finding  "),
    "instruction with full stop": make(TEXT, instruction="Find the finding."),
    "empty item": make(),
}
VOLUMES = {
    "five slices": make(volumes=(volume(5, 40, 48),)),
    "volume, image and text": make(
        "Is it the same patient?",
        images=(picture(64, 96),),
        volumes=(volume(2, 32, 32, 7),),
        instruction="Retrieve the report",
    ),
    "two volumes": make(volumes=(volume(3, 33, 65), volume(2, 64, 64, 5))),
}
