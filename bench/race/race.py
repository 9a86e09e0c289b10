# SPDX-License-Identifier: Apache-2.0
"""Interleaved timing: every peer in a process of its own, one call after the other, round by round."""
import json
import os
import select
import subprocess
import sys
import time

from race import layer_rows, rows
from race.peers import title_of

# A round lets each peer work for about so long, in one or more calls.
BURST = 0.02
# Threads that spin after their work must have gone to sleep before somebody else is timed.
PAUSE = {1: 0.0, 2: 0.015}
# A peer this much slower than attn takes part in every third round only.
SLOW = 2.5
PATIENCE = 900


class Died(Exception):
    """A worker that ended, or that did not answer."""


def environment(peer, threads, cache):
    """What makes libraries use so many threads and no more."""
    counts = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BENCH_THREADS")
    result = {**os.environ, **{name: str(threads) for name in counts}, "BENCH_CACHE": cache, "PYTHONWARNINGS": "ignore",
              "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}
    if peer == "openblas":
        # OpenBLAS knows processors by name; one that is newer than it would get a kernel of long ago.
        result.pop("OPENBLAS_L2_SIZE", None)
        result["OPENBLAS_CORETYPE"] = openblas_kernel()
    return result


def openblas_kernel():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        text = file.read()
    if " avx512f" in text:
        return "SkylakeX"
    return "Zen" if "AuthenticAMD" in text else "Haswell"


class Worker:
    def __init__(self, peer, threads, members, options, log):
        self.peer, self.threads, self.members = peer, threads, [member["peer"] for member in members]
        arguments = {**options, "peer": peer, "threads": threads, "members": members}
        self.process = subprocess.Popen([sys.executable, "-B", "-m", "race.worker", json.dumps(arguments)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, bufsize=0,
                                        env=environment(peer, threads, options["cache"]))
        self.waiting = b""
        hello = self.receive()
        self.missing, self.about = hello.get("missing"), hello.get("about")

    def receive(self):
        end = time.monotonic() + PATIENCE
        while b"\n" not in self.waiting:
            if not select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                self.process.kill()
                raise Died("did not answer")
            chunk = self.process.stdout.read(65536)
            if not chunk:
                raise Died("its process ended")
            self.waiting += chunk
        line, _, self.waiting = self.waiting.partition(b"\n")
        return json.loads(line)

    def ask(self, **message):
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
        except OSError:
            raise Died("its process ended") from None
        return self.receive()

    def finish(self):
        """Ends the fork of a row."""
        return self.ask(end=True)

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Team:
    """The workers, each started when it is first wanted."""

    def __init__(self, options, log, previous=None):
        self.options, self.log, self.previous, self.workers = options, log, previous, {}

    def get(self, peer, threads):
        if (peer, threads) not in self.workers:
            members = [{"peer": peer, "library": self.options.get("library")}]
            if peer == "attn" and self.previous:
                members.append({"peer": "previous", "library": self.previous})
            self.workers[peer, threads] = Worker(peer, threads, members, self.options, self.log)
        return self.workers[peer, threads]

    def forget(self, worker):
        worker.process.kill()
        self.workers = {key: w for key, w in self.workers.items() if w is not worker}

    def versions(self):
        return {w.peer: w.about for w in self.workers.values() if w.about}

    def close(self):
        for worker in self.workers.values():
            worker.close()


class Entry:
    """One peer in the race of one row."""

    def __init__(self, worker, ready):
        self.worker, self.ready = worker, ready
        self.calls = max(1, min(25, int(BURST / max(ready["first"], 1e-6))))
        self.times = {name: [] for name in worker.members}
        self.rounds = 0

    def play(self):
        time.sleep(PAUSE.get(self.worker.threads, PAUSE[2]))
        for name, times in zip(self.times, self.worker.ask(time=self.calls)["times"]):
            self.times[name] += times
        self.rounds += 1
        self.calls = max(1, min(50, int(BURST / self.fastest())))

    def fastest(self):
        """Seconds of the fastest call so far; the first one, which warms up, counts only while there is no other."""
        return min(map(min, self.times.values())) if self.rounds else self.ready["first"]

    def result(self, name):
        times = sorted(self.times[name]) or [self.ready["first"]]
        return {"min": times[0], "p10": times[len(times) // 10], "median": times[len(times) // 2], "rounds": max(1, self.rounds),
                **{x: self.ready[x] for x in ("memory", "error", "says")}}


def enter(team, name, row, results):
    """The entry of a peer, checked against the reference; None with the reason in `results` when it has none."""
    try:
        worker = team.get(name, row.threads)
        if worker.missing:
            results[name] = {"skip": worker.missing}
            return None
        ready = worker.ask(row=layer_rows.to_json(row))
    except Died as e:
        results[name] = {"skip": str(e)}
        if (name, row.threads) in team.workers:
            team.forget(team.workers[name, row.threads])
        return None
    if "ready" not in ready:
        if "ended" not in ready:
            worker.receive()
        results[name] = {"skip": ready.get("skip", "its process ended without a word")}
        return None
    if ready["error"] is not None and not ready["error"] <= rows.TOLERANCE[row.dtype]:
        worker.finish()
        results[name] = {"skip": f"WRONG: relative error {ready['error']:.1e}", "wrong": True}
        return None
    return Entry(worker, ready)


def race(team, row, budget, least=5, most=20):
    """The results of every peer of a row. Rounds go on until there are `most`, or the seconds of `budget` are over and
    there are `least`."""
    results, entries = {}, {}
    for name in ("attn", *row.peers):
        entry = enter(team, name, row, results)
        if entry:
            entries[name] = entry
    end, turn = time.monotonic() + budget, 0
    # A first call of so many seconds has been spent on the work, not on warming up: it says enough by itself.
    playing = {name: e for name, e in entries.items() if e.ready["first"] < 4 * budget}
    while playing and turn < most and (turn < least or time.monotonic() < end):
        pace = min(e.fastest() for e in playing.values())
        for name, entry in list(playing.items()):
            if turn and (entry.fastest() > 0.6 * budget or (turn % 3 and entry.fastest() > SLOW * pace)):
                continue
            try:
                entry.play()
            except (Died, KeyError) as e:
                results[name] = {"skip": f"failed while it was timed: {e}"}
                team.forget(entry.worker)
                del playing[name], entries[name]
        turn += 1
    for name, entry in entries.items():
        try:
            entry.worker.finish()
        except Died:
            team.forget(entry.worker)
        for member in entry.times:
            results[member] = entry.result(member)
    return results


class ProgressBar:
    """One line on standard error that is drawn over again; where that is no terminal, a line a row."""

    def __init__(self, total, label):
        self.total, self.label, self.start, self.done = total, label, time.monotonic(), 0
        self.is_terminal = sys.stderr.isatty()

    def show(self, what):
        passed = time.monotonic() - self.start
        if self.is_terminal:
            filled = 24 * self.done // max(1, self.total)
            left = f", {passed / self.done * (self.total - self.done):.0f} s left" if self.done else ""
            sys.stderr.write(f"\r\x1b[K{self.label} [{'#' * filled}{'.' * (24 - filled)}] {self.done} of {self.total}{left}  {what}"[:150])
        else:
            sys.stderr.write(f"{self.label} {self.done + 1}/{self.total} ({passed:.0f} s): {what}\n")
        sys.stderr.flush()

    def row_done(self, row, results):
        self.done += 1
        if not self.is_terminal:
            fastest = {title_of(name): f"{r['min'] * 1e3:.2f} ms" for name, r in results.items() if "min" in r}
            sys.stderr.write("    " + ", ".join(f"{name} {t}" for name, t in fastest.items()) + "\n")

    def close(self):
        if self.is_terminal:
            sys.stderr.write("\r\x1b[K")
