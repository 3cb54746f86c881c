"""How prepared items make up steps, and how many of these may stand ready. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class StepCount:
    """Counts of items from the start of the first epoch: prepared >= handed_over >= taken.

    items: of one step. At most ``prefetch_steps`` steps are finished or under way and not taken, as
    in PyTorch's DataLoader. handed_over: items of all steps that were finished.
    """

    items: int
    prefetch_steps: int
    taken: int
    handed_over: int
    prepared: int

    @property
    def may_prepare(self) -> bool:
        """Whether one more item may be prepared now."""
        return self.prepared < self.taken + self.prefetch_steps * self.items

    @property
    def look_ahead(self) -> int:
        """Up to which item the dataset may be read: one step beyond what may be prepared."""
        return self.taken + (self.prefetch_steps + 1) * self.items

    def hand_over(self) -> int:
        """How many more steps are finished and have room; from now on they stand ready."""
        finished = (self.prepared - self.handed_over) // self.items
        room = self.prefetch_steps - (self.handed_over - self.taken) // self.items
        steps = max(0, min(finished, room))
        self.handed_over += steps * self.items
        return steps

    def take(self) -> None:
        """The oldest ready step is trained on."""
        self.taken += self.items

    def recut(self, items: int) -> int:
        """From now on a step is ``items``; how many ready steps were dissolved into items."""
        if items == self.items:
            return 0
        dissolved = (self.handed_over - self.taken) // self.items
        self.items, self.handed_over = items, self.taken
        return dissolved
