"""One worker of a job: holds a lease, trains while it runs, and stands still between rounds."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from emulator.messages import Message, MessageSocket
from emulator.training.barrier import Barrier
from emulator.training.gpu import Gpu
from emulator.training.lease_client import LeaseClient, LeaseLostError
from emulator.training.lease_protocol import END, EXTEND, REGISTER
from emulator.training.loader import Loader, LoaderLostError
from emulator.training.specification import (
    loader_specification_of,
    pipeline_of,
    share_of,
)
from emulator.wake import sleep_until, wake_promptly
from netshaper.namespaces import enter_namespace

# The specification: job, rank, lease_address, namespace, step_s, steps_left, begun (or null),
#   loader: a LoaderSpecification, loader_groups: [path, ...], barrier (see there; or null).
# To the controller, over its socket, goes only what keeps a worker from its lease:
#   {event: loader-lost, status}

_LOADER_LOST = "loader-lost"


def run_trainer(specification: Message, control: MessageSocket) -> None:
    """Train until the job is done, the lease ends, or the controller is gone."""
    groups = [Path(path) for path in specification["loader_groups"]]
    try:
        loader = Loader.start(loader_specification_of(specification["loader"]), groups)
    except LoaderLostError as error:
        control.send({"event": _LOADER_LOST, "status": error.status})
        return
    try:
        enter_namespace(specification["namespace"])
        meeting = specification["barrier"] and Barrier(specification["barrier"])
        gpu = Gpu(
            step_s=specification["step_s"],
            steps_left=specification["steps_left"],
            begun=specification["begun"],
            feed=loader,
            meeting=meeting or None,
        )
        _hold_lease(specification, gpu, loader)
    except LoaderLostError as error:
        control.send({"event": _LOADER_LOST, "status": error.status})
    except (LeaseLostError, ConnectionError, TimeoutError):
        return  # nobody is left to tell, or another worker of the job is gone and has been missed
    finally:
        loader.close()


def _hold_lease(specification: Message, gpu: Gpu, loader: Loader) -> None:
    client = LeaseClient(
        specification["lease_address"], specification["job"], specification["rank"]
    )
    wake_promptly()  # of its threads this one alone; those of gRPC are there already
    reply = client.call(REGISTER)
    while reply["do"] != "end":
        if reply["do"] == "change":
            loader.change(pipeline_of(reply["pipeline"]), share_of(reply["share"]))
        resume_s, pause_s = reply["resume_s"], reply["pause_s"]
        sleep_until(resume_s)
        loader.resume(pause_s - resume_s)
        finished = gpu.run(resume_s, pause_s)
        loader.pause()
        report = _report(gpu, loader)
        if finished:
            client.call(END, report=report, finished_s=gpu.finished_s)
            return
        reply = client.call(EXTEND, report=report)
    client.call(END, report=None, finished_s=None)


def _report(gpu: Gpu, loader: Loader) -> dict[str, Any]:
    """What there is to know since the last report, with the checkpoint."""
    spans, gpu.spans = gpu.spans, []
    lateness_s, gpu.lateness_s = gpu.lateness_s, []
    return {
        "steps": gpu.steps,
        "begun": gpu.begun,
        "spans": spans,
        "lateness_s": lateness_s,
        "loader": asdict(loader.report()),
    }
