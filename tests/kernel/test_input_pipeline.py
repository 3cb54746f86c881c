"""Input pipelines in real namespaces, under real limits: their rates, caches, pauses and ends."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from emulator.cgroups import create_group, own_hierarchies, remove_group
from emulator.messages import MessageSocket
from emulator.networks import common_window_bytes
from emulator.training.dataset import make_dataset, make_jpeg_dataset
from emulator.training.loader import Loader, LoaderLostError
from emulator.training.specification import (
    LoaderSpecification,
    Pipeline,
    PipelineShare,
    PipelineState,
    StorageRoute,
)
from emulator.training.storage_server import run_storage
from netshaper.apply import build, remove_namespaces
from netshaper.disciplines import JobTraffic
from netshaper.netlink import NetlinkSocket
from netshaper.parent_death import end_with_parent
from netshaper.plan import NetworkPlan, plan_network
from netshaper.shaping import PAYLOAD_SHARE
from tests.kernel.command import wait_until
from tests.kernel.machine import namespaces
from tests.kernel.undisturbed import on_an_undisturbed_box
from traces.cluster import Port, Sharing, dumbbell

RUN_ID = "t3stload"
JOB = "job"
STORAGE, HOST = "left0", "right0"
PORT = 5000
ITEM_BYTES = 16 * 2**10
DATASET_ITEMS = 80
ITEMS = 8
EPOCH_STEPS = DATASET_ITEMS // ITEMS
FAST_BPS = 100e6
PATIENCE_S = 30.0


@dataclass(frozen=True)
class Storage:
    """A storage server at the far end of a shaped link."""

    plan: NetworkPlan
    process: int

    def specification(
        self,
        cached_share: float = 0.0,
        cpu_s_per_item: float = 0.0,
        state: PipelineState | None = None,
        threads: int = 1,
    ) -> LoaderSpecification:
        route = StorageRoute(
            own_address=self.plan.addresses.server(HOST, 0),
            address=self.plan.addresses.server(STORAGE, 0),
            port=PORT,
            dscp=self.plan.job_dscp[JOB],
            window_bytes=common_window_bytes(self.plan),
            congestion_control="cubic",
        )
        cache_bytes = round(cached_share * DATASET_ITEMS) * ITEM_BYTES + ITEM_BYTES // 2
        return LoaderSpecification(
            namespace=self.plan.namespaces[HOST],
            route=route,
            pipeline=Pipeline(ITEMS, ITEM_BYTES, DATASET_ITEMS, cpu_s_per_item),
            share=PipelineShare(cache_bytes, threads),
            state=state or PipelineState(),
            shuffle_seed=3,
        )

    def sent_bytes(self) -> int:
        """What left the server so far in the job's own class."""
        port = self.plan.ports[Port(STORAGE, "switch-left")]
        with contextlib.closing(NetlinkSocket(port.namespace)) as reader:
            counters = reader.classes(reader.links()[port.device].index)
        return counters[port.classes.of_job[JOB]].sent_bytes


@contextlib.contextmanager
def storage_at(rate_bps: float, dataset: Path) -> Iterator[Storage]:
    cluster = dumbbell(1, 1, rate_bps, rate_bps, Sharing.FAIR)
    plan = plan_network(RUN_ID, "n0", cluster, [JobTraffic(JOB)], 1.0, connections=4)
    try:
        build(plan)
        ours, theirs = socket.socketpair()
        parent = os.getpid()
        process = os.fork()
        if process == 0:
            with contextlib.suppress(BaseException):
                end_with_parent(parent)
                ours.close()
                run_storage(server_specification(plan, dataset), MessageSocket(theirs))
            os._exit(0)
        theirs.close()
        control = MessageSocket(ours)
        assert control.receive() == {"event": "listening", "port": PORT}
        yield Storage(plan, process)
        control.close()
        assert os.waitpid(process, 0)[1] == 0
    finally:
        remove_namespaces(plan.namespaces.values())
        assert namespaces(f"{RUN_ID}-") == []


