"""NIfTI-1 and NIfTI-2 (.nii, .nii.gz, .hdr with .img), and bare Analyze headers.

Owns the header layout, the choice of sform before qform, and the rule that a slope of zero or
NaN means no scaling. Refuses complex and 128-bit numbers with a sentence. The header's free text
(descrip, db_name, intent_name) may name a person and is never read.

Source: nifti1.h and nifti2.h of the NIfTI data format working group.
"""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from engine.errors import EvidenceError
from engine.evidence.dicom_pixels import rescale
from engine.evidence.failures import of_system, truncated
from engine.evidence.orient import letters
from engine.evidence.study import Evidence, Pixels
from engine.evidence.window import derive_window

TYPES = {
    2: "u1", 4: "i2", 8: "i4", 16: "f4", 64: "f8", 256: "i1", 512: "u2", 768: "u4", 1024: "i8",
    1280: "u8",
}  # fmt: skip
RGB24, RGBA32 = 128, 2304
TO_MM = {1: 1000.0, 3: 0.001}
LIMIT_VALUES = 6_000_000_000


@dataclass(frozen=True, eq=False)
class NiftiHeader:
    """What a NIfTI header says.

    Attributes:
        size: [x, y, z, t] lengths; vector components count as t.
        code: datatype code.
        endian: ``<`` or ``>``.
        slope: multiply by this, then add ``intercept``; (1, 0) for none.
        offset: where the values begin in ``data_path``.
        affine: 4 x 4 from indices to mm (x to R, y to A, z to S), None if the file has none.
        affine_from: ``sform``, ``qform`` or None.
        zooms: voxel sizes in mm from pixdim.
        version: 1 or 2; 0 for Analyze.
    """

    size: tuple[int, int, int, int]
    code: int
    endian: str
    slope: float
    intercept: float
    offset: int
    affine: NDArray[np.float64] | None
    affine_from: str | None
    zooms: tuple[float, float, float]
    version: int
    data_path: Path


def is_nifti(head: bytes, path: Path) -> bool:
    """True if the (unzipped) first 352 bytes are a NIfTI or, named .hdr, an Analyze header."""
    if len(head) < 348:
        return False
    if head[344:348] in (b"n+1\0", b"ni1\0") or head[4:8] in (b"n+2\0", b"ni2\0"):
        return True
    return path.suffix.lower() == ".hdr" and 348 in struct.unpack("<i", head[:4]) + struct.unpack(
        ">i", head[:4]
    )


@contextmanager
def open_stream(path: Path) -> Iterator[BinaryIO | gzip.GzipFile]:
    """Open a file, unzipped if its content (not its name) is gzip."""
    with path.open("rb") as stream:
        zipped = stream.read(2) == b"\x1f\x8b"
        stream.seek(0)
        if not zipped:
            yield stream
            return
        with gzip.GzipFile(fileobj=stream) as plain:
            yield plain


def read_bytes(path: Path, *, offset: int, count: int) -> bytes:
    """``count`` bytes from ``offset`` of a plain or zipped file.

    Raises:
        EvidenceError: ``truncated``, ``damaged``, ``missing`` or ``denied``.
    """
    try:
        with open_stream(path) as stream:
            stream.seek(offset)
            raw = stream.read(count)
    except EOFError as failure:
        raise truncated(path) from failure
    except (gzip.BadGzipFile, zlib.error) as failure:
        raise EvidenceError(path, "damaged", "the file cannot be unzipped; copy it again") from (
            failure
        )
    except OSError as failure:
        raise of_system(path, failure) from failure
    if len(raw) < count:
        raise truncated(path)
    return raw


def read_header(path: Path) -> NiftiHeader:
    """Parse the header of a .nii, .nii.gz or .hdr file."""
    head = read_bytes(path, offset=0, count=348)
    for endian in "<>":
        size = struct.unpack(f"{endian}i", head[:4])[0]
        if size == 348:
            return _version_1(path, head, endian)
        if size == 540:
            return _version_2(path, read_bytes(path, offset=0, count=540), endian)
    raise EvidenceError(path, "damaged", "the NIfTI header cannot be read; copy it again")


