"""The section ``emulation`` of a scenario of rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, model_validator

from traces.errors import BadInputError
from traces.quantities import DurationS
from traces.scenario_file import Strict

Divisor = Annotated[float, Field(ge=1, le=1e12, allow_inf_nan=False)] | Literal["auto"]
Argument = Annotated[str, Field(min_length=1, max_length=4096)]


class EmulationSpec(Strict):
    """How an emulated cluster is made small and fast enough for this box.

    duration: on the wall, of all arms and seeds together. stride: how many iterations one emulated
    iteration stands for. work: what preparing a sample is. commands: of a model, the user's own
    command that its jobs run instead. timeline_from, timeline_until: time of the trace of which
    timeline.json has the steps and the load of links.
    """

    duration: Annotated[DurationS, Field(gt=0)] = 720.0
    stride: Divisor = "auto"
    cpu_divisor: Divisor = "auto"
    byte_divisor: Divisor = "auto"
    work: Literal["hash", "jpeg"] = "hash"
    timeline_from: Annotated[DurationS, Field(ge=0)] = 0.0
    timeline_until: Annotated[DurationS, Field(gt=0)] | None = None
    commands: dict[str, Annotated[list[Argument], Field(min_length=1, max_length=256)]] = Field(
        default_factory=dict
    )

    @model_validator(mode="after")
    def _timeline_is_a_stretch(self) -> EmulationSpec:
        if self.timeline_until is not None and self.timeline_until <= self.timeline_from:
            raise ValueError("timeline_until must be later than timeline_from")
        return self

    def check_models(self, models: Sequence[str]) -> None:
        """BadInputError where a command is for a model that no job can have, or no kernel takes."""
        for model, command in self.commands.items():
            key = f"emulation.commands.{model}"
            if model not in models:
                raise BadInputError(
                    f"there is no model {model!r}",
                    allowed=", ".join(models) or "no commands with profiles: none",
                    key=key,
                )
            for position, argument in enumerate(command):
                if "\0" in argument:
                    raise BadInputError(
                        "an argument has a zero byte",
                        allowed="text without it",
                        key=f"{key}.{position}",
                    )
