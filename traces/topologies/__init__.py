"""Topologies: presets by name, and files of others."""

from __future__ import annotations

from traces.topologies.cassini_24 import Cassini24
from traces.topologies.dumbbell import Dumbbell
from traces.topologies.fat_tree import FatTree
from traces.topologies.leaf_spine import LeafSpine
from traces.topologies.preset import Preset
from traces.topologies.single_switch import SingleSwitch

PRESETS: dict[str, type[Preset]] = {
    "single-switch": SingleSwitch,
    "dumbbell": Dumbbell,
    "leaf-spine": LeafSpine,
    "fat-tree": FatTree,
    "cassini-24": Cassini24,
}
"""Name -> parameters, which ``build`` the cluster."""
