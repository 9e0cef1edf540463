"""Where slices lie in the patient: millimetres, x to the left, y to the back, z up.

Owns the step from (slice, row, column) indices to patient space and back, for straight, uneven and
tilted stacks alike. Refuses to resample and to know files.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

STRAIGHT_MM = 0.05


@dataclass(frozen=True, eq=False)
class Geometry:
    """Places of slices in DICOM's patient space (PS3.3 C.7.6.2.1.1; LPS, millimetres).

    Attributes:
        origin_Z3: centre of the first pixel of each slice, shape [Z, 3].
        column_step: from one column to the next (along a row), shape [3]; its length is the
            column spacing.
        row_step: from one row to the next (down a column), shape [3].
        frame: token of the frame of reference; equal tokens mean one space. A hash, never the
            file's own identifier; None where the file names none.
    """

    origin_Z3: NDArray[np.float64]
    column_step: NDArray[np.float64]
    row_step: NDArray[np.float64]
    frame: str | None = None

    @cached_property
    def normal(self) -> NDArray[np.float64]:
        """Unit vector: columns direction x rows direction, shape [3]."""
        (a, b, c), (d, e, f) = self.column_step, self.row_step
        cross = np.array([b * f - c * e, c * d - a * f, a * e - b * d])
        return cross / max(float(np.linalg.norm(cross)), 1e-12)

    @cached_property
    def slice_step(self) -> NDArray[np.float64]:
        """Mean step from one slice to the next, shape [3]; the normal where there is one slice."""
        count = len(self.origin_Z3)
        if count < 2:
            return self.normal
        return (self.origin_Z3[-1] - self.origin_Z3[0]) / (count - 1)

    @property
    def straight(self) -> bool:
        """True if equal steps along the normal lead from slice to slice."""
        count = len(self.origin_Z3)
        if count < 2:
            return True
        along = self.normal * float(self.slice_step @ self.normal)
        wanted = self.origin_Z3[0] + np.arange(count)[:, None] * along
        return bool(np.abs(self.origin_Z3 - wanted).max() <= STRAIGHT_MM)

    def point(self, index: tuple[float, float, float]) -> NDArray[np.float64]:
        """Patient coordinates [3] of a (slice, row, column) index; fractions interpolate."""
        z, y, x = index
        places = np.arange(len(self.origin_Z3))
        origin = np.array([np.interp(z, places, self.origin_Z3[:, axis]) for axis in range(3)])
        if z < 0 or z > places[-1]:
            beyond = z if z < 0 else z - places[-1]
            origin = origin + beyond * self.slice_step
        return origin + y * self.row_step + x * self.column_step

    def distance(self) -> NDArray[np.float64]:
        """Position of every slice along the normal in mm, shape [Z]."""
        return self.origin_Z3 @ self.normal

    def index(self, point: NDArray[np.float64]) -> tuple[float, float, float]:
        """The (slice, row, column) index of patient coordinates; may lie outside the stack."""
        along = self.distance()
        at = float(np.asarray(point, float) @ self.normal)
        z = _place(along, at)
        inside = np.asarray(point, float) - self.point((z, 0.0, 0.0))
        plane = np.stack([self.column_step, self.row_step], axis=1)
        x, y = np.linalg.lstsq(plane, inside, rcond=None)[0]
        return z, float(y), float(x)

    def swapped(self) -> Geometry:
        """The geometry of an array whose rows and columns are exchanged."""
        return replace(self, column_step=self.row_step, row_step=self.column_step)

    def turned(self, axis: int, count: int) -> Geometry:
        """The geometry of an array turned round along an axis.

        Args:
            axis: 0 for slices, 1 for rows, 2 for columns.
            count: length of that axis.
        """
        if axis == 0:
            return replace(self, origin_Z3=self.origin_Z3[::-1])
        step = self.row_step if axis == 1 else self.column_step
        origins = self.origin_Z3 + (count - 1) * step
        if axis == 1:
            return replace(self, origin_Z3=origins, row_step=-step)
        return replace(self, origin_Z3=origins, column_step=-step)


def _place(along_Z: NDArray[np.float64], at: float) -> float:
    """The fractional slice at a distance along the normal; beyond the ends by the mean step."""
    count = len(along_Z)
    if count == 1:
        return at - float(along_Z[0])
    forward = along_Z[-1] >= along_Z[0]
    ordered = along_Z if forward else along_Z[::-1]
    step = float(ordered[-1] - ordered[0]) / (count - 1) or 1.0
    if at <= ordered[0]:
        z = (at - float(ordered[0])) / step
    elif at >= ordered[-1]:
        z = count - 1 + (at - float(ordered[-1])) / step
    else:
        z = float(np.interp(at, ordered, np.arange(count)))
    return z if forward else count - 1 - z
