"""A scenario's ``cluster``: a preset with its parameters, or a topology from a file."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from pydantic import Field, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from traces.cluster import Fabric, Sharing
from traces.errors import BadInputError
from traces.quantities import RateBps, SizeBytes
from traces.scenario_file import Strict
from traces.topologies import PRESETS
from traces.topologies.imported import ImportedCluster, read_topology
from traces.topologies.preset import Preset

DEFAULT_PRESET = "dumbbell"


_KEYS_BESIDE = ("dedicated", "gpus", "cpus", "memory")


class TopologyFile(Strict):
    """A topology from a file beside the scenario."""

    topology: str = Field(min_length=1)
    rate: RateBps | None = Field(default=None, description="rate of links without one in the file")
    sharing: Sharing = Sharing.FAIR
    fabric: Fabric = Fabric.LOSSLESS

    def build(self, directory: Path) -> ImportedCluster:
        """The cluster in the file. Raises BadInputError, with the key where there is no file."""
        file = directory / self.topology
        if not file.is_file():
            raise BadInputError(
                f"{self.topology!r} is not a file beside the scenario",
                allowed="the path of node-link JSON, GraphML or GML",
                key="cluster.topology",
            )
        return read_topology(file, self.rate, self.sharing, self.fabric)


class ClusterSpec(Strict):
    """The cluster. ``dedicated`` gives each job a whole copy of it, for the ideal; ``gpus`` is how
    many workers a scheduler may place on each server, among which it divides ``cpus`` and
    ``memory`` if it has a mechanism for that.

    ``preset`` (``dumbbell`` where nothing is said) or ``topology`` decides which keys stand beside
    them, all at one level of the file.
    """

    network: Preset | TopologyFile
    dedicated: bool = False
    gpus: int = Field(default=1, ge=1, le=64)
    cpus: float | None = Field(default=None, gt=0, le=1024, allow_inf_nan=False)
    memory: SizeBytes | None = None

    @model_validator(mode="wrap")
    @classmethod
    def _by_its_form(
        cls, given: object, handler: ModelWrapValidatorHandler[ClusterSpec]
    ) -> ClusterSpec:
        if not isinstance(given, dict):
            return handler(given)
        form = _form_of(given)
        parameters = {key: given[key] for key in given if key not in ("preset", *_KEYS_BESIDE)}
        own = {key: given[key] for key in given if key in _KEYS_BESIDE}
        return handler({"network": form.model_validate(parameters), **own})

    @classmethod
    def keys_allowed(cls, given: object) -> tuple[str, ...]:
        """Those of the form that ``given`` has."""
        form = _form_of(given if isinstance(given, dict) else {})
        choice = ("topology",) if form is TopologyFile else ("preset",)
        parameters = [key for key in form.model_fields if key != "topology"]
        return (*choice, *parameters, *_KEYS_BESIDE)

    def build(self, directory: Path) -> ImportedCluster:
        """The cluster. directory: where a topology's file is looked for.

        Raises BadInputError, with the key of the scenario, or the file of the topology.
        """
        if isinstance(self.network, TopologyFile):
            return self.network.build(directory)
        try:
            return ImportedCluster(self.network.build(), ())
        except BadInputError as error:
            raise BadInputError(
                error.problem, allowed=error.allowed, key=f"cluster.{error.key}"
            ) from None


def _form_of(given: dict[str, object]) -> type[Preset] | type[TopologyFile]:
    """The model of ``given``'s parameters. Raises ValidationError where none is chosen well."""
    if "topology" in given:
        if "preset" in given:
            _refuse(
                "topology",
                PydanticCustomError(
                    "value_error", "a file and a preset at once|one of 'topology' and 'preset'"
                ),
                given["topology"],
            )
        return TopologyFile
    name = given.get("preset", DEFAULT_PRESET)
    if not isinstance(name, str) or name not in PRESETS:
        known = ", ".join(repr(known) for known in PRESETS)
        _refuse(
            "preset",
            PydanticCustomError("literal_error", "one of {expected}", {"expected": known}),
            name,
        )
    return PRESETS[str(name)]


def _refuse(key: str, problem: PydanticCustomError, given: object) -> NoReturn:
    details = InitErrorDetails(type=problem, loc=(key,), input=given)
    raise ValidationError.from_exception_data("cluster", [details])
