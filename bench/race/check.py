# SPDX-License-Identifier: Apache-2.0
"""script/bench --check: limits.json, and the commit before."""
import dataclasses
import fnmatch
import json
import os

from race import native

LIMITS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "limits.json")
# What two builds of one commit have been seen to differ by, in the fastest of interleaved rounds.
SLOWER_THAN_BEFORE = 1.05
AT_LEAST = ("share", "bandwidth")


def limits():
    with open(LIMITS, encoding="utf-8") as file:
        return json.load(file)["limits"]


def of_machine(figures, kind):
    """The figure for this kind of machine, or for its instruction set; None if there is none."""
    return figures.get(kind, figures.get(kind.split("-")[0]))


def usable(path):
    """The library of the commit before, if it can be called as this one is."""
    if not path:
        return None
    library = native.Library(path)
    if library.has("abi") and library.abi() == native.ABI:
        return path
    print("script/bench: the commit before has other functions for the benchmark: not compared with it")
    return None


def wanted(rows, is_quick):
    """The rows that a limit is about, with the peers that it names only; in full also a row of each group besides, for
    the comparison with the commit before."""
    kept, groups = [], set()
    for row in rows:
        mine = [limit for limit in limits() if fnmatch.fnmatchcase(row.key, limit["key"])]
        is_base = any(limit.get("over") == row.key for limit in limits())
        if mine or is_base or (row.group not in groups and not is_quick):
            peers = tuple(limit["over"] for limit in mine if limit["metric"] == "over_peer")
            kept.append(dataclasses.replace(row, peers=peers))
            groups.add(row.group)
    return kept


def share_of_peak(entry, time, peaks):
    """Of one core's peak times the threads, in percent: that of f32 multiply-adds, or of products of bf16 where attn says
    that its kernel makes them."""
    in_bf16 = "of bf16" in entry["peers"]["attn"].get("says", "")
    return 100 * entry["flops"] / time / (peaks["1"]["bf16" if in_bf16 else "flops"] * entry["row"]["threads"])


def share_of_reading(entry, time, peaks):
    """Keys and values read once, of a streaming read by as many threads, in percent."""
    return 100 * entry["bytes"] / time / peaks[str(entry["row"]["threads"])]["bytes"]


def value_of(limit, entry, by_key, peaks):
    """What the row reached in the metric of the limit; None when something of it was not measured."""
    ours = entry["peers"].get("attn", {}).get("min")
    if ours is None:
        return None
    if limit["metric"] == "share":
        return share_of_peak(entry, ours, peaks)
    if limit["metric"] == "bandwidth":
        return share_of_reading(entry, ours, peaks)
    if limit["metric"] == "over_peer":
        peer = entry["peers"].get(limit["over"], {}).get("min")
        return peer and ours / peer
    base = by_key.get(limit["over"], {"peers": {}})
    other = base["peers"].get("attn", {}).get("min")
    return other and (ours / entry["flops"]) / (other / base["flops"])


def beyond_limits(measured):
    by_key = {entry["key"]: entry for entry in measured["rows"]}
    kind = measured["machine"]["kind"]
    for limit in limits():
        bound = of_machine(limit["fail"], kind)
        if bound is None:
            continue
        for entry in measured["rows"]:
            if not fnmatch.fnmatchcase(entry["key"], limit["key"]):
                continue
            value = value_of(limit, entry, by_key, measured["peaks"])
            if value is None:
                continue
            is_well = value >= bound if limit["metric"] in AT_LEAST else value <= bound
            if not is_well:
                word = "at least" if limit["metric"] in AT_LEAST else "at most"
                over = f" over {limit['over']}" if "over" in limit else ""
                yield entry["key"], f"{limit['metric']}{over} {value:.3g}, expected {word} {bound:g}"


def slower_than_before(measured):
    for entry in measured["rows"]:
        now, before = (entry["peers"].get(name, {}).get("min") for name in ("attn", "previous"))
        if now and before and now > SLOWER_THAN_BEFORE * before:
            yield entry["key"], f"{now * 1e3:.3f} ms, the commit before took {before * 1e3:.3f} ms"


def failures(measured, with_limits):
    """(key of a row, what is wrong with it): attn that is wrong or does not run, always; attn that is slow, if asked."""
    found = [(entry["key"], entry["peers"]["attn"]["skip"]) for entry in measured["rows"]
             if "skip" in entry["peers"].get("attn", {})]
    if with_limits:
        found += [*beyond_limits(measured), *slower_than_before(measured)]
    return found


def reach_of(key, kind):
    """The share that a row is to reach on this kind of machine; None where it is not said."""
    for limit in limits():
        if limit["metric"] in AT_LEAST and fnmatch.fnmatchcase(key, limit["key"]):
            return of_machine(limit["reach"], kind)
    return None
