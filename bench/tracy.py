"""Tracy, as rows of bench/run's table of fib. Its sources are a part of Debian's source package mumble."""

import os
import re
import socket

from measure import Failed, Variant, run, say

SCRIPTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "scripts")
SUITE = "trixie"  # the mumble of the release before has no Tracy
# Zones only, as dwell has calls only, and no packets to other machines.
FLAGS = ["-x", "c++", "-O2", "-DTRACY_ENABLE", "-DTRACY_NO_SYSTEM_TRACING", "-DTRACY_ONLY_LOCALHOST",
         "-DTRACY_NO_BROADCAST", "-include", "tracy/Tracy.hpp", "-DENTER=ZoneScoped"]
# Starts the capture, which waits for the program; then the program, which waits for the capture to have all zones.
CAPTURED = '"$0" -f -o fib.tracy -p "$TRACY_PORT" >said & "$@" && wait $!'


def place(build_dir):
    return os.path.join(build_dir, "debian")


def fetch(build_dir):
    say("fetching Tracy, in Debian's mumble")
    run([os.path.join(SCRIPTS, "fetch-projects"), place(build_dir), SUITE, "mumble"], build_dir)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def check_zones(folder, calls):
    """Fails unless the capture has a zone of each call."""
    with open(os.path.join(folder, "said"), encoding="utf-8") as file:
        zones = re.search(r"Zones: ([\d,]+)", file.read())
    if not zones or int(zones.group(1).replace(",", "")) != calls:
        raise Failed(f"captured {zones.group(1) if zones else 'no'} zones of {calls:,} calls")


def variants(bench, n, calls):
    """The rows of fib(n): with no capture connected, and with one that writes a file."""
    top = os.path.join(place(bench.build_dir), "mumble", "3rdparty", "tracy")
    unix = os.path.join(top, "capture", "build", "unix")
    capture = os.path.join(unix, "capture-release")
    program = None
    missing = None if os.path.exists(os.path.join(place(bench.build_dir), ".complete")) else "not installed"
    try:
        if not missing:
            client = os.path.join(top, "public", "TracyClient.cpp")
            program = bench.compile("fib-tracy", ["fib.c", client], FLAGS + ["-I" + os.path.join(top, "public")],
                                    "g++", ["-pthread", "-ldl"])
        if not missing and not os.path.exists(capture):
            say("compiling Tracy's capture")
            run(["make", "-C", unix, "TRACY_NO_LTO=1", "release"], bench.build_dir)
    except (Failed, OSError) as error:
        missing = f"not built: {error}"
    return {
        "tracy": Variant("Tracy, nothing connected", [program, str(n)], bench.shm, missing=missing),
        "tracy captured": Variant("Tracy, captured, to /dev/shm",
                                  ["timeout", "600", "sh", "-c", CAPTURED, capture, program, str(n)], bench.shm,
                                  env={"TRACY_NO_EXIT": "1", "TRACY_PORT": free_port()}, missing=missing,
                                  count=lambda folder: check_zones(folder, calls)),
    }
