# SPDX-License-Identifier: Apache-2.0
"""docs/benchmarks.md out of what the verbs have measured last."""
import json
import math
import os

from race import check, plots
from race.peers import PEERS, title_of

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "benchmarks.md")
IMAGES = os.path.join(ROOT, "docs", "images")
# Groups whose rows are bound by reading memory.
READING = ("short", "few rows")
ORDER = ("forward", "backward", "matmul", "minilm")

SECTIONS = {
    "core": ("Full and causal", "Self-attention in f32; shapes are batch x heads x queries x keys x dim."),
    "masks": ("Windows and masks", "A window of 256 keys, the query's own among them; a boolean mask that keeps three of four pairs; an "
              "additive one. Flops count the pairs that a causal or window row needs, and all pairs under masks given as arrays."),
    "heads": ("Grouped queries and head dims", "32 query heads on 8 of keys and values; then one row for each head dim."),
    "dtypes": ("bf16 and f16", "Stored in 16 bits, summed in f32."),
    "short": ("Few queries", "1 to 32 new queries after a long past, and one query over 32768 keys: bound by reading keys and values. "
              "\"Of the reading\" is the rate at which they are read, over that of a streaming read."),
    "lengths": ("Against length", "One head of dim 64."),
    "matmul": ("Matrix products of projections", "y = x W^T in f32, rows x inputs x outputs; the weight is packed beforehand where a "
               "library can."),
    "backward": ("Gradients", "Of q, k and v, the forward call made before; 2.5 times its flops."),
    "few rows": ("Matrix products of few rows", "Bound by reading the weight."),
    "training": ("A step of training", "An encoder, forward and backward, and AdamW; eager PyTorch beside it."),
    "minilm": ("A whole encoder", "all-MiniLM-L6-v2 in f32. attn is given the whole padded batch in every row; \"in 4 batches\" means that "
               "the peers' caller has sorted the texts by length. GF/s count no padding."),
}


def milliseconds(seconds):
    ms = seconds * 1e3
    return f"{ms:.3f}" if ms < 10 else f"{ms:.1f}" if ms < 1000 else f"{ms:.0f}"


def megabytes(count):
    return f"{count / 1e6:.2f}" if count < 1e7 else f"{count / 1e6:.0f}"


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def peers_of(entries):
    """Those that were timed in one of the rows at least, in the order of PEERS."""
    return [name for name in PEERS if name != "attn" and any("min" in e["peers"].get(name, {}) for e in entries)]


def line_of(entry, peers, measured):
    row, found = entry["row"], entry["peers"]
    ours = found["attn"]
    if "min" not in ours:
        return [entry["name"], row.get("mask", ""), ours["skip"]] + [""] * (len(peers) + 3)
    share = (check.share_of_reading if row["group"] in READING else check.share_of_peak)(entry, ours["min"], measured["peaks"])
    reach = check.reach_of(entry["key"], measured["machine"]["kind"])
    cells = [entry["name"], row.get("mask", ""), f"{milliseconds(ours['min'])} ({milliseconds(ours['median'])})",
             f"{entry['flops'] / ours['min'] / 1e9:.1f}", f"{share:.0f} %" + (f" of {reach}" if reach else ""), megabytes(ours["memory"])]
    for name in peers:
        time = found.get(name, {}).get("min")
        cells.append(f"{time / ours['min']:.2f}" if time else "-")
    return cells


def means(entries, peers):
    """A line of geometric means; of the best peer of each row too."""
    def ratios(names):
        for entry in entries:
            ours = entry["peers"]["attn"].get("min")
            times = [entry["peers"].get(name, {}).get("min") for name in names]
            times = [t for t in times if t]
            if ours and times:
                yield min(times) / ours

    by_peer = {title_of(name): list(ratios([name])) for name in peers}
    if len(peers) > 1:
        by_peer["the best peer of each row"] = list(ratios(peers))
    parts = [f"{title} {geometric_mean(found):.2f}" for title, found in by_peer.items() if found]
    return "Times of peers over attn's, geometric mean: " + ", ".join(parts) + ".\n" if parts else ""


def left_out(entries):
    """Why peers are absent: one line for each reason."""
    reasons = {}
    for entry in entries:
        for name, found in entry["peers"].items():
            if "skip" in found and name != "attn":
                reasons.setdefault((title_of(name), found["skip"]), []).append(entry["name"])
    return "".join(f"- {title} is left out of {len(names)} row{'s' * (len(names) > 1)}: {reason}\n" for (title, reason), names in reasons.items())


