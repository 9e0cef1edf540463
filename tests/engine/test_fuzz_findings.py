"""What the mutation fuzzer found, each made again by its recipe; and a short run of the fuzzer.

A recipe names a base (a handed file, or a synthetic one: ``made:``) and the edits that were enough.
The long run: ``python -m tests.fuzz.run --mutants 20000 --seed 1``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fuzz import bases, mutate, worker
from tests.fuzz.mutate import Mutator
from tests.fuzz.pool import Worker
from tests.shared import shared_path

# what went wrong, and the recipe
FINDINGS: list[tuple[str, dict[str, Any]]] = [
    ("as many bytes were read for as a length claimed",
     {"base": "made:dicom_palette",
      "edits": [["splice", 549, "dicom/ct_jpeg8_scaled.dcm", 59887, -1]]}),
    ("the whole header stood in the transfer syntax and was passed on, name and all",
     {"base": "dicom/us_j2k_ybr_ict.dcm", "edits": [["delete", 254, 2]]}),
    ("a library printed what it thought of a header",
     {"base": "made:mha", "edits": [["delete", 149, 1000]]}),
    ("a library printed that data are missing",
     {"base": "mha/anat_float.mhd+mha/anat_float.zraw", "edits": [["cut", 19255]]}),
    ("a library computed for ever over an absurd number of dimensions",
     {"base": "mha/anat_float.mhd",
      "edits": [["delete", 275, 2], ["insert", 275, "3939393939"]]}),
    ("a volume without slices was shown",
     {"base": "made:mha", "edits": [["delete", 43, 1], ["insert", 43, "30"]]}),
    ("damaged zlib data gave other values at each reading",
     {"base": "mha/anat_float.mhd+mha/anat_float.zraw",
      "edits": [["copy", 11737, 100, 24025]]}),
    ("damaged zlib data gave other values at each reading, in one file",
     {"base": "mha/lung_mask_compressed.mha", "edits": [["copy", 2403, 1000, 22180]]}),
    ("a data file's name with a zero byte in it",
     {"base": "made:mha", "edits": [["flip", 168, 6]]}),
    ("an overflow in the affine warned",
     {"base": "nifti/oblique_4d_nifti2.nii.gz", "wrap": "inside", "edits": [["set", 391, "ff"]]}),
    ("numbers of the affine whose squares overflow",
     {"base": "nifti/oblique_4d_nifti2.nii.gz", "wrap": "inside", "edits": [["set", 471, "7f"]]}),
    ("records of a disc that end in the middle of a tag",
     {"base": "made:dicom_disc", "edits": [["fill", 337, 512, 0]]}),
    ("a UID that is none warned when it was read late",
     {"base": "made:dicom_overlaid", "edits": [["set", 558, "ff"]]}),
    ("a number of an overlay that is none warned when it was read late",
     {"base": "dicom/mr_overlay_two_windows.dcm",
      "edits": [["element", "00601500", "3165333030"]]}),
    ("a picture with no width",
     {"base": "raster/exif_nonsquare.jpg", "edits": [["set", 129, "69"]]}),
    ("pages of several colour models were announced and not shown",
     {"base": "made:gif", "edits": []}),
    ("a page that cannot be read was left out silently",
     {"base": "raster/multipage.tiff", "edits": [["set", 78, "00"]]}),
    ("a decoder failed in silence and gave half a picture",
     {"base": "dicom/sc_htj2k_lossless.dcm", "edits": [["set", 302424, "b0"]]}),
    ("parts of a file were not found again under another name",
     {"base": "made:npz", "edits": [], "name": "a.nii"}),
    ("parts of a file were looked for as results of another kind",
     {"base": "made:npz", "edits": [], "name": "a.txt"}),
    ("parts of a file were taken for a disc",
     {"base": "made:npz", "edits": [], "name": "DICOMDIR"}),
    ("a DICOM file named as a picture was shown and no model got it",
     {"base": "dicom/ct_bigendian.dcm", "edits": [], "name": "a.tif"}),
    ("an image in an archive, named as another kind, was shown and no model got it",
     {"base": "mha/ct_head_2d.mha", "wrap": "zip", "edits": [], "name": "a.webp"}),
]  # fmt: skip
MUTANTS, SEED = 300, 20
CUTS = 40


def ids(found: tuple[str, dict[str, Any]]) -> str:
    return found[1]["base"].replace("/", ".")


@pytest.mark.parametrize("found", FINDINGS, ids=ids)
def test_a_finding_stays_mended(found: tuple[str, dict[str, Any]], capfd) -> None:
    recipe = found[1]
    if not recipe["base"].startswith("made:") or "splice" in str(recipe["edits"]):
        shared_path("data/files")
    report, _ = worker.run(recipe)
    assert report.findings == ()
    assert capfd.readouterr() == ("", "")


def cuts_of(name: str) -> Iterator[int]:
    """Places where structure begins or ends, and some between."""
    raw = bases.load(name).raw
    marks = mutate.landmarks(raw)[:: max(1, len(mutate.landmarks(raw)) // CUTS)]
    places = {mark + more for mark in marks for more in (0, 2, 8)}
    places |= {len(raw) * part // CUTS for part in range(1, CUTS)}
    places |= {len(raw) - less for less in (1, 2, 3, 4, 8, 9, 16)}
    yield from sorted(at for at in places if 0 < at < len(raw))


@pytest.mark.parametrize("name", bases.names(handed=False))
def test_no_cut_file_is_shown_as_a_whole_picture(name: str) -> None:
    if name in bases.OPEN_ENDED:
        pytest.skip("a text of numbers has no end of its own")
    for at in cuts_of(name):
        report, _ = worker.run({"base": name, "edits": [["cut", at]]})
        assert report.findings == (), (at, report.findings)


def test_mutants_end_in_evidence_or_in_a_sentence() -> None:
    shared_path("data/files")
    mutator, ends = Mutator(bases.names(), SEED), set()
    process = Worker()
    try:
        for number in range(MUTANTS):
            recipe = mutator.recipe(number)
            answer = process.ask(recipe)
            ends.update(answer["ends"])
            assert answer["findings"] == [], recipe
    finally:
        process.close()
    assert {"image", "volume", "truncated", "damaged"} <= ends


def test_equal_seeds_make_equal_mutants() -> None:
    names = bases.names(handed=False)
    first, second, other = Mutator(names, 1), Mutator(names, 1), Mutator(names, 2)
    made = [first.recipe(number) for number in range(30)]
    assert made == [second.recipe(number) for number in range(30)]
    assert made != [other.recipe(number) for number in range(30)]
    assert all(mutate.make(recipe) for recipe in made)
