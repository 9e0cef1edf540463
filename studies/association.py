"""Lets a double click on a ``.triptych`` file open this program, for this user only.

Owns the entries of Linux desktops (a launcher and a media type) and of the Windows registry.
Refuses to touch the system or other users; where a system gives no such entry it says what to do.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import platformdirs

from db.failures import translated
from db.files import write_whole

MEDIA_TYPE = "application/vnd.triptych.study"
NAME = "Triptych study"
CLASS = "Triptych.Study"
LAUNCHER = "triptych-study.desktop"
MEDIA_FILE = "triptych-study.xml"
_MEDIA = f"""<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="{MEDIA_TYPE}">
    <comment>{NAME}</comment>
    <glob pattern="*.triptych"/>
    <magic priority="80"><match type="string" offset="68" value="TRPY"/></magic>
  </mime-type>
</mime-info>
"""


@dataclass(frozen=True)
class Associated:
    """What was done.

    Attributes:
        done: a double click opens the program from now on.
        places: files and registry keys written.
        sentence: that in words, or what to do instead.
    """

    done: bool
    places: tuple[str, ...]
    sentence: str


def associate(*, home: Path | None = None, system: str = sys.platform) -> Associated:
    """Register the file type for this user.

    Args:
        home: the home that a double click opens; None for the usual one.
        system: as ``sys.platform`` names it.

    Raises:
        StoreError: an entry cannot be written.
    """
    command = [*_program(), *(["--home", str(home)] if home else []), "study", "open"]
    if system == "win32":
        import winreg

        return on_windows(command, winreg)
    if system == "darwin":
        return Associated(
            False,
            (),
            "On a Mac a file type belongs to an application bundle, and this program is installed "
            "without one. Open packs with: triptych FILE.triptych",
        )
    return on_linux(command, Path(platformdirs.user_data_dir()))


def on_linux(command: Sequence[str], data: Path) -> Associated:
    """Write launcher and media type below the user's data folder."""
    launcher, media = data / "applications" / LAUNCHER, data / "mime" / "packages" / MEDIA_FILE
    for file, text in ((launcher, _launcher(command)), (media, _MEDIA)):
        with translated(file):
            file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, text.encode("utf-8"))
    _tell(["update-mime-database", str(data / "mime")])
    _tell(["update-desktop-database", str(launcher.parent)])
    _tell(["xdg-mime", "default", LAUNCHER, MEDIA_TYPE])
    return _done((str(launcher), str(media)))


def on_windows(command: Sequence[str], registry: ModuleType) -> Associated:
    """Write the classes of the current user.

    Args:
        command: program and first words.
        registry: the module ``winreg``.
    """
    root = "Software\\Classes"
    line = f'{subprocess.list2cmdline(command)} "%1"'
    entries = {
        f"{root}\\.triptych": CLASS,
        f"{root}\\{CLASS}": NAME,
        f"{root}\\{CLASS}\\shell\\open\\command": line,
    }
    with translated(Path(root)):
        for key, value in entries.items():
            with registry.CreateKey(registry.HKEY_CURRENT_USER, key) as opened:
                registry.SetValueEx(opened, "", 0, registry.REG_SZ, value)
    return _done(tuple(f"HKEY_CURRENT_USER\\{key}" for key in entries))


def _done(places: tuple[str, ...]) -> Associated:
    return Associated(True, places, "A double click on a .triptych file opens it from now on.")


def _program() -> list[str]:
    """The program as it runs now; without a console on Windows."""
    python = Path(sys.executable)
    quiet = python.with_name("pythonw.exe")
    return [str(quiet if quiet.is_file() else python), "-m", "studies.cli"]


def _launcher(command: Sequence[str]) -> str:
    words = " ".join(_quoted(word) for word in command)
    return (
        "[Desktop Entry]\nType=Application\nName=Triptych\nComment=Read a blinded study\n"
        f"Exec={words} %f\nMimeType={MEDIA_TYPE};\nTerminal=false\nNoDisplay=true\n"
    )


def _quoted(word: str) -> str:
    """A word as the desktop entry specification wants it: quoted, its own signs escaped."""
    escaped = "".join(f"\\{sign}" if sign in '"`$\\' else sign for sign in word)
    return '"' + escaped.replace("\\", "\\\\").replace("%", "%%") + '"'


def _tell(command: list[str]) -> None:
    """Let the desktop notice, where its tools are there; what was written holds without."""
    if shutil.which(command[0]):
        subprocess.run(command, check=False, capture_output=True, timeout=20)
