"""The headers of NIfTI-1, NIfTI-2 and Analyze: sizes, number format, scaling, and place in space.

Owns the layout, the choice of sform before qform, and the rule that a slope of zero or NaN means
no scaling. Refuses the header's free text (descrip, db_name, intent_name): it may name a person
and is never read.

Source: nifti1.h and nifti2.h of the NIfTI data format working group.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence import files
from engine.evidence.bounded import LIMIT_VALUES
from engine.evidence.failures import too_large

MAGIC_1, MAGIC_2 = (b"n+1\0", b"ni1\0"), (b"n+2\0", b"ni2\0")
TO_MM = {1: 1000.0, 3: 0.001}
DIFFER_MM = 0.1  # two orientations of one file farther apart than this are said to differ
FARTHEST_MM = 1e9  # what lies farther is no place in space
SAME_SIZE = 0.01
IMAGES = (".img", ".img.gz", ".IMG")
RGB_INTENTS = (2003, 2004)


@dataclass(frozen=True, eq=False)
class NiftiHeader:
    """What a NIfTI header says.

    Attributes:
        size: [x, y, z, t] lengths; t holds time points times values in each voxel.
        vector: values in each voxel (fifth and further axes), 1 for plain pictures.
        code: datatype code.
        endian: ``<`` or ``>``.
        slope: multiply by this, then add ``intercept``; (1, 0) for none.
        offset: where the values begin in ``data_path``.
        affine: 4 x 4 from indices to mm (x to R, y to A, z to S), None if the file has none.
        affine_from: ``sform``, ``qform`` or None.
        space: code of the space that the affine leads to (3 Talairach, 4 MNI).
        zooms: voxel sizes in mm from pixdim.
        window: (least, greatest) value to show, None if the file names no sensible ones.
        intent: intent code.
        version: 1 or 2; 0 for Analyze.
        notes: sentences about what was found.
    """

    size: tuple[int, int, int, int]
    vector: int
    code: int
    endian: str
    slope: float
    intercept: float
    offset: int
    affine: NDArray[np.float64] | None
    affine_from: str | None
    space: int
    zooms: tuple[float, float, float]
    window: tuple[float, float] | None
    intent: int
    version: int
    data_path: Path
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Raw:
    """Fields as they stand in the header, version 1 and 2 alike."""

    dims: tuple[int, ...]
    code: int
    endian: str
    pixdim: tuple[float, ...]
    offset: float
    slope: float
    intercept: float
    shown: tuple[float, float]
    codes: tuple[int, int]
    quaternion: tuple[float, ...]
    rows: tuple[float, ...]
    units: int
    intent: int
    single: bool
    version: int


def is_nifti(head: bytes, path: Path) -> bool:
    """True if the (unzipped) first 352 bytes are a NIfTI or, named .hdr, an Analyze header.

    The .img of a pair counts too while its header lies beside it.
    """
    suffix = plain_name(path).suffix.lower()
    if suffix == ".img":
        return header_of(path) != path
    if len(head) < 348:
        return False
    if head[344:348] in MAGIC_1 or head[4:8] in MAGIC_2:
        return True
    sizes = struct.unpack("<i", head[:4]) + struct.unpack(">i", head[:4])
    return suffix == ".hdr" and 348 in sizes


def plain_name(path: Path) -> Path:
    """The path without a last .gz."""
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


def header_of(path: Path) -> Path:
    """The .hdr beside a .img, if it is a header of this family; else the path itself."""
    if plain_name(path).suffix.lower() != ".img":
        return path
    for suffix in (".hdr", ".HDR", ".hdr.gz"):
        found = plain_name(path).with_suffix(suffix)
        if files.exists(found):
            with files.open_file(found) as stream:
                return found if is_nifti(stream.read(352), found) else path
    return path


def read_header(path: Path) -> NiftiHeader:
    """Parse the header of a .nii, .nii.gz or .hdr file.

    Raises:
        EvidenceError: ``damaged``, ``truncated``, ``too_large`` or ``missing`` (a lonely .hdr).
        OSError: it cannot be opened.
    """
    with files.open_file(path) as stream:
        head = stream.read(540)
    if len(head) < 348:
        raise EvidenceError(path, "truncated", "the NIfTI header ends early; copy it again")
    endian = _endian(path, head)
    if struct.unpack(f"{endian}i", head[:4])[0] == 540 or head[4:8] in MAGIC_2:
        if len(head) < 540:
            raise EvidenceError(path, "truncated", "the NIfTI header ends early; copy it again")
        return _checked(path, _version_2(head, endian))
    return _checked(path, _version_1(head, endian))


def _endian(path: Path, head: bytes) -> str:
    """The byte order, from the header's own size or, where that is wrong, its first dimension."""
    for endian in "<>":
        if struct.unpack(f"{endian}i", head[:4])[0] in (348, 540):
            return endian
    place, kind = (16, "q") if head[4:8] in MAGIC_2 else (40, "h")
    for endian in "<>":
        if 1 <= struct.unpack_from(f"{endian}{kind}", head, place)[0] <= 7:
            return endian
    raise EvidenceError(path, "damaged", "the NIfTI header cannot be read; copy it again")


