"""What a built-in training job is to do, as the profiler tells the job's process. Pure."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Literal

from traces.errors import BadInputError


@dataclass(frozen=True)
class JobSpecification:
    """model, tiny: of profiler.models.builtin. device: "cpu", "cuda" or as "cuda:0".

    data: a directory of images; None for items that are made: ``made_items`` of them in
    ``made_directory``, which ``seed`` decides, and with it the order of samples and what the cache
    holds. on_broken: what becomes of files in ``data`` that are no image.
    batch_size: None for the model's own. start_method: of the loader's workers; None for the
    quickest that works. threads: of the training process itself, at most; the rest as in
    profiler.models.training_options.
    """

    model: str
    tiny: bool
    device: str
    made_directory: str
    data: str | None = None
    made_items: int = 4096
    on_broken: Literal["skip", "refuse"] = "skip"
    loader: Literal["torch", "dali"] = "torch"
    batch_size: int | None = None
    start_method: Literal["fork", "spawn", "forkserver"] | None = None
    seed: int = 0
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"
    channels_last: bool = False
    compile: bool = False
    threads: int = 1

    def text(self) -> str:
        """JSON, for ``from_text``."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_text(text: str) -> JobSpecification:
        """BadInputError where ``text`` is none."""
        try:
            return JobSpecification(**json.loads(text))
        except (TypeError, ValueError):
            raise BadInputError(
                "the specification of the job is not one",
                allowed=f"JSON of {', '.join(each.name for each in fields(JobSpecification))}",
            ) from None
