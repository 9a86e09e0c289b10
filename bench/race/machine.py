# SPDX-License-Identifier: Apache-2.0
"""What the figures were measured on, and the most that it can do."""
import datetime
import os
import platform
import re
import subprocess


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def cpuinfo(field):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        match = re.search(rf"(?m)^{field}\s*: (.*)$", file.read())
    return match.group(1) if match else ""


def kind(isa):
    """The column of limits.json that this machine is judged by: the instruction set that attn takes, and the maker."""
    isa = "avx512" if isa in ("amx", "avx512_bf16") else isa
    return isa + "-" + {"GenuineIntel": "intel", "AuthenticAMD": "amd"}.get(cpuinfo("vendor_id"), "other")


def describe(isa):
    caches = output_of("lscpu")
    return {
        "processor": f"{cpuinfo('model name')}, family {cpuinfo('cpu family')}, model {cpuinfo('model')}",
        "kind": kind(isa),
        "cores": len(os.sched_getaffinity(0)),
        "caches": ", ".join(f"{name} {size}" for name, size in re.findall(r"(?m)^(L\S+) cache:\s+(\S+ \S+)", caches)),
        "system": f"{platform.freedesktop_os_release()['PRETTY_NAME']}, Linux {platform.release()}",
        "compiler": output_of("c++", "--version").splitlines()[0],
        "python": platform.python_version(),
        "commit": output_of("git", "describe", "--always", "--dirty"),
        "date": datetime.date.today().isoformat(),
    }


class Peaks:
    """The best rates seen in a run. Measured again before every row, since a shared machine has better and worse moments.

    best    by number of threads: {"1": {"flops", "bytes", "bf16"}, ...}
    by_isa  flop/s of one core: {"avx2": ..., "baseline": ...}
    """

    def __init__(self, team):
        self.team, self.best = team, {}
        worker = self.worker(1)
        self.isa = worker.about
        self.by_isa = worker.ask(isas=True)["peaks"]
        worker.receive()

    def worker(self, threads):
        worker = self.team.get("attn", threads)
        if worker.missing:
            raise SystemExit(f"script/bench: attn itself cannot be measured: {worker.missing}")
        return worker

    def measure(self, threads):
        worker = self.worker(threads)
        for count in sorted({1, threads}):
            seen = worker.ask(roofline=count)
            worker.receive()
            best = self.best.setdefault(str(count), {"flops": 0, "bytes": 0, "bf16": 0})
            for name in best:
                best[name] = max(best[name], seen[name])