def section(group, threads, entries, measured):
    title, about = SECTIONS[group]
    peers = peers_of(entries)
    heading = f"### {title}, {threads} thread{'s' * (threads > 1)}\n"
    kind = "mask" if "mask" in entries[0]["row"] else ""
    if group in ("dtypes", "short", "backward"):
        entries = [{**e, "name": f"{e['name']} {e['row']['dtype']}"} for e in entries]
    header = ["row", kind, "attn: ms (median)", "GF/s", "of the reading" if group in READING else "of the peak", "MB", *map(title_of, peers)]
    rows = [line_of(entry, peers, measured) for entry in entries]
    if not kind:
        header.pop(1)
        rows = [[*row[:1], *row[2:]] for row in rows]
    return "\n".join(part for part in (heading, about + "\n", table(header, rows), means(entries, peers), left_out(entries)) if part)


def memory_table(entries):
    """Peak memory of every peer."""
    peers = peers_of(entries)
    rows = [[e["name"], e["row"]["mask"], *(megabytes(e["peers"][n]["memory"]) if "memory" in e["peers"].get(n, {}) else "-"
                                            for n in ("attn", *peers))] for e in entries]
    return "\n".join(["### Peak memory, MB, 1 thread\n", "What the first call takes beyond its inputs, its result and what it loads included.\n",
                      table(["row", "mask", "attn", *map(title_of, peers)], rows)])


def tables(verb, measured):
    groups = {}
    for entry in measured["rows"]:
        groups.setdefault((entry["row"]["group"], entry["row"]["threads"]), []).append(entry)
    parts = [section(group, threads, entries, measured) for (group, threads), entries in groups.items()]
    if ("core", 1) in groups:
        parts.append(memory_table(groups["core", 1]))
    return "\n".join(parts)


def machine_text(verb, measured):
    m, peaks = measured["machine"], measured["peaks"]
    rates = "; ".join(f"{threads} thread{'s' * (threads != '1')}: {p['flops'] / 1e9:.1f} GF/s in registers, {p['bytes'] / 1e9:.1f} GB/s streaming read"
                      for threads, p in sorted(peaks.items()))
    bf16 = peaks["1"]["bf16"]
    rates += "; one core by instruction set: " + ", ".join(f"{isa} {p / 1e9:.1f} GF/s" for isa, p in measured["peaks_by_isa"].items())
    rates += f"; products of bf16 {bf16 / 1e9:.1f} GF/s a core" if bf16 else "; no products of bf16"
    kernels = sorted({e["peers"]["attn"]["says"] for e in measured["rows"] if e["peers"]["attn"].get("says")})
    versions = ", ".join(f"{title_of(name)} {about}" for name, about in measured["versions"].items() if name != "attn")
    return "\n".join([
        f"- `script/bench {verb}`, {m['date']}, commit {m['commit']}",
        f"- {m['processor']}; {m['cores']} cores; {m['caches']}; instruction set of attn: {measured['versions'].get('attn')}",
        f"- {m['system']}; {m['compiler']}; Python {m['python']}",
        f"- measured in the same run, the best seen: {rates}",
        *([f"- kernels of attn: {'; '.join(kernels)}"] if kernels else []),
        f"- {versions}", ""])


INTRODUCTION = """# Benchmarks

`script/bench` has written this page; it is not edited by hand.

Every peer runs in a process of its own with the same number of threads and the same inputs, and its result is compared
with float64 before it is timed. Then all take turns, call by call, for up to 20 rounds: what disturbs the machine
disturbs all. Times are the fastest call, since noise only adds; the median stands beside it. A peer's column says how many times
as long as attn it took: above 1 attn is faster. The peak is that of multiply-adds that never leave the registers, of one core
times the threads, measured between the rows; "62 % of 62" means that 62 % is what attn is to reach on such a processor.
"""


def write(cache):
    """The page and its pictures, from the last results of each verb."""
    parts = [INTRODUCTION]
    for verb in ORDER:
        path = os.path.join(cache, f"{verb}.json")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            measured = json.load(file)
        parts += [f"## {verb}\n", machine_text(verb, measured)]
        if verb == "forward":
            os.makedirs(IMAGES, exist_ok=True)
            parts += [f"![{alt}](images/{name})\n" for name, alt in plots.draw(measured, IMAGES)]
        parts.append(tables(verb, measured))
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write("\n".join(parts))
    print(f"{os.path.relpath(PAGE)} is written")
