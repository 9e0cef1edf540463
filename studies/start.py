"""Starts the terminal program: Ctrl+C while it is still loading is one line, not a traceback.

Owns the entry point alone, so that nothing is imported before an interrupt is caught.
"""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> None:
    """Entry point of the ``triptych`` command."""
    try:
        from studies.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("Stopped before it began.\n")
        raise SystemExit(INTERRUPTED) from None
    run()


if __name__ == "__main__":
    main()
