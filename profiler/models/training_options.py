"""How a built-in model is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from traces.errors import BadInputError, shown

Kind = Literal["image", "language", "speech", "recommendation"]
Precision = Literal["fp32", "bf16", "fp16"]


@dataclass(frozen=True)
class TrainingOptions:
    """precision: of what automatic mixed precision casts; weights stay in fp32.

    channels_last: images and convolutions have the channels innermost in memory.
    compile: the network goes through torch.compile, with its own choice of back end (Inductor).
    threads: of one operation on the CPU.

    Raises BadInputError.
    """

    precision: Precision = "fp32"
    channels_last: bool = False
    compile: bool = False
    threads: int = 1

    def __post_init__(self) -> None:
        if self.precision not in get_args(Precision):
            raise BadInputError(
                f"there is no precision {shown(self.precision)}",
                allowed=", ".join(get_args(Precision)),
                key="precision",
            )
        if self.threads < 1:
            raise BadInputError(
                f"{self.threads} threads compute nothing", allowed="1 or more", key="threads"
            )

    def refuse_unfit(self, kind: Kind, device_type: str) -> None:
        """Raises BadInputError where one of the options does not apply to such a model there."""
        if self.channels_last and kind != "image":
            raise BadInputError(
                f"channels_last is a layout of images, and a {kind} model has none",
                allowed="channels_last with image models",
                key="channels_last",
            )
        if self.precision == "fp16" and device_type == "cpu":
            raise BadInputError(
                "fp16 needs a GPU: scaling of its gradients is not done on the CPU",
                allowed="fp32 or bf16 on the CPU",
                key="precision",
            )
