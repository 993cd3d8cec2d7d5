"""Runs a command, and prints how long it took to stderr, in seconds: from start to end, without the time in which it
was ready to run and had no processor. So other work on the machine matters less. bench/guard runs it below a recorder."""

import os
import sys
import time


def waited_for_processor(pid):
    """Seconds, of the process that has ended and was not waited for. Zero if the kernel does not count it."""
    try:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0


def main():
    begin = time.perf_counter()
    pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ,
                         file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    seconds = time.perf_counter() - begin - waited_for_processor(pid)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    print(f"own seconds {seconds:.6f}", file=sys.stderr)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
