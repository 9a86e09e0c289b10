# SPDX-License-Identifier: Apache-2.0
"""The process of one peer with one number of threads: python -m race.worker OPTIONS, driven by race.py.

Speaks JSON, a line each way, on standard input and output. It loads its peer once, and forks for each row: the row's
memory is then its own, and whatever the row breaks ends with it.

    {"row": ...}    forks -> {"ready": ..., "memory": ..., "error": ..., "first": ..., "says": ...} or {"skip": reason}
    {"time": n}     in the fork: n calls -> {"times": [seconds, ...]}
    {"end": true}   the fork ends -> {"ended": status}
    {"roofline": n} -> {"flops": ..., "bytes": ..., "bf16": ...}, then {"ended": status}
    {"isas": true}  -> {"peaks": {instruction set: flop/s of one core}}, then {"ended": status}
"""
import json
import os
import sys
import time
import traceback

from race import layer_rows, peers


class Channel:
    """Lines of JSON. Read unbuffered, so that a fork leaves what comes after it to its parent."""

    def __init__(self):
        self.out = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)  # What libraries print goes to standard error.
        self.input = os.fdopen(0, "rb", buffering=0)

    def receive(self):
        line = self.input.readline()
        return json.loads(line) if line else None

    def send(self, **message):
        print(json.dumps(message), file=self.out, flush=True)


def memory(field):
    """VmRSS or VmHWM of this process, in bytes."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field + ":"))


def measure_first(run):
    """(seconds, bytes) of a first call; the bytes are what it takes at its peak beyond what was there before it."""
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")  # The peak starts again from here.
    before = memory("VmRSS")
    start = time.perf_counter()
    run.call()
    seconds = time.perf_counter() - start
    return seconds, max(0, memory("VmHWM") - before)


def times_of(runs, count):
    """Seconds of `count` calls of each, in turns."""
    times = [[] for _ in runs]
    for _ in range(count):
        for run, mine in zip(runs, times):
            start = time.perf_counter()
            run.call()
            mine.append(time.perf_counter() - start)
    return times


def serve_row(channel, peer_list, row):
    """One row in the fork: makes a Run of each commit of attn that this process holds, or of its one peer."""
    data = row.inputs()
    runs = []
    for peer in peer_list:
        try:
            method = getattr(peer, row.kind, None)
            if method is None:
                raise peers.Unsupported("has nothing of the kind")
            run = method(row, data)
            first, taken = measure_first(run)
        except peers.Unsupported as e:
            channel.send(skip=str(e))
            return
        runs.append(run)
    error = row.error(runs[0].result(), data)
    channel.send(ready=True, first=first, memory=taken, error=error, says=runs[0].says)
    while (message := channel.receive()) and "time" in message:
        channel.send(times=times_of(runs, message["time"]))


def main():
    channel = Channel()
    options = json.loads(sys.argv[1])
    try:
        members = [peers.make(options["peer"], {**options, **member}) for member in options["members"]]
    except peers.Unsupported as e:
        channel.send(missing=str(e))
        return
    except ImportError as e:
        channel.send(missing=f"not installed: {e}".splitlines()[0])
        return
    channel.send(about=members[0].about)
    while (message := channel.receive()) is not None:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                if "row" in message:
                    serve_row(channel, members, layer_rows.from_json(message["row"]))
                elif "roofline" in message:
                    flops, read = members[0].roofline(message["roofline"])
                    channel.send(flops=flops, bytes=read, bf16=members[0].bf16_peak())
                elif "isas" in message:
                    channel.send(peaks=members[0].peaks())
                elif "prepare" in message:
                    members[0].keep_expected(layer_rows.from_json(message["prepare"]))
                else:
                    members[0].export(message["export"])
                status = 0
            except Exception as e:  # whatever a peer throws: the row is lost, and the race goes on
                traceback.print_exc()
                channel.send(skip=(str(e).splitlines() or [type(e).__name__])[0][:160])
            finally:
                os._exit(status)  # without what libraries do at exit, which may hang after a fork
        _, status = os.waitpid(child, 0)
        channel.send(ended=status)


if __name__ == "__main__":
    main()
