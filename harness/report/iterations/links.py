"""What a run did to its links, and what they did to packets: events and marks, as tables. Pure."""

from __future__ import annotations

import pandas as pd

from harness.report.html import Html, join, table, tag
from harness.report.iterations.data import RunData, Side
from harness.report.iterations.documents import ArmRead
from harness.report.iterations.figures.changes import event_words
from harness.report.iterations.figures.load import ALL_JOBS
from harness.report.words import listed, number, percent, port_name, seconds, sentence

EVENT_COLUMNS = ["Arm", "At", "Link", "Change", "Made after", "Predicted"]
MARK_COLUMNS = ["Arm", "Link", "Job", "Marked", "Packets", "Share"]


def events_table(run: RunData) -> Html:
    """One row for each event of each arm; empty where there is none."""
    rows = [
        [
            arm.name,
            seconds(event.at_s),
            event.link_name,
            event_words(event),
            seconds(event.made_after_s) if event.made else "not made",
            "yes" if event.simulated else "no",
        ]
        for arm in run.summary.arms
        for event in arm.events
    ]
    if not rows:
        return Html()
    return join(
        tag("h3", "Changes of links"),
        table("Changes of links", EVENT_COLUMNS, rows, "-n--n-"),
        tag(
            "p",
            "Made after: from the time at which a change was due to the end of the last command "
            "that made it, on the network where that took longest.",
            class_="remark",
        ),
    )


def marks(run: RunData) -> Html:
    """Marked packets by link and job of each measured arm with a threshold; empty without one."""
    side = run.measured
    arms = [arm for arm in run.summary.arms if arm.transport.ecn_threshold and arm.verdict]
    if side is None or not arms:
        return Html()
    found = {arm.name: _of_arm(side, arm) for arm in arms}
    rows = [
        [
            name,
            port_name(str(row["port"])),
            str(row["job"]),
            number(float(row["marked_packets"])),
            number(float(row["sent_packets"])),
            percent(row["marked_packets"] / row["sent_packets"]),
        ]
        for name, table_of in found.items()
        for _, row in table_of[table_of["marked_packets"] > 0].iterrows()
    ]
    return join(
        tag("h3", "Marked packets"),
        *(tag("p", _sentence(arm, found[arm.name]), class_="remark") for arm in arms),
        table("Marked packets by link and job", MARK_COLUMNS, rows, "---nnn") if rows else "",
    )


def _of_arm(side: Side, arm: ArmRead) -> pd.DataFrame:
    """Packets by port and job, of the ports that mark; a sum of nothing known is unknown."""
    rows = side.links[side.links["arm"] == arm.name]
    named = rows.assign(job=rows["job"].fillna(ALL_JOBS))
    by = named.groupby(["port", "job"], sort=False)[["marked_packets", "sent_packets"]]
    return by.sum(min_count=1).reset_index()


def _sentence(arm: ArmRead, of_arm: pd.DataFrame) -> str:
    threshold = f"{number((arm.transport.ecn_threshold or 0) / 1e3)} kB"
    if of_arm["marked_packets"].isna().all():
        return sentence(f"in arm {arm.name} nothing could mark packets above {threshold}")
    marking = of_arm[of_arm["marked_packets"] > 0]
    if marking.empty:
        return sentence(f"no port of arm {arm.name} had more than {threshold} waiting")
    links = listed([port_name(str(port)) for port in marking["port"].unique()], at_most=4)
    count = number(float(marking["marked_packets"].sum()))
    return sentence(f"in arm {arm.name} {count} packets found more than {threshold} at {links}")
