"""The combined generator MRG32k3a as R has it, many numbers at once.

Owns the stream that the bootstrap draws from: the same numbers, to the last bit, as R's
``set.seed(seed, kind = "L'Ecuyer-CMRG"); runif(n)``, so that the scripts of a published study
reproduce every interval in either language. Numbers are made in lanes that start at jumps
into the stream. Refuses nothing.
Source: L'Ecuyer 1999, Operations Research 47(1), MRG32k3a; L'Ecuyer et al. 2002 for the jumps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

M1, M2 = 4294967087, 4294944443
A12, A13, A21, A23 = 1403580.0, 810728.0, 527612.0, 1370589.0
NORM = 2.328306549295727688e-10
SEEDS = 2**31 - 1
LANES = 4096
KEPT = 8_000_000

Matrix = tuple[tuple[int, ...], ...]
ONE: Matrix = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
STEP1: Matrix = ((0, 1, 0), (0, 0, 1), (M1 - 810728, 1403580, 0))
STEP2: Matrix = ((0, 1, 0), (0, 0, 1), (M2 - 1370589, 0, 527612))


class Stream:
    """Uniform numbers above 0 and below 1.

    Args:
        seed: any whole number of 0 or more; taken modulo 2**31 - 1, the largest R takes.
    """

    def __init__(self, seed: int) -> None:
        words = _scrambled(seed % SEEDS)
        self._state1, self._state2 = words[:3], words[3:]

    def uniform(self, n: int) -> NDArray[np.float64]:
        """The next ``n`` numbers of the stream."""
        if n <= 0:
            return np.empty(0)
        lanes = max(1, min(LANES, n // 64))
        each = -(-n // lanes)
        first = _starts(self._state1, _power(STEP1, each, M1), lanes, M1)
        second = _starts(self._state2, _power(STEP2, each, M2), lanes, M2)
        self.skip(n)
        return _run(first, second, each).T.reshape(-1)[:n]

    def skip(self, n: int) -> None:
        """Leave out the next ``n`` numbers; as fast for many as for few."""
        self._state1 = _moved(_power(STEP1, n, M1), self._state1, M1)
        self._state2 = _moved(_power(STEP2, n, M2), self._state2, M2)


class Replay:
    """One stream read from its beginning again and again; the beginning is made once and kept.

    Args:
        seed: of the stream.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._stream = Stream(seed)
        self._held = np.empty(0)

    def uniform(self, begin: int, n: int) -> NDArray[np.float64]:
        """The numbers ``begin`` to ``begin + n`` of the stream; not to be written to."""
        end = begin + n
        if end > KEPT:
            stream = Stream(self.seed)
            stream.skip(begin)
            return stream.uniform(n)
        if end > self._held.size:
            more = min(KEPT, max(end, 2 * self._held.size)) - self._held.size
            self._held = np.concatenate([self._held, self._stream.uniform(more)])
        return self._held[begin:end]


def _scrambled(seed: int) -> tuple[int, ...]:
    """The six words of the state as R's set.seed makes them from one number."""
    value = seed & 0xFFFFFFFF
    for _ in range(50):
        value = (69069 * value + 1) & 0xFFFFFFFF
    words = []
    for _ in range(6):
        value = (69069 * value + 1) & 0xFFFFFFFF
        while value >= M2:
            value = (69069 * value + 1) & 0xFFFFFFFF
        words.append(value)
    return tuple(words)


def _times(left: Matrix, right: Matrix, modulus: int) -> Matrix:
    columns = tuple(zip(*right, strict=True))
    return tuple(
        tuple(sum(a * b for a, b in zip(row, column, strict=True)) % modulus for column in columns)
        for row in left
    )


def _power(matrix: Matrix, steps: int, modulus: int) -> Matrix:
    found = ONE
    while steps:
        if steps & 1:
            found = _times(matrix, found, modulus)
        matrix = _times(matrix, matrix, modulus)
        steps >>= 1
    return found


def _moved(matrix: Matrix, state: tuple[int, ...], modulus: int) -> tuple[int, ...]:
    return tuple(sum(a * b for a, b in zip(row, state, strict=True)) % modulus for row in matrix)


def _starts(state: tuple[int, ...], jump: Matrix, lanes: int, modulus: int) -> NDArray[np.float64]:
    """Where each lane begins [3, lanes]; doubled until there are enough."""
    found = np.array(state, dtype=np.uint64).reshape(3, 1)
    while found.shape[1] < lanes:
        rows = []
        for row in jump:  # products of 32-bit words fit 64 bits; reduced before they are added
            terms = [np.uint64(a) * found[k] % np.uint64(modulus) for k, a in enumerate(row)]
            rows.append(sum(terms[1:], terms[0]) % np.uint64(modulus))
        found = np.concatenate([found, np.stack(rows)], axis=1)
        jump = _times(jump, jump, modulus)
    return found[:, :lanes].astype(np.float64)


def _run(first: NDArray[np.float64], second: NDArray[np.float64], each: int) -> NDArray[np.float64]:
    """``each`` numbers of every lane [each, lanes].

    Every product and difference stays below 2**53, so double precision is exact.
    """
    x0, x1, x2 = first.copy()
    y0, y1, y2 = second.copy()
    out = np.empty((each, first.shape[1]))
    quotient = np.empty(first.shape[1])
    for place in range(each):
        x0 *= -A13
        x0 += A12 * x1
        x0 -= np.multiply(np.floor(np.divide(x0, M1, out=quotient), out=quotient), M1, out=quotient)
        x0, x1, x2 = x1, x2, x0
        y0 *= -A23
        y0 += A21 * y2
        y0 -= np.multiply(np.floor(np.divide(y0, M2, out=quotient), out=quotient), M2, out=quotient)
        y0, y1, y2 = y1, y2, y0
        row = np.subtract(x2, y2, out=out[place])
        row += np.multiply(row <= 0, M1, out=quotient)
        row *= NORM
    return out
