# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/benchmarks.md."""
import os

from race import check
from race.peers import title_of

OURS, COLOURS = "#1f5fa8", {"full": "#1f5fa8", "causal": "#2a9d6f", "window": "#c8552d"}
GREYS = ("#8c8c8c", "#b8a16a", "#7a9a7a", "#a07a9a", "#6f8fa8", "#b07f6f", "#9a9a5a")


def series(measured, mask, peer, value):
    """(lengths, values) of the rows of the length sweep."""
    points = [(e["row"]["shape"][2], value(e["peers"][peer])) for e in measured["rows"]
              if e["row"]["group"] == "lengths" and e["row"]["mask"] == mask and "min" in e["peers"].get(peer, {})]
    return [p[0] for p in points], [p[1] for p in points]


def name_length(n):
    return f"{n // 1024}k" if n >= 1024 else str(n)


def against_length(plt, measured, path, what, label, value):
    figure, axes = plt.subplots(figsize=(7, 4.6))
    lengths = set()
    for mask in ("full", "causal", "window"):
        for peer, style in (("attn", "o-"), ("torch", "s--")):
            x, y = series(measured, mask, peer, value)
            if not x:
                continue
            lengths |= set(x)
            kind = "window of 256" if mask == "window" else mask
            axes.plot(x, y, style, color=COLOURS[mask], alpha=1 if peer == "attn" else 0.5, markersize=4, label=f"{title_of(peer)}, {kind}")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sorted(lengths), [name_length(n) for n in sorted(lengths)])
    axes.minorticks_off()
    axes.set_xlabel("tokens (queries and keys)")
    axes.set_ylabel(label)
    axes.set_title(what)
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, fontsize=8)
    finish(plt, figure, path)


def share_of_peak(plt, measured, path):
    entries = [e for e in measured["rows"] if e["row"]["group"] == "core" and e["row"]["threads"] == 1 and "min" in e["peers"]["attn"]]
    peers = [name for name in ("attn", "torch", "ort-mha", "ort-attention", "onednn", "openblas", "jax")
             if any("min" in e["peers"].get(name, {}) for e in entries)]
    figure, axes = plt.subplots(figsize=(9, 4.6))
    width = 0.84 / max(1, len(peers))
    for i, name in enumerate(peers):
        at, shares = [], []
        for x, entry in enumerate(entries):
            if "min" in entry["peers"].get(name, {}):
                at.append(x - 0.42 + (i + 0.5) * width)
                shares.append(check.share_of_peak(entry, entry["peers"][name]["min"], measured["peaks"]))
        axes.bar(at, shares, width * 0.92, color=OURS if name == "attn" else GREYS[i % len(GREYS)], label=title_of(name))
    labels = [f"{e['row']['shape'][1]} x {e['row']['shape'][2]} x {e['row']['shape'][4]}\n{e['row']['mask']}" for e in entries]
    axes.set_xticks(range(len(entries)), labels, fontsize=8)
    axes.set_xlabel("heads x tokens x dim")
    axes.set_ylabel("% of the multiply-add peak of one core")
    axes.set_ylim(0, 100)
    axes.set_title("Share of peak, f32, one thread")
    axes.grid(axis="y", alpha=0.25)
    axes.legend(frameon=False, fontsize=8, ncols=4)
    finish(plt, figure, path)


def finish(plt, figure, path):
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def draw(measured, folder):
    """Draws what there are results for; gives (file name, what it shows) of each picture."""
    try:
        import matplotlib
    except ImportError:
        return []
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "attn"  # The same picture for the same numbers.
    import matplotlib.pyplot as plt
    drawn = []
    groups = {e["row"]["group"] for e in measured["rows"]}
    if "lengths" in groups:
        where = "One head of dim 64, f32, 2 threads"
        for name, title, label, value in (
                ("bench-time.svg", "Time against length", "seconds", lambda r: r["min"]),
                ("bench-memory.svg", "Peak memory against length", "MB beyond the inputs", lambda r: max(r["memory"], 4096) / 1e6)):
            against_length(plt, measured, os.path.join(folder, name), f"{title}: {where[0].lower() + where[1:]}", label, value)
            drawn.append((name, title))
    if "core" in groups:
        share_of_peak(plt, measured, os.path.join(folder, "bench-share.svg"))
        drawn.append(("bench-share.svg", "Share of peak"))
    return drawn