def _version_1(head: bytes, endian: str) -> _Raw:
    """The 348-byte header; without magic it is Analyze, whose fields have other meanings."""

    def at(place: int, kinds: str) -> tuple[float, ...]:
        return struct.unpack_from(f"{endian}{kinds}", head, place)

    magic = head[344:348]
    nifti = magic in MAGIC_1
    offset, slope, intercept = at(108, "3f")
    return _Raw(
        dims=tuple(int(one) for one in at(40, "8h")), code=int(at(70, "h")[0]), endian=endian,
        pixdim=at(76, "8f"), offset=offset,
        slope=slope if nifti or _from_spm(at(253, "3h"), at(42, "3h")) else 1.0,
        intercept=intercept if nifti else 0.0, shown=(at(128, "f")[0], at(124, "f")[0]),
        codes=(int(at(252, "h")[0]), int(at(254, "h")[0])) if nifti else (0, 0),
        quaternion=at(256, "6f"), rows=at(280, "12f"), units=head[123] & 7 if nifti else 2,
        intent=int(at(68, "h")[0]) if nifti else 0, single=magic == b"n+1\0",
        version=1 if nifti else 0,
    )  # fmt: skip


def _from_spm(origin: tuple[float, ...], size: tuple[float, ...]) -> bool:
    """True for Analyze as SPM writes it: an origin in voxels, from 1, and a scale factor."""
    inside = all(0 <= at <= max(1, most) for at, most in zip(origin, size, strict=True))
    return inside and any(origin)


def _version_2(head: bytes, endian: str) -> _Raw:
    """The 540-byte header."""

    def at(place: int, kinds: str) -> tuple[float, ...]:
        return struct.unpack_from(f"{endian}{kinds}", head, place)

    slope, intercept, greatest, least = at(176, "4d")
    return _Raw(
        dims=tuple(int(one) for one in at(16, "8q")), code=int(at(12, "h")[0]), endian=endian,
        pixdim=at(104, "8d"), offset=at(168, "q")[0], slope=slope, intercept=intercept,
        shown=(least, greatest), codes=(int(at(344, "i")[0]), int(at(348, "i")[0])),
        quaternion=at(352, "6d"), rows=at(400, "12d"), units=int(at(500, "i")[0]) & 7,
        intent=int(at(504, "i")[0]), single=head[4:8] == b"n+2\0", version=2,
    )  # fmt: skip


def _checked(path: Path, raw: _Raw) -> NiftiHeader:
    """Check the raw fields and put them in order."""
    size, vector = _size(path, raw.dims)
    if not math.isfinite(raw.offset) or not 0 <= abs(raw.offset) < 1 << 40:
        raise EvidenceError(path, "damaged", "the NIfTI header cannot be read; copy it again")
    notes: list[str] = []
    affine, source = _affine(raw, notes)
    slope, intercept = raw.slope, raw.intercept
    if not math.isfinite(slope) or slope == 0.0:
        slope, intercept = 1.0, 0.0
    if not math.isfinite(intercept):
        intercept = 0.0
    return NiftiHeader(
        size=size, vector=vector, code=raw.code, endian=raw.endian, slope=float(slope),
        intercept=float(intercept), offset=_offset(raw, notes), affine=affine, affine_from=source,
        space={"sform": raw.codes[1], "qform": raw.codes[0]}.get(source or "", 0),
        zooms=_zooms(raw), window=_window(raw), intent=raw.intent, version=raw.version,
        data_path=path if raw.single else image_of(path), notes=tuple(notes),
    )  # fmt: skip


def _offset(raw: _Raw, notes: list[str]) -> int:
    """Where the values begin; a place inside the header cannot be meant."""
    least = {True: {1: 352, 2: 544}.get(raw.version, 0), False: 0}[raw.single]
    if raw.offset >= least:
        return int(raw.offset)
    if raw.offset != 0:
        notes.append("the header places its data inside itself; they are read from behind it")
    return least


def _zooms(raw: _Raw) -> tuple[float, float, float]:
    """Voxel sizes in mm; 1 where the file says nothing usable."""
    scale = TO_MM.get(raw.units, 1.0)
    x, y, z = (
        abs(float(one)) * scale if math.isfinite(one) and one else 1.0 for one in raw.pixdim[1:4]
    )
    return x, y, z


