"""A group of commands, one module each, of which only that is loaded which is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import click


class LazyGroup(click.Group):
    """Loads a command when it is asked for, since all of them together take seconds.

    names: of the commands, in the order of their use. prefix: what the name of a command's module
    begins with, such as ``harness.cli.``; the command is called there as it is here. Commands that
    were added are there, too.
    """

    def __init__(self, *args: Any, names: Sequence[str], prefix: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._names = names
        self._prefix = prefix

    def list_commands(self, context: click.Context) -> list[str]:
        """All commands: those that were added, then the others in the order of their use."""
        return [*super().list_commands(context), *self._names]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command ``name``; None where there is none."""
        if name not in self._names:
            return super().get_command(context, name)
        command: click.Command = getattr(importlib.import_module(f"{self._prefix}{name}"), name)
        return command
