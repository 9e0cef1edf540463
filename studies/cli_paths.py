"""Files and folders in the place of a command: ``triptych FOLDER`` opens the window on them.

Owns telling a path from a command. Refuses a word that is neither, with what to do instead.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperGroup

from studies.cli_common import absolute, failures

OPENER = "studies.cli.opener"  # the key of ``context.meta`` that opens the window on paths


class PathGroup(TyperGroup):
    """The root command: its commands, or paths."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of the first word, or one that opens paths.

        Raises:
            typer.BadParameter: a word that looks like a path is not there.
        """
        first = args[0]
        if self.get_command(ctx, first) is not None or first.startswith("-"):
            return super().resolve_command(ctx, args)
        if Path(first).exists():
            return "open", typer.main.get_command(_apart), args
        if any(sign in first for sign in "/\\."):
            raise typer.BadParameter(
                f"{first} is not there. To open a file or a folder: triptych PATH; "
                "to say what it is: triptych show PATH"
            )
        return super().resolve_command(ctx, args)


def _open(
    context: typer.Context, paths: Annotated[list[Path], typer.Argument(help="Files or folders.")]
) -> None:
    """Open the window on files or folders."""
    with failures():
        raise typer.Exit(context.meta[OPENER]([Path(absolute(path)) for path in paths]))


# Stands in no list of commands: it has no name that a person could type.
_apart = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
_apart.command()(_open)
