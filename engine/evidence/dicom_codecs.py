"""Compressed DICOM frames, decoded by imagecodecs behind pydicom's own plugin seam.

Owns the table of transfer syntaxes and codecs. Refuses colour conversion and sign repair: pydicom
does both from what the codestream says.
"""

from __future__ import annotations

from typing import Any

import imagecodecs
import numpy as np
from pydicom import uid
from pydicom.pixels import get_decoder
from pydicom.pixels.decoders.base import DecodeRunner

LABEL = "imagecodecs"
END_OF_IMAGE, TAIL = b"\xff\xd9", 64

JPEG = (uid.JPEGBaseline8Bit, uid.JPEGExtended12Bit, uid.JPEGLossless, uid.JPEGLosslessSV1)
JPEG_LS = (uid.JPEGLSLossless, uid.JPEGLSNearLossless)
JPEG_2000 = (
    uid.JPEG2000Lossless,
    uid.JPEG2000,
    uid.HTJ2KLossless,
    uid.HTJ2KLosslessRPCL,
    uid.HTJ2K,
)
DECODER_DEPENDENCIES = dict.fromkeys((*JPEG, *JPEG_LS, *JPEG_2000), ("imagecodecs",))


def is_available(syntax: str) -> bool:
    """True for the transfer syntaxes of the table; asked by pydicom."""
    return syntax in DECODER_DEPENDENCIES


def decode_frame(src: bytes, runner: DecodeRunner) -> bytearray:
    """Decode one frame; called by pydicom.

    The runner is told what the codec hands out: colour by pixel, RGB for the reversible and
    irreversible JPEG 2000 colour transforms, and the width of a sample.
    """
    syntax = runner.transfer_syntax
    if END_OF_IMAGE not in src[-TAIL:]:
        raise EOFError("the codestream has no end marker")
    if syntax in JPEG:
        frame = _jpeg(src, color=runner.samples_per_pixel > 1)
    elif syntax in JPEG_LS:
        frame = imagecodecs.jpegls_decode(src)
    else:
        frame = imagecodecs.jpeg2k_decode(src)
        if runner.photometric_interpretation in ("YBR_ICT", "YBR_RCT"):
            runner.set_option("photometric_interpretation", "RGB")
    _check_shape(frame, runner)
    if runner.samples_per_pixel > 1:
        runner.set_option("planar_configuration", 0)
    runner.set_option("bits_allocated", 8 * frame.dtype.itemsize)
    little = frame.astype(frame.dtype.newbyteorder("<"), copy=False)
    return bytearray(little.tobytes())


def _jpeg(src: bytes, *, color: bool) -> np.ndarray[Any, np.dtype[Any]]:
    """Decode JPEG without any colour transform: the header, not a guess, says what it is."""
    if not color:
        return imagecodecs.jpeg8_decode(src)
    return imagecodecs.jpeg8_decode(src, colorspace="YCBCR", outcolorspace="YCBCR")


def _check_shape(frame: np.ndarray[Any, np.dtype[Any]], runner: DecodeRunner) -> None:
    """The codestream must hold the picture that the header announces."""
    wanted: tuple[int, ...] = (runner.rows, runner.columns)
    if runner.samples_per_pixel > 1:
        wanted = (*wanted, runner.samples_per_pixel)
    if frame.shape != wanted:
        raise ValueError(f"the codestream holds {frame.shape}, the header says {wanted}")


def register() -> None:
    """Add this decoder to pydicom's, once."""
    for syntax in DECODER_DEPENDENCIES:
        decoder = get_decoder(syntax)
        if LABEL not in decoder.available_plugins:
            decoder.add_plugin(LABEL, (__name__, "decode_frame"))


register()
