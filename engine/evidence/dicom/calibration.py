"""What distances in a picture mean: calibrated, at the detector, on a film, in one region only.

Owns the sentences on Pixel Spacing against Imager Pixel Spacing (PS3.3 10.7.1.3, C.8.11.4) and
their kin. Refuses to correct a distance: a reader is told, and decides.
"""

from __future__ import annotations

from pydicom.dataset import Dataset

from engine.evidence.dicom import facts

EQUAL = 1e-4
TYPES = {"GEOMETRY": "by known geometry", "FIDUCIAL": "by an object of known size"}


def spacing_notes(dataset: Dataset) -> list[str]:
    """Sentences that stand beside a distance, in the order of weight."""
    if facts.spacing_differs(dataset):
        return ["frames have different pixel spacings; no distances are given"]
    found = facts.in_plane_spacing(dataset)
    if found is None:
        return _aspect_note(dataset)
    spacing, source = found
    if source == "PixelSpacing":
        return _against_detector(dataset, spacing)
    if source == "ImagerPixelSpacing":
        return [f"distances are those at the detector{_magnified(dataset)}"]
    if source == "NominalScannedPixelSpacing":
        return ["distances are those on the scanned film, not in the body"]
    regions = dataset.get("SequenceOfUltrasoundRegions") or []
    if source.startswith("SequenceOfUltrasoundRegions") and len(regions) > 1:
        return [f"distances hold in one of {len(regions)} ultrasound regions only"]
    return []


def _against_detector(dataset: Dataset, spacing: tuple[float, float]) -> list[str]:
    """Pixel Spacing beside Imager Pixel Spacing: calibrated where they differ."""
    detector = facts.numbers(dataset.get("ImagerPixelSpacing"))
    if len(detector) != 2 or min(detector) <= 0:
        return []
    if _repeats(spacing, detector):
        return [f"Pixel Spacing repeats Imager Pixel Spacing: not calibrated{_magnified(dataset)}"]
    how = TYPES.get(facts.word(dataset, "PixelSpacingCalibrationType"), "")
    return [f"distances are calibrated{' ' + how if how else ''}: Pixel Spacing "
            f"{spacing[0]:g}, at the detector {detector[0]:g} mm"]  # fmt: skip


def _repeats(spacing: tuple[float, float], detector: list[float]) -> bool:
    """True if Pixel Spacing says what Imager Pixel Spacing says."""
    return all(
        abs(one - other) <= EQUAL * other for one, other in zip(spacing, detector, strict=True)
    )


def is_at_detector(dataset: Dataset) -> bool:
    """True if distances are those at the detector, larger than in the body, by whatever name.

    Pixel Spacing that only repeats Imager Pixel Spacing was not calibrated (PS3.3 10.7.1.3).
    """
    found = facts.in_plane_spacing(dataset)
    if found is None or found[1] not in ("PixelSpacing", "ImagerPixelSpacing"):
        return False
    detector = facts.numbers(dataset.get("ImagerPixelSpacing"))
    return len(detector) == 2 and min(detector) > 0 and _repeats(found[0], detector)


def _magnified(dataset: Dataset) -> str:
    """How much larger than the body the picture is, if the file knows."""
    factor = facts.numbers(dataset.get("EstimatedRadiographicMagnificationFactor"))
    if not factor:
        source = facts.numbers(dataset.get("DistanceSourceToDetector"))
        body = facts.numbers(dataset.get("DistanceSourceToPatient"))
        factor = [source[0] / body[0]] if source and body and body[0] > 0 else []
    if not factor or factor[0] <= 0:
        return ""
    return f"; the body is shown about {factor[0]:.3g} times too large"


def _aspect_note(dataset: Dataset) -> list[str]:
    """Pixels that are not square though nobody knows their size."""
    aspect = facts.pixel_aspect(dataset, None)
    return [] if aspect == 1.0 else [f"pixels are {aspect:.3g} times as high as wide"]