def _window(raw: _Raw) -> tuple[float, float] | None:
    """The display range (cal_min, cal_max) where it is one; Analyze writers left it to chance."""
    low, high = (float(one) for one in raw.shown)
    fit = math.isfinite(low) and math.isfinite(high) and low < high and high - low < 1e9
    return (low, high) if fit and raw.version > 0 else None


def _size(path: Path, dims: tuple[int, ...]) -> tuple[tuple[int, int, int, int], int]:
    """[x, y, z, t] of a picture, every further axis counted in t, and the values per voxel."""
    count = dims[0]
    named = [int(one) for one in dims[1 : count + 1]] if 1 <= count <= 7 else []
    if not named or any(one < 0 for one in named) or 0 in named[:2]:
        raise EvidenceError(path, "damaged", "the header names no picture size; copy it again")
    lengths = [max(1, one) for one in named] + [1] * (3 - len(named))
    if math.prod(lengths) > LIMIT_VALUES:
        raise too_large(path, f"the header claims {math.prod(lengths)} values")
    size = (lengths[0], lengths[1], lengths[2], math.prod(lengths[3:]))
    return size, math.prod(lengths[4:])


def image_of(path: Path) -> Path:
    """The .img beside a .hdr.

    Raises:
        EvidenceError: ``missing``.
    """
    for suffix in IMAGES:
        found = plain_name(path).with_suffix(suffix)
        if files.exists(found):
            return found
    raise EvidenceError(path, "missing", "the .img file beside this header is not there; add it")


def _affine(raw: _Raw, notes: list[str]) -> tuple[NDArray[np.float64] | None, str | None]:
    """Index to mm: sform if its code is set, else qform, else none."""
    scale = TO_MM.get(raw.units, 1.0)
    sform = _from_rows(raw, scale) if raw.codes[1] > 0 else None
    qform = _from_quaternion(raw, scale) if raw.codes[0] > 0 else None
    if raw.codes[1] > 0 and sform is None:
        notes.append("the file's sform is no orientation and is left out")
    if sform is None:
        return qform, None if qform is None else "qform"
    if not np.allclose(np.linalg.norm(sform[:3, :3], axis=0), _zooms(raw), rtol=SAME_SIZE, atol=0):
        notes.append("voxel sizes of sform and pixdim differ; those of the sform are taken")
    if qform is not None:
        apart = _apart(sform, qform, raw.dims)
        if apart > DIFFER_MM:
            notes.append(f"sform and qform differ by up to {apart:.1f} mm; the sform is taken")
    return sform, "sform"


def _apart(a: NDArray[np.float64], b: NDArray[np.float64], dims: tuple[int, ...]) -> float:
    """The greatest distance in mm between the places that two affines give the corners."""
    ends = [(0, max(1, one) - 1) for one in (*dims[1 : dims[0] + 1], 1, 1)[:3]]
    corners = np.array([(x, y, z, 1) for x in ends[0] for y in ends[1] for z in ends[2]], float)
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.linalg.norm((corners @ (a - b).T)[:, :3], axis=1).max())


def _from_rows(raw: _Raw, scale: float) -> NDArray[np.float64] | None:
    """The sform affine; None if it is no place in space."""
    affine = np.vstack([np.array(raw.rows, float).reshape(3, 4), [0, 0, 0, 1]])
    if not np.isfinite(affine).all() or np.abs(affine).max() > FARTHEST_MM:
        return None
    lengths = np.linalg.norm(affine[:3, :3], axis=0)
    volume = abs(float(np.linalg.det(affine[:3, :3])))
    if lengths.min() <= 0 or volume < 1e-6 * float(lengths.prod()):
        return None
    affine[:3] *= scale
    return affine


def _from_quaternion(raw: _Raw, scale: float) -> NDArray[np.float64] | None:
    """The qform affine (nifti1.h, method 2); None if its numbers are none."""
    if not np.isfinite(raw.quaternion).all():
        return None
    b, c, d = raw.quaternion[:3]
    square = b * b + c * c + d * d
    if square > 1.0:  # rounding, or a quaternion that was never normed
        b, c, d = (one / math.sqrt(square) for one in (b, c, d))
    a = math.sqrt(max(0.0, 1.0 - (b * b + c * c + d * d)))
    turn = np.array(
        [
            [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)],
            [2 * (b * c + a * d), a * a + c * c - b * b - d * d, 2 * (c * d - a * b)],
            [2 * (b * d - a * c), 2 * (c * d + a * b), a * a + d * d - c * c - b * b],
        ]
    )
    hand = -1.0 if raw.pixdim[0] < 0 else 1.0
    zooms = np.array(_zooms(raw)) * (1.0, 1.0, hand)
    affine = np.eye(4)
    affine[:3, :3] = turn * zooms
    affine[:3, 3] = np.array(raw.quaternion[3:6]) * scale
    return affine
