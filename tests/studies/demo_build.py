"""A small demo for the tests: all tasks and files, few patients, small volumes."""

from __future__ import annotations

from studies.demo.names import Sizes

SMALL = Sizes(
    chest=16,
    held_out=8,
    brain=12,
    pathology=12,
    skin=12,
    series=1,
    nifti=1,
    shape=(20, 48, 48),
)
