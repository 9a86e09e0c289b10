# SPDX-License-Identifier: Apache-2.0
"""script/bench, once its programs and packages are there: python -m race VERB [--quick] [--check] ..."""
import argparse
import json
import math
import os
import sys

from race import check, grid, machine, report
from race.race import Died, ProgressBar, Team, race
from race.layer_rows import to_json

# Seconds that one row may take; a whole `forward` then stays under 25 minutes.
BUDGET = {"core": 16, "masks": 10, "heads": 6, "dtypes": 8, "short": 5, "lengths": 3, "matmul": 4, "minilm": 20, "backward": 12,
          "few rows": 4, "training": 20}
QUICK = 4


def arguments():
    parser = argparse.ArgumentParser(prog="script/bench")
    parser.add_argument("verb", choices=[*grid.VERBS, "all"], nargs="?", default="all")
    parser.add_argument("--quick", action="store_true", help="a few rows, in under three minutes; writes no page")
    parser.add_argument("--check", action="store_true", help="fail where attn is slower than the limits, or than the commit before")
    parser.add_argument("--race", metavar="LIBRARY.so", help="let a library with the functions of race/peers/foreign.py take part")
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--cache", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--model", default="", help=argparse.SUPPRESS)
    parser.add_argument("--previous", default="", help=argparse.SUPPRESS)
    return parser.parse_args()


def prepare_encoders(team, rows):
    """What the rows of the encoder need from PyTorch: the right results, and the exported model. Without PyTorch the
    results are not compared, and peers that read the exported model are left out."""
    encoder_rows = {row.name: row for row in rows if row.kind == "encoder"}
    if not encoder_rows:
        return
    try:
        worker = team.get("bert", 1)
        if worker.missing:
            return
        os.environ["BENCH_CACHE"] = team.options["cache"]
        for row in encoder_rows.values():
            if not os.path.exists(row.expected_path()) and "ended" not in worker.ask(prepare=to_json(row)):
                worker.receive()
        if not os.path.exists(team.options["exported"]) and "ended" not in worker.ask(export=team.options["exported"]):
            worker.receive()
    except Died:
        team.forget(team.workers["bert", 1])


def measure(team, verb, rows, is_quick):
    """The results of all rows of a verb, and of the machine between them."""
    bar, peaks, results = ProgressBar(len(rows), verb), machine.Peaks(team), []
    for row in rows:
        bar.show(f"{row.group} {row.name} {getattr(row, 'mask', '')} {row.dtype}, {row.threads} thread{'s' * (row.threads > 1)}")
        peaks.measure(row.threads)
        found = race(team, row, QUICK if is_quick else BUDGET[row.group])
        results.append({"row": to_json(row), "key": row.key, "name": row.name, "flops": row.flops,
                        "bytes": getattr(row, "bytes", 0), "peers": found})
        bar.row_done(row, found)
    bar.close()
    return {"machine": machine.describe(peaks.isa), "peaks": peaks.best, "peaks_by_isa": peaks.by_isa, "versions": team.versions(), "rows": results}


def try_again(team, rows, measured, is_quick):
    """Rows that fail are raced twice more: of what is slow by itself the best of three times is slow, too."""
    for _ in range(2):
        failing = {key for key, _ in check.failures(measured, True)}
        for row, entry in zip(rows, measured["rows"]):
            if row.key not in failing:
                continue
            for name, found in race(team, row, QUICK if is_quick else BUDGET[row.group]).items():
                if found.get("min", math.inf) < entry["peers"][name].get("min", 0):
                    entry["peers"][name] = found


def run(options, log):
    verbs = list(grid.VERBS) if options.verb == "all" else [options.verb]
    settings = {"build": options.build, "cache": options.cache, "library": os.path.join(options.build, "attn_bench.so"),
                "model": options.model, "exported": os.path.join(options.cache, "minilm.onnx"), "race": options.race}
    team = Team(settings, log, check.usable(options.previous) if options.check else None)
    failures = []
    try:
        for verb in verbs:
            if verb == "minilm" and not options.model:
                print("script/bench: minilm is left out, since the model is not there", file=sys.stderr)
                continue
            rows = grid.rows_of(verb, options.quick, bool(options.race))
            if options.check:
                rows = check.wanted(rows, options.quick)
            prepare_encoders(team, rows)
            measured = measure(team, verb, rows, options.quick)
            if options.check:
                try_again(team, rows, measured, options.quick)
            failures += check.failures(measured, options.check)
            if options.quick or options.check:
                print(report.tables(verb, measured))
            else:
                with open(os.path.join(options.cache, f"{verb}.json"), "w", encoding="utf-8") as file:
                    json.dump(measured, file, indent=1)
                report.write(options.cache)
    finally:
        team.close()
    for key, sentence in failures:
        print(f"script/bench: {key}: {sentence}", file=sys.stderr)
    return 1 if failures else 0


def main():
    options = arguments()
    os.makedirs(options.cache, exist_ok=True)
    with open(os.path.join(options.cache, "workers.log"), "w", encoding="utf-8") as log:
        return run(options, log)


if __name__ == "__main__":
    sys.exit(main())