def server_specification(plan: NetworkPlan, dataset: Path) -> dict[str, object]:
    return {
        "namespace": plan.namespaces[STORAGE],
        "address": plan.addresses.server(STORAGE, 0),
        "port": PORT,
        "dscp": 0,
        "window_bytes": common_window_bytes(plan),
        "congestion_control": "cubic",
        "dataset_file": str(dataset),
    }


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("dataset") / "data"
    make_dataset(file, DATASET_ITEMS * ITEM_BYTES // 2, seed=5)
    return file


@pytest.fixture
def storage(dataset: Path) -> Iterator[Storage]:
    with storage_at(FAST_BPS, dataset) as server:
        yield server


@contextlib.contextmanager
def loading(specification: LoaderSpecification, *groups: Path) -> Iterator[Loader]:
    loader = Loader.start(specification, groups)
    try:
        yield loader
    finally:
        loader.close()


def take(loader: Loader, steps: int) -> None:
    for _ in range(steps):
        assert loader.take(time.monotonic() + PATIENCE_S) is not None


@contextlib.contextmanager
def group(controller: str, **settings: int) -> Iterator[Path]:
    """A cgroup v1 of its own with some settings; a dot is written as two underscores."""
    found = [each for each in own_hierarchies() if controller in each.controllers]
    if not found or found[0].version != 1:
        pytest.skip(f"no cgroup v1 with {controller}")
    path = found[0].own_group / f"roundelay-{RUN_ID}"
    create_group(path)
    try:
        for name, value in settings.items():
            (path / name.replace("__", ".")).write_text(str(value))
        yield path
    finally:
        remove_group(path)


def cpu_group(quota_us: int, period_us: int) -> contextlib.AbstractContextManager[Path]:
    return group("cpu", cpu__cfs_period_us=period_us, cpu__cfs_quota_us=quota_us)


@pytest.mark.parametrize("share", [0.1, 0.4, 0.8])
def test_every_epoch_hits_what_the_cache_holds(storage: Storage, share: float) -> None:
    sent_before = storage.sent_bytes()
    with loading(storage.specification(share)) as loader:
        loader.resume()
        take(loader, 4 * EPOCH_STEPS)
        loader.pause()
        report = loader.report()
    held = round(share * DATASET_ITEMS)
    assert report.epoch_hits[:4] == (0, held, held, held)
    assert len(report.state.cached) == held
    in_hand = ITEMS * ITEM_BYTES
    assert 0 <= report.misses * ITEM_BYTES - report.fetched_bytes <= in_hand
    sent = storage.sent_bytes() - sent_before
    assert sent * PAYLOAD_SHARE == pytest.approx(report.fetched_bytes, rel=0.03, abs=in_hand)


@dataclass(frozen=True)
class Balance:
    """What each stage takes for one step: of a core's ``cpus``, a link, and a GPU."""

    name: str
    gpu_s: float
    cpu_s_per_item: float
    rate_bps: float
    quota_us: int = 2000
    period_us: int = 8000
    cached_share: float = 0.4

    @property
    def step_s(self) -> float:
        prepare_s = ITEMS * self.cpu_s_per_item * self.period_us / self.quota_us
        missed_bytes = ITEMS * ITEM_BYTES * (1 - self.cached_share)
        fetch_s = missed_bytes * 8 / (self.rate_bps * PAYLOAD_SHARE)
        return max(self.gpu_s, prepare_s, fetch_s)


BALANCES = [
    Balance("gpu", gpu_s=0.1, cpu_s_per_item=1e-3, rate_bps=20e6),
    Balance("cpu", gpu_s=0.02, cpu_s_per_item=3e-3, rate_bps=20e6),
    Balance("little-cpu", 0.02, 0.5e-3, 20e6, quota_us=1000, period_us=80_000),
    Balance("storage", gpu_s=0.02, cpu_s_per_item=1e-3, rate_bps=5e6),
]


@pytest.mark.parametrize("balance", BALANCES, ids=lambda balance: balance.name)
def test_steps_take_what_the_slowest_stage_takes(balance: Balance, dataset: Path) -> None:
    def check() -> None:
        with (
            storage_at(balance.rate_bps, dataset) as storage,
            cpu_group(balance.quota_us, balance.period_us) as cgroup,
            loading(
                storage.specification(balance.cached_share, balance.cpu_s_per_item), cgroup
            ) as loader,
        ):
            loader.resume()
            train(loader, EPOCH_STEPS + 2, balance.gpu_s)
            before = loader.report()
            begun_s = time.monotonic()
            train(loader, 3 * EPOCH_STEPS, balance.gpu_s)
            step_s = (time.monotonic() - begun_s) / (3 * EPOCH_STEPS)
            after = loader.report()
        items = after.prepared_items - before.prepared_items
        used_s = (after.cpu_s - before.cpu_s) / items
        print(f"{balance.name}: {step_s / balance.step_s - 1:+.2%} of {balance.step_s:.4f} s, ")
        print(f"CPU {used_s / balance.cpu_s_per_item - 1:+.2%}")
        assert step_s == pytest.approx(balance.step_s, rel=0.03)
        assert used_s == pytest.approx(balance.cpu_s_per_item, rel=0.02)

    on_an_undisturbed_box(check)


def train(loader: Loader, steps: int, gpu_s: float) -> None:
    """A GPU that has its next step's data when they are ready, and begins no step late."""
    free_s = time.monotonic()
    for _ in range(steps):
        ready_s = loader.take(time.monotonic() + PATIENCE_S)
        assert ready_s is not None
        free_s = max(free_s, ready_s) + gpu_s
        time.sleep(max(0.0, free_s - time.monotonic()))


@pytest.mark.parametrize("threads", [1, 2])
def test_reading_that_costs_more_than_the_work_is_seen(storage: Storage, threads: int) -> None:
    with loading(storage.specification(0.0, 1e-6, threads=threads)) as loader:
        loader.resume()
        take(loader, 2 * EPOCH_STEPS)
        loader.pause()
        report = loader.report()
    assert report.demanded_cpu_s == pytest.approx(report.prepared_items * 1e-6)
    assert report.cpu_s > 2 * report.demanded_cpu_s


def test_without_a_dataset_and_work_steps_are_ready_at_once() -> None:
    specification = LoaderSpecification(
        namespace=None,
        route=None,
        pipeline=Pipeline(ITEMS, 0, 0, 0.0),
        share=PipelineShare(0, 1),
        state=PipelineState(),
        shuffle_seed=0,
    )
    with loading(specification) as loader:
        assert loader.take(time.monotonic() + 0.2) is None, "it begins paused"
        loader.resume()
        take(loader, 200)
        loader.pause()
        report = loader.report()
    assert report.state.position.item == 200 * ITEMS
    assert report.hits == report.misses == report.fetched_bytes == 0


def test_a_pause_stops_reading_and_working_until_it_ends(storage: Storage) -> None:
    with loading(storage.specification(0.4, 1e-3)) as loader:
        loader.resume()
        take(loader, 5)
        loader.pause()
        sent, at_first = storage.sent_bytes(), loader.report()
        ready = at_first.state.ready_items // ITEMS
        take(loader, ready)  # makes room for more
        time.sleep(0.4)
        assert loader.take(time.monotonic()) is None
        later = loader.report()
        # What was within its last microseconds may still end.
        assert later.prepared_items - at_first.prepared_items <= 1
        assert later.fetched_bytes - at_first.fetched_bytes <= ITEM_BYTES
        window_bytes = common_window_bytes(storage.plan)
        assert storage.sent_bytes() - sent <= 2 * window_bytes
        loader.resume()
        take(loader, 5)
        assert loader.report().state.position.item == (10 + ready) * ITEMS % DATASET_ITEMS


def test_a_restart_goes_on_where_the_last_loader_was(storage: Storage) -> None:
    """Over three loaders and their checkpoints: no item twice, none left out."""
    state, taken = PipelineState(ready_items=2 * ITEMS), 0
    for steps in (3, EPOCH_STEPS, 2 * EPOCH_STEPS):
        with loading(storage.specification(0.4, state=state)) as loader:
            assert loader.report().state == state
            loader.resume()
            take(loader, steps)
            loader.pause()
            report = loader.report()
        before, state = state, report.state
        assert report.prepared_items == steps * ITEMS + state.ready_items - before.ready_items
        taken += steps * ITEMS
        assert (state.position.epoch, state.position.item) == divmod(taken, DATASET_ITEMS)
        assert state.ready_items <= 2 * ITEMS
        assert state.cached[: len(before.cached)] == before.cached


def test_shares_change_in_place(storage: Storage) -> None:
    specification = storage.specification(0.8, 1e-4)
    with loading(specification) as loader:
        loader.resume()
        take(loader, EPOCH_STEPS + 3)
        loader.pause()
        before = loader.report().state
        smaller = replace(specification.pipeline, items=ITEMS // 2)
        loader.change(smaller, replace(specification.share, cache_bytes=8 * ITEM_BYTES, threads=2))
        state = loader.report().state
        assert state.cached == before.cached[:8]
        assert state.position == before.position
        loader.resume()
        take(loader, 2 * 4 * EPOCH_STEPS)
        loader.pause()
        report = loader.report()
        assert report.epoch_hits[-2:] == (8, 8)
        items = (EPOCH_STEPS + 3) * ITEMS + 8 * EPOCH_STEPS * (ITEMS // 2)
        assert report.state.position.item == items % DATASET_ITEMS
        with pytest.raises(ValueError, match="another dataset"):
            loader.change(replace(smaller, dataset_items=3), specification.share)


def test_a_loader_ends_with_its_trainer(storage: Storage) -> None:
    reading, writing = os.pipe()
    trainer = os.fork()
    if trainer == 0:
        with contextlib.suppress(BaseException):
            loader = Loader.start(storage.specification(0.4, 1e-3), [])
            loader.resume()
            take(loader, 1)
            children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
            os.write(writing, children.read_bytes())
            time.sleep(PATIENCE_S)
        os._exit(1)
    loader_pid = int(os.read(reading, 100))
    assert Path(f"/proc/{loader_pid}").exists()
    os.kill(trainer, signal.SIGKILL)
    os.waitpid(trainer, 0)
    wait_until(lambda: not runs(loader_pid), "the loader's end")


def runs(pid: int) -> bool:
    """Whether the process is there and no zombie, which nobody may reap in a container."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_loader_that_outgrows_its_memory_is_lost_with_status_9(storage: Storage) -> None:
    specification = storage.specification(1.0)
    large = replace(
        specification,
        pipeline=replace(specification.pipeline, item_bytes=DATASET_ITEMS * ITEM_BYTES // 2),
        share=PipelineShare(2**30, 1),
    )
    with (
        group("memory", memory__limit_in_bytes=24 * 2**20) as cgroup,
        loading(large, cgroup) as loader,
    ):
        loader.resume()
        with pytest.raises(LoaderLostError) as raised:
            take(loader, 2 * EPOCH_STEPS)
        assert raised.value.status == -signal.SIGKILL
        assert loader.exit_status() == -signal.SIGKILL
        failures = int((cgroup / "memory.failcnt").read_text())
    assert failures > 0


def test_a_loader_without_storage_is_lost(storage: Storage) -> None:
    specification = storage.specification()
    assert specification.route is not None
    elsewhere = replace(specification, route=replace(specification.route, port=PORT + 1))
    with pytest.raises(LoaderLostError) as lost, loading(elsewhere):
        pass
    assert lost.value.status == 1


def test_real_jpegs_are_decoded(tmp_path: Path) -> None:
    file = tmp_path / "images"
    make_jpeg_dataset(file, 20 * ITEM_BYTES, seed=1)
    with storage_at(FAST_BPS, file) as server:
        specification = replace(server.specification(0.4, 2e-3), work="jpeg")
        with loading(specification) as loader:
            loader.resume()
            take(loader, EPOCH_STEPS)
            report = loader.report()
    assert report.cpu_s == pytest.approx(report.demanded_cpu_s, rel=0.05)
