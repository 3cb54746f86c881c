"""Workers with whole cores get cores of their own, while there are any."""

from __future__ import annotations

from emulator.rounds.whole_cores import WholeCores

BOX = frozenset(range(4))


def test_each_has_its_own() -> None:
    cores = WholeCores(BOX)
    assert cores.hold("one", 1.0) == {0}
    assert cores.hold("two", 2.0) == {1, 2}


def test_one_core_stays_for_all_others() -> None:
    cores = WholeCores(BOX)
    cores.hold("one", 3.0)
    assert cores.hold("two", 1.0) is None
    assert WholeCores(BOX).hold("all", 4.0) is None


def test_parts_of_cores_have_none() -> None:
    for cpu_cores in (0.5, 1.5, 0.999):
        assert WholeCores(BOX).hold("one", cpu_cores) is None


def test_what_is_given_back_is_free() -> None:
    cores = WholeCores(BOX)
    cores.hold("one", 3.0)
    cores.give_back("one")
    cores.give_back("one")
    assert cores.hold("two", 3.0) == {0, 1, 2}


def test_a_worker_keeps_what_it_still_may_have() -> None:
    cores = WholeCores(BOX)
    cores.hold("one", 1.0)
    assert cores.hold("two", 1.0) == {1}
    cores.give_back("one")
    assert cores.hold("two", 2.0) == {0, 1}
    assert cores.hold("two", 1.0) == {0}
    assert cores.hold("two", 0.5) is None
    assert cores.hold("three", 3.0) == {0, 1, 2}
