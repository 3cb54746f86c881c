"""Builds one network with Mininet, waits, and removes it.

Runs with the system's Python, whose package Mininet is, in a namespace of its own: that is
Mininet's root namespace, where its bridges stand. Reads {"hosts", "switches", "links": [[a, b,
Mbit/s], ...], "stp"} as a line of JSON, and writes one when the network stands ({"build_s",
"hosts": {name: {"pid", "address"}}}) and one when it is gone ({"remove_s"}), for which it waits
until a line or the end of its input.
"""

from __future__ import annotations

import json
import sys
import time

from mininet.link import TCLink
from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.nodelib import LinuxBridge
from mininet.topo import Topo


def main() -> None:
    """One network."""
    asked = json.loads(sys.stdin.readline())
    setLogLevel("warning")
    # Mininet raises limits of the whole machine at its start (fs.file-max, kernel.pty.max, ...),
    # and leaves them so; a network of this size does not need them.
    Mininet.inited = True
    topology = Topo()
    for host in asked["hosts"]:
        topology.addHost(host)
    for switch in asked["switches"]:
        topology.addSwitch(switch, stp=asked["stp"])
    for a, b, megabits in asked["links"]:
        topology.addLink(a, b, bw=megabits)
    began_s = time.monotonic()
    network = Mininet(topology, switch=LinuxBridge, controller=None, link=TCLink)
    try:
        network.start()
        build_s = time.monotonic() - began_s
        hosts = {host.name: {"pid": host.pid, "address": host.IP()} for host in network.hosts}
        print(json.dumps({"build_s": build_s, "hosts": hosts}), flush=True)
        sys.stdin.readline()
    finally:
        began_s = time.monotonic()
        network.stop()
        remove_s = time.monotonic() - began_s
    print(json.dumps({"remove_s": remove_s}), flush=True)


if __name__ == "__main__":
    main()
