"""A counted job fitted: what each of its ranks sends to whom, and whether all counts agree."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from profiler.demand_fit.fit import fit_series
from profiler.demand_fit.pattern import Estimate, PatternFit
from profiler.network.emulated_hosts import CountedJob, HostCount, iteration_lengths_s
from profiler.network.rank_demand import RankFit, SeenIteration, iteration_of
from traces.errors import BadInputError
from traces.formats.packet_series import PacketOptions, read_packets
from traces.load_series import LoadSeries

_NO_TRANSFER = 0.02
"""Of what a rank sends: less than this to another is the library's own talk, and no transfer."""


@dataclass(frozen=True)
class FittedHost:
    """counted_bytes: of the job's data in an iteration. port_bytes, packet_bytes: with the
    acknowledgements of what it receives, by the port's counters and by packets.

    fit: of the data by the counters; None for a rank that sends nothing.
    """

    server: str
    counted_bytes: float
    port_bytes: float
    packet_bytes: float
    fit: PatternFit | None

    @property
    def disagreement(self) -> float:
        """Of the packets from the counters, as a share of these."""
        return self.packet_bytes / self.port_bytes - 1 if self.port_bytes else 0.0


@dataclass(frozen=True)
class FittedJob:
    """timer: the job's own iteration time; usual_s: its mean without the iterations that the fits
    left out. seen: the iteration as its ranks' bytes tell it."""

    counted: CountedJob
    timer: Estimate
    usual_s: float
    hosts: tuple[FittedHost, ...]
    seen: SeenIteration

    @property
    def period_error(self) -> float:
        """Of the fitted period from the job's own timer over the same iterations, as a share."""
        return self.seen.period_s / self.usual_s - 1


def fit_job(counted: CountedJob) -> FittedJob:
    """Fit what ``counted`` sent in its iterations. Raises BadInputError where nothing repeats."""
    lengths_s = iteration_lengths_s(counted.iterations)
    if len(lengths_s) < 2:
        raise BadInputError(
            f"only {len(counted.iterations)} iterations count", allowed="more --iterations"
        )
    about_s = statistics.median(lengths_s)
    hosts, ranks = [], []
    for rank, host in enumerate(counted.hosts):
        sent = _of_iterations(counted, host.sent)
        packets = _packets(counted, host, None)
        pairs = list(_by_receiver(counted, host))
        total = math.fsum(float(np.nansum(series.sent_bytes)) for _, series in pairs)
        large = [
            (receiver, series)
            for receiver, series in pairs
            if float(np.nansum(series.sent_bytes)) > _NO_TRANSFER * total
        ]
        fit = _fit(host, sent, about_s) if large else None
        if fit is not None and len(large) == 1:
            ranks.append(RankFit(rank, fit, ({large[0][0]: 1.0},) * len(fit.phases)))
        elif fit is not None:
            for receiver, series in large:
                own = _fit(host, series, about_s)
                ranks.append(RankFit(rank, own, ({receiver: 1.0},) * len(own.phases)))
        hosts.append(
            FittedHost(
                server=host.server,
                counted_bytes=float(np.nansum(sent.sent_bytes)) / len(lengths_s),
                port_bytes=_total(_of_iterations(counted, host.port_sent)) / len(lengths_s),
                packet_bytes=_total(packets) / len(lengths_s),
                fit=fit,
            )
        )
    if not ranks:
        raise BadInputError("no rank sends anything", allowed="a job whose ranks communicate")
    return FittedJob(
        counted=counted,
        timer=Estimate.of_mean(lengths_s),
        usual_s=_usual_s(counted, [rank.fit for rank in ranks]),
        hosts=tuple(hosts),
        seen=iteration_of(ranks, counted.job.rate_bps, counted.iterations[0].end_s),
    )


def _fit(host: HostCount, series: LoadSeries, about_s: float) -> PatternFit:
    try:
        return fit_series(series, about_s).longest
    except BadInputError as error:
        raise BadInputError(f"{host.server}: {error.problem}", allowed=error.allowed) from None


def _by_receiver(counted: CountedJob, host: HostCount) -> Iterator[tuple[int, LoadSeries]]:
    """(rank, what ``host`` sent to it), of all that it sent anything to."""
    for rank, other in enumerate(counted.hosts):
        if other is not host:
            series = _packets(counted, host, other)
            if series is not None:
                yield rank, series


def _packets(counted: CountedJob, host: HostCount, to: HostCount | None) -> LoadSeries | None:
    """On the monotonic clock, in the iterations that count; None where there are none."""
    options = PacketOptions(
        interval_s=counted.job.interval_s,
        sender=host.address,
        receiver=None if to is None else to.address,
    )
    try:
        series = read_packets(host.capture, options)
    except BadInputError:
        return None  # no packet of these two
    shift_s = (series.origin_unix_s or 0.0) - counted.unix_minus_monotonic_s
    return _of_iterations(counted, replace(series, edges_s=series.edges_s + shift_s))


def _of_iterations(counted: CountedJob, series: LoadSeries) -> LoadSeries:
    """From the end of the first iteration that counts to the end of the last."""
    return series.between(counted.iterations[0].end_s, counted.iterations[-1].end_s)


def _usual_s(counted: CountedJob, fits: Sequence[PatternFit]) -> float:
    """Mean iteration time by the timer, of those that no fit's outlier reaches into."""
    out = [
        (outlier.start_s, outlier.start_s + outlier.length_s)
        for fit in fits
        for outlier in fit.outliers
    ]
    ends_s = [span.end_s for span in counted.iterations]
    usual = [
        end_s - begin_s
        for begin_s, end_s in itertools.pairwise(ends_s)
        if not any(begin_s < out_end_s and out_begin_s < end_s for out_begin_s, out_end_s in out)
    ]
    return statistics.fmean(usual or iteration_lengths_s(counted.iterations))


def _total(series: LoadSeries | None) -> float:
    return 0.0 if series is None else float(np.nansum(series.sent_bytes))