def _version_1(path: Path, head: bytes, endian: str) -> NiftiHeader:
    """The 348-byte header; without magic it is Analyze."""
    magic = head[344:348]
    nifti = magic in (b"n+1\0", b"ni1\0")
    dims = struct.unpack(f"{endian}8h", head[40:56])
    code = struct.unpack(f"{endian}h", head[70:72])[0]
    pixdim = struct.unpack(f"{endian}8f", head[76:108])
    offset, slope, intercept = struct.unpack(f"{endian}3f", head[108:120])
    codes = struct.unpack(f"{endian}2h", head[252:256]) if nifti else (0, 0)
    quaternion = struct.unpack(f"{endian}6f", head[256:280])
    rows = struct.unpack(f"{endian}12f", head[280:328])
    if not nifti:
        slope, intercept, offset = 1.0, 0.0, 0.0
    units = head[123] & 7 if nifti else 2
    single = magic == b"n+1\0"
    return _header(
        path, dims, code, endian, pixdim, offset, slope, intercept, codes, quaternion, rows,
        units=units, single=single, version=1 if nifti else 0,
    )  # fmt: skip


def _version_2(path: Path, head: bytes, endian: str) -> NiftiHeader:
    """The 540-byte header."""
    code = struct.unpack(f"{endian}h", head[12:14])[0]
    dims = struct.unpack(f"{endian}8q", head[16:80])
    pixdim = struct.unpack(f"{endian}8d", head[104:168])
    offset = struct.unpack(f"{endian}q", head[168:176])[0]
    slope, intercept = struct.unpack(f"{endian}2d", head[176:192])
    codes = struct.unpack(f"{endian}2i", head[344:352])
    quaternion = struct.unpack(f"{endian}6d", head[352:400])
    rows = struct.unpack(f"{endian}12d", head[400:496])
    units = struct.unpack(f"{endian}i", head[500:504])[0] & 7
    return _header(
        path, dims, code, endian, pixdim, offset, slope, intercept, codes, quaternion, rows,
        units=units, single=head[4:8] == b"n+2\0", version=2,
    )  # fmt: skip


def _header(
    path: Path, dims: tuple[int, ...], code: int, endian: str, pixdim: tuple[float, ...],
    offset: float, slope: float, intercept: float, codes: tuple[int, ...],
    quaternion: tuple[float, ...], rows: tuple[float, ...],
    *, units: int, single: bool, version: int,
) -> NiftiHeader:  # fmt: skip
    """Check the raw fields and put them in order."""
    size = _size(path, dims)
    if (
        not math.isfinite(offset)
        or not 0 <= offset < 1 << 40
        or not all(map(math.isfinite, pixdim))
    ):
        raise EvidenceError(path, "damaged", "the NIfTI header cannot be read; copy it again")
    scale = TO_MM.get(units, 1.0)
    affine, source = _affine(codes, quaternion, rows, pixdim, scale)
    if not math.isfinite(slope) or slope == 0.0:
        slope, intercept = 1.0, 0.0
    if not math.isfinite(intercept):
        intercept = 0.0
    zooms = [abs(float(z)) * scale if math.isfinite(z) and z else 1.0 for z in pixdim[1:4]]
    return NiftiHeader(
        size, code, endian, float(slope), float(intercept), int(offset), affine, source,
        (zooms[0], zooms[1], zooms[2]), version, path if single else _image_of(path),
    )  # fmt: skip


def _size(path: Path, dims: tuple[int, ...]) -> tuple[int, int, int, int]:
    """[x, y, z, t] of a picture, with every further axis counted as t."""
    count = dims[0]
    lengths = [max(1, int(one)) for one in dims[1 : count + 1]] if 1 <= count <= 7 else []
    if not lengths or any(one < 0 for one in dims[1 : count + 1]):
        raise EvidenceError(path, "damaged", "the header names no picture size; copy it again")
    lengths += [1] * (3 - len(lengths))
    further = math.prod(lengths[3:])
    if math.prod(lengths) > LIMIT_VALUES:
        reason = f"the header claims {math.prod(lengths)} values, more than can be opened"
        raise EvidenceError(path, "too_large", reason)
    return lengths[0], lengths[1], lengths[2], further


def _image_of(path: Path) -> Path:
    """The .img beside a .hdr."""
    for suffix in (".img", ".img.gz", ".IMG"):
        found = path.with_suffix(suffix)
        if found.is_file():
            return found
    raise EvidenceError(path, "missing", "the .img file beside this header is not there; add it")


def _affine(
    codes: tuple[int, ...], quaternion: tuple[float, ...], rows: tuple[float, ...],
    pixdim: tuple[float, ...], scale: float,
) -> tuple[NDArray[np.float64] | None, str | None]:  # fmt: skip
    """Index to mm: sform if its code is set, else qform, else none."""
    if codes[1] > 0:
        affine = np.vstack([np.array(rows, float).reshape(3, 4), [0, 0, 0, 1]])
        if np.isfinite(affine).all() and abs(np.linalg.det(affine[:3, :3])) > 1e-12:
            affine[:3] *= scale
            return affine, "sform"
    if codes[0] > 0 and np.isfinite(quaternion).all():
        return _from_quaternion(quaternion, pixdim, scale), "qform"
    return None, None


