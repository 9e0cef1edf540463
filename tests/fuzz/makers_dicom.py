"""Synthetic DICOM objects of the kinds that the handed files lack, with a patient planted."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import imagecodecs
import numpy as np
from numpy.typing import NDArray
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.encaps import encapsulate
from pydicom.pixels import get_encoder
from pydicom.sequence import Sequence
from pydicom.uid import (
    JPEG2000Lossless,
    JPEGBaseline8Bit,
    JPEGLSLossless,
    RLELossless,
)

from tests.fuzz.makers import PLANTED, ramp

EXPLICIT, BIG, DEFLATED = "1.2.840.10008.1.2.1", "1.2.840.10008.1.2.2", "1.2.840.10008.1.2.1.99"
OBJECTS = {
    "CT": "1.2.840.10008.5.1.4.1.1.2", "enhanced CT": "1.2.840.10008.5.1.4.1.1.2.1",
    "US": "1.2.840.10008.5.1.4.1.1.3.1", "SEG": "1.2.840.10008.5.1.4.1.1.66.4",
    "SR": "1.2.840.10008.5.1.4.1.1.88.33", "PR": "1.2.840.10008.5.1.4.1.1.11.1",
    "PDF": "1.2.840.10008.5.1.4.1.1.104.1",
}  # fmt: skip


def header(kind: str, *, syntax: str = EXPLICIT, number: int = 1) -> Dataset:
    """What every object has."""
    dataset = Dataset()
    dataset.file_meta = FileMetaDataset()
    dataset.file_meta.TransferSyntaxUID = syntax
    dataset.SOPClassUID = dataset.file_meta.MediaStorageSOPClassUID = OBJECTS[kind]
    dataset.SOPInstanceUID = dataset.file_meta.MediaStorageSOPInstanceUID = f"1.2.826.7.{number}"
    dataset.StudyInstanceUID, dataset.SeriesInstanceUID = "1.2.826.5", "1.2.826.6"
    dataset.FrameOfReferenceUID = "1.2.826.8"
    dataset.PatientName = dataset.InstitutionName = PLANTED
    dataset.PatientID, dataset.PatientBirthDate, dataset.StudyDate = PLANTED, "19500101", "20260101"
    dataset.StudyDescription = dataset.ImageComments = PLANTED
    dataset.Modality = kind.rpartition(" ")[2]
    return dataset


def saved(dataset: Dataset) -> bytes:
    """The object as the bytes of a file."""
    stream = io.BytesIO()
    dataset.save_as(stream, enforce_file_format=True)
    return stream.getvalue()


def pictured(dataset: Dataset, values: NDArray[Any], **more: Any) -> Dataset:
    """Add pixels and their description."""
    color = values.shape[-1] == 3
    dataset.SamplesPerPixel = 3 if color else 1
    dataset.PhotometricInterpretation = "RGB" if color else "MONOCHROME2"
    if color:
        dataset.PlanarConfiguration = 0
    dataset.Rows, dataset.Columns = values.shape[-3:-1] if color else values.shape[-2:]
    dataset.BitsAllocated = dataset.BitsStored = 8 * values.dtype.itemsize
    dataset.HighBit = dataset.BitsStored - 1
    dataset.PixelRepresentation = int(values.dtype.kind == "i")
    if values.ndim == (4 if color else 3):
        dataset.NumberOfFrames = len(values)
    dataset.PixelData = values.tobytes()
    for keyword, value in more.items():
        setattr(dataset, keyword, value)
    return dataset


def placed(number: int) -> dict[str, Any]:
    """Where a slice lies."""
    return {
        "ImagePositionPatient": [0, 0, 2.5 * number], "PixelSpacing": [0.7, 0.6],
        "ImageOrientationPatient": [1, 0, 0, 0, 1, 0], "InstanceNumber": number + 1,
        "WindowCenter": [40, -600], "WindowWidth": [400, 1500],
        "RescaleSlope": 1, "RescaleIntercept": -1024,
    }  # fmt: skip


def ct(number: int = 0, *, syntax: str = EXPLICIT) -> bytes:
    values = ramp(9, 8, kind="i2") + number
    if syntax == BIG:
        values = values.byteswap()
    return saved(pictured(header("CT", syntax=syntax, number=number), values, **placed(number)))


def series() -> dict[str, bytes]:
    return {f"I{number}": ct(number) for number in range(4)}


def big_endian() -> dict[str, bytes]:
    return {"a.dcm": ct(syntax=BIG)}


def deflated() -> dict[str, bytes]:
    return {"a.dcm": ct(syntax=DEFLATED)}


def no_preamble() -> dict[str, bytes]:
    dataset = pictured(header("CT"), ramp(9, 8, kind="i2"), **placed(0))
    stream = io.BytesIO()
    del dataset.file_meta
    dataset.save_as(stream, implicit_vr=True, little_endian=True)
    return {"IM0001": stream.getvalue()}


def group(position: int) -> Dataset:
    """Functional groups of one frame."""
    found, place, content = Dataset(), Dataset(), Dataset()
    place.ImagePositionPatient = [0, 0, 3.0 * position]
    content.DimensionIndexValues, content.InStackPositionNumber = [1, position + 1], position + 1
    found.PlanePositionSequence = Sequence([place])
    found.FrameContentSequence = Sequence([content])
    return found


def shared_group() -> Dataset:
    """Functional groups of all frames."""
    found, sides, measures, values, window = (Dataset() for _ in range(5))
    sides.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
    measures.PixelSpacing, measures.SliceThickness = [0.5, 0.5], 3
    values.RescaleSlope, values.RescaleIntercept, values.RescaleType = 1, -1024, "HU"
    window.WindowCenter, window.WindowWidth = 40, 400
    found.PlaneOrientationSequence = Sequence([sides])
    found.PixelMeasuresSequence = Sequence([measures])
    found.PixelValueTransformationSequence = Sequence([values])
    found.FrameVOILUTSequence = Sequence([window])
    return found


def enhanced() -> dict[str, bytes]:
    """Frames out of order."""
    dataset = pictured(header("enhanced CT"), ramp(4, 6, 7, kind="u2"))
    dataset.SharedFunctionalGroupsSequence = Sequence([shared_group()])
    dataset.PerFrameFunctionalGroupsSequence = Sequence([group(n) for n in (2, 0, 3, 1)])
    return {"a.dcm": saved(dataset)}


def segmentation() -> dict[str, bytes]:
    dataset = pictured(header("SEG"), ramp(2, 8, 8))
    dataset.PixelData = np.packbits(ramp(2, 8, 8) % 2, bitorder="little").tobytes()
    dataset.BitsAllocated, dataset.BitsStored, dataset.HighBit = 1, 1, 0
    dataset.SegmentationType = "BINARY"
    segment = Dataset()
    segment.SegmentNumber, segment.SegmentLabel = 1, "Liver"
    dataset.SegmentSequence = Sequence([segment])
    dataset.SharedFunctionalGroupsSequence = Sequence([shared_group()])
    dataset.PerFrameFunctionalGroupsSequence = Sequence([group(n) for n in range(2)])
    return {"a.dcm": saved(dataset)}


def compressed(syntax: str, frames: list[bytes], values: NDArray[Any], **more: Any) -> bytes:
    """Encapsulated frames."""
    dataset = pictured(header("US", syntax=syntax), values, FrameTime=40, **more)
    dataset.PixelData = encapsulate(frames)
    dataset["PixelData"].is_undefined_length = True
    return saved(dataset)


def cine_jpeg() -> dict[str, bytes]:
    values = ramp(3, 16, 16, 3)
    frames = [imagecodecs.jpeg8_encode(one, level=90) for one in values]
    more = {"PhotometricInterpretation": "YBR_FULL_422"}
    return {"a.dcm": compressed(JPEGBaseline8Bit, frames, values, **more)}


def cine_rle() -> dict[str, bytes]:
    values = ramp(3, 12, 10)
    encoder = get_encoder(RLELossless)
    options = {
        "rows": 12, "columns": 10, "samples_per_pixel": 1, "bits_allocated": 8, "bits_stored": 8,
        "pixel_representation": 0, "photometric_interpretation": "MONOCHROME2",
        "number_of_frames": 1,
    }  # fmt: skip
    frames = [encoder.encode(one.tobytes(), encoding_plugin="pydicom", **options) for one in values]
    return {"a.dcm": compressed(RLELossless, frames, values)}


def cine_jpeg_2000() -> dict[str, bytes]:
    values = ramp(2, 32, 32, kind="u2")
    frames = [imagecodecs.jpeg2k_encode(one, codecformat="j2k") for one in values]
    return {"a.dcm": compressed(JPEG2000Lossless, frames, values)}


def cine_jpeg_ls() -> dict[str, bytes]:
    values = ramp(2, 20, 20)
    frames = [imagecodecs.jpegls_encode(one) for one in values]
    return {"a.dcm": compressed(JPEGLSLossless, frames, values)}


def overlaid() -> dict[str, bytes]:
    """Overlay planes, a VOI table and a Modality LUT in one picture."""
    dataset = pictured(header("CT"), ramp(8, 8, kind="u2"))
    block = dataset.private_block(0x0011, "TRIPTYCH TEST", create=True)
    block.add_new(1, "LO", PLANTED)
    for keyword, value in (
        (0x0010, 8), (0x0011, 8), (0x0040, "G"), (0x0050, [1, 1]), (0x0100, 1), (0x0102, 0),
    ):  # fmt: skip
        dataset.add_new(0x60000000 + keyword, "CS" if keyword == 0x40 else
                        "SS" if keyword == 0x50 else "US", value)  # fmt: skip
    dataset.add_new(0x60003000, "OW", bytes(range(8)))
    for name, last in (("ModalityLUTSequence", 300), ("VOILUTSequence", 4095)):
        table = Dataset()
        table.LUTDescriptor = [256, 0, 16]
        table.add_new(0x00283006, "OW", np.linspace(0, last, 256).astype("u2").tobytes())
        table.ModalityLUTType = "US"
        setattr(dataset, name, Sequence([table]))
    return {"a.dcm": saved(dataset)}


def palette() -> dict[str, bytes]:
    dataset = pictured(header("US"), ramp(8, 8), PhotometricInterpretation="PALETTE COLOR")
    for color in ("Red", "Green", "Blue"):
        setattr(dataset, f"{color}PaletteColorLookupTableDescriptor", [256, 0, 16])
        data = (np.arange(256) * 257).astype("u2").tobytes()
        setattr(dataset, f"{color}PaletteColorLookupTableData", data)
    return {"a.dcm": saved(dataset)}


def code(value: str, meaning: str) -> Sequence:
    """A coded concept."""
    found = Dataset()
    found.CodeValue, found.CodingSchemeDesignator, found.CodeMeaning = value, "DCM", meaning
    return Sequence([found])


def node(kind: str, meaning: str, **values: Any) -> Dataset:
    """A content item."""
    found = Dataset()
    found.RelationshipType, found.ValueType = "CONTAINS", kind
    found.ConceptNameCodeSequence = code("121070", meaning)
    for keyword, value in values.items():
        setattr(found, keyword, value)
    return found


def report() -> dict[str, bytes]:
    dataset = header("SR")
    dataset.ValueType, dataset.ConceptNameCodeSequence = "CONTAINER", code("11528-7", "Report")
    parts = [node("TEXT", "Finding", TextValue="Clear."), node("PNAME", "By", PersonName=PLANTED)]
    parts.append(node("CODE", "Impression", ConceptCodeSequence=code("1", "Normal")))
    dataset.ContentSequence = Sequence([node("CONTAINER", "Findings", ContentSequence=parts)])
    return {"a.dcm": saved(dataset)}


def document() -> dict[str, bytes]:
    from tests.fuzz.makers import pdf

    dataset = header("PDF")
    dataset.MIMETypeOfEncapsulatedDocument = "application/pdf"
    raw = pdf()["a.pdf"]
    dataset.EncapsulatedDocument = raw + b"\0" * (len(raw) % 2)
    return {"a.dcm": saved(dataset)}


def disc() -> dict[str, bytes]:
    """A DICOMDIR with the two pictures that it names."""
    directory = Dataset()
    directory.file_meta = FileMetaDataset()
    directory.file_meta.TransferSyntaxUID = EXPLICIT
    directory.file_meta.MediaStorageSOPClassUID = "1.2.840.10008.1.3.10"
    directory.file_meta.MediaStorageSOPInstanceUID = "1.2.826.1"
    directory.FileSetID = PLANTED.replace("^", "")
    records = []
    for kind in ("PATIENT", "STUDY", "SERIES", "IMAGE", "IMAGE"):
        record = Dataset()
        record.OffsetOfTheNextDirectoryRecord = 0
        record.OffsetOfReferencedLowerLevelDirectoryEntity = 0
        record.RecordInUseFlag, record.DirectoryRecordType = 0xFFFF, kind
        record.PatientName = PLANTED
        if kind == "IMAGE":
            record.ReferencedFileID = ["I0" if len(records) == 3 else "I1"]
        records.append(record)
    directory.DirectoryRecordSequence = Sequence(records)
    return {"DICOMDIR": saved(directory), "I0": ct(0), "I1": ct(1)}


MADE: dict[str, Callable[[], dict[str, bytes]]] = {
    f"dicom_{make.__name__}": make
    for make in (
        series, big_endian, deflated, no_preamble, enhanced, segmentation, cine_jpeg, cine_rle,
        cine_jpeg_2000, cine_jpeg_ls, overlaid, palette, report, document, disc,
    )
}  # fmt: skip
