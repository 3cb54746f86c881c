"""What all presets have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod

from pydantic import Field

from traces.cluster import Cluster, Fabric, Sharing
from traces.quantities import RateBps
from traces.scenario_file import Strict


class Preset(Strict, ABC):
    """Parameters of a topology, as a scenario's ``cluster`` has them."""

    rate: RateBps = Field(description="rate of every server's link")
    sharing: Sharing = Sharing.FAIR
    fabric: Fabric = Fabric.LOSSLESS

    @abstractmethod
    def build(self) -> Cluster:
        """The topology. Raises BadInputError, with the parameter's key, where they do not fit."""