def _from_quaternion(
    quaternion: tuple[float, ...], pixdim: tuple[float, ...], scale: float
) -> NDArray[np.float64]:
    """The qform affine (nifti1.h, method 2)."""
    b, c, d = quaternion[:3]
    a = math.sqrt(max(0.0, 1.0 - (b * b + c * c + d * d)))
    turn = np.array(
        [
            [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)],
            [2 * (b * c + a * d), a * a + c * c - b * b - d * d, 2 * (c * d - a * b)],
            [2 * (b * d - a * c), 2 * (c * d + a * b), a * a + d * d - c * c - b * b],
        ]
    )
    hand = -1.0 if pixdim[0] < 0 else 1.0
    affine = np.eye(4)
    affine[:3, :3] = turn * (np.array([pixdim[1], pixdim[2], hand * pixdim[3]]) * scale)
    affine[:3, 3] = np.array(quaternion[3:6]) * scale
    return affine


def geometry(header: NiftiHeader) -> tuple[tuple[float, float, float], str, str | None]:
    """(slice, row, column) distances, their source, and the orientation letters."""
    if header.affine is None:
        x, y, z = header.zooms
        return (z, y, x), "pixdim", None
    # DICOM's axes run to L and P where NIfTI's run to R and A
    axes = np.diag([-1.0, -1.0, 1.0]) @ header.affine[:3, :3]
    lengths = np.linalg.norm(axes, axis=0)
    letters_xyz = letters(*(axes[:, i] / max(lengths[i], 1e-12) for i in range(3)))
    spacing = (float(lengths[2]), float(lengths[1]), float(lengths[0]))
    return spacing, header.affine_from or "pixdim", letters_xyz


def describe_nifti(path: Path) -> Evidence:
    """Describe a NIfTI file from its header."""
    header = read_header(path)
    x, y, z, times = header.size
    color = header.code in (RGB24, RGBA32)
    _dtype(path, header)
    spacing, source, orientation = geometry(header)
    notes = []
    if times > 1:
        notes.append(f"{times} time points; the first is shown")
    if orientation is None:
        notes.append("the file names no orientation; sides are unknown")
    if header.code == RGBA32:
        notes.append("has transparency, which is left out")
    return Evidence(
        path=path,
        members=(path,),
        kind="volume" if z > 1 else "image",
        form="3d" if z > 1 else "2d",
        shape=(z, y, x, 3) if color else (z, y, x),
        color=color,
        dtype="uint8" if color else np.dtype(TYPES[header.code]).name,
        window_source=None if color else "derived",
        spacing_mm=spacing,
        spacing_source=source,
        orientation=orientation,
        notes=tuple(notes),
        source={"object": "Analyze" if header.version == 0 else f"NIfTI-{header.version}",
                "format": "NIfTI"},
        photometric="RGB" if color else "MONOCHROME2",
        times=times,
    )  # fmt: skip


def _dtype(path: Path, header: NiftiHeader) -> np.dtype[np.generic]:
    """The numpy type of the values on disk."""
    if header.code in (RGB24, RGBA32):
        return np.dtype("u1")
    if header.code not in TYPES:
        reason = f"numbers of NIfTI type {header.code} are not read; convert them to float32"
        raise EvidenceError(path, "unsupported", reason)
    return np.dtype(f"{header.endian}{TYPES[header.code]}")


def load_nifti(path: Path) -> Pixels:
    """Decode a NIfTI file.

    Returns:
        [Z, Y, X] (or RGB), the first time point; ``times`` holds all of them.
    """
    header = read_header(path)
    x, y, z, times = header.size
    kind = _dtype(path, header)
    samples = {RGB24: 3, RGBA32: 4}.get(header.code, 1)
    count = x * y * z * times * samples
    raw = read_bytes(header.data_path, offset=header.offset, count=count * kind.itemsize)
    flat = np.frombuffer(raw, kind).astype(kind.newbyteorder("="), copy=False)
    spacing, _, orientation = geometry(header)
    if samples > 1:
        series = flat.reshape(times, z, y, x, samples)[..., :3]
    else:
        series = rescale(flat, header.slope, header.intercept).reshape(times, z, y, x)
    return Pixels(
        array=series[0],
        spacing_mm=spacing,
        orientation=orientation,
        window=derive_window(series[0]),
        aspect=spacing[1] / spacing[2],
        times=series if times > 1 else None,
        display_order=False,
    )
