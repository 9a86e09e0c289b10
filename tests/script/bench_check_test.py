# SPDX-License-Identifier: Apache-2.0
"""script/bench --check: what fails, judged on results made by hand; and the tables that the page is made of."""
import os
import sys
import unittest

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(REPOSITORY, "bench"))
from race import check, report  # noqa: E402

FULL = "attention 1x12x512x512x64 full f32 1"
LONG = "attention 1x4x8192x8192x64 full f32 1"
WINDOW = "attention 1x4x8192x8192x64 window f32 1"
DECODE = "attention 1x32/8x1x32768x128 full f32 1"


def timed(seconds, **more):
    return {"min": seconds, "p10": seconds, "median": 1.1 * seconds, "rounds": 20, "memory": 2_000_000, "error": 1e-7, "says": "", **more}


def entry(key, flops=1e9, seconds=0.01, bytes_read=0.0, group="core", **peers):
    return {"row": {"group": group, "threads": 1, "mask": "full", "dtype": "f32"}, "key": key, "name": key.split()[1],
            "flops": flops, "bytes": bytes_read, "peers": {"attn": timed(seconds), **peers}}


def measured(*entries, kind="avx2-amd"):
    return {"machine": {"kind": kind}, "peaks_by_isa": {}, "peaks": {"1": {"flops": 100e9, "bytes": 10e9, "bf16": 0}}, "rows": list(entries)}


class Limits(unittest.TestCase):
    def failures(self, *entries, **more):
        return check.failures(measured(*entries, **more), True)

    def test_share_of_peak(self):
        # 1 Gflop in 10 ms on a core of 100 GF/s is all of the peak.
        self.assertEqual(self.failures(entry(FULL)), [])
        self.assertEqual(self.failures(entry(FULL, seconds=0.01 / 0.57)), [])
        self.assertEqual(self.failures(entry(FULL, seconds=0.01 / 0.55)), [(FULL, "share 55, expected at least 56")])
        # Another instruction set, another limit.
        self.assertEqual(len(self.failures(entry(FULL, seconds=0.01 / 0.78), kind="avx512-intel")), 1)
        self.assertEqual(self.failures(entry(FULL, seconds=0.01 / 0.78), kind="other-other"), [])

    def test_time_over_that_of_another_row(self):
        full, window = entry(LONG, flops=32e9, seconds=0.32), entry(WINDOW, flops=1e9, seconds=0.013)
        self.assertEqual(self.failures(full, window), [])
        window = entry(WINDOW, flops=1e9, seconds=0.015)
        self.assertEqual(self.failures(full, window), [(WINDOW, f"slowdown over {LONG} 1.5, expected at most 1.4")])
        self.assertEqual(self.failures(window), [], "without the other row there is nothing to compare with")

    def test_bandwidth(self):
        self.assertEqual(self.failures(entry(DECODE, seconds=0.1, bytes_read=0.8e9)), [])
        self.assertEqual(len(self.failures(entry(DECODE, seconds=0.1, bytes_read=0.7e9))), 1)

    def test_time_over_that_of_a_peer(self):
        key = "matmul 512x384x1536 1"
        self.assertEqual(self.failures(entry(key, onednn=timed(0.0095))), [])
        self.assertEqual(len(self.failures(entry(key, onednn=timed(0.0085)))), 1)
        self.assertEqual(self.failures(entry(key, onednn={"skip": "not installed"})), [])

    def test_commit_before(self):
        self.assertEqual(self.failures(entry("attention x", previous=timed(0.0096))), [])
        self.assertEqual(self.failures(entry("attention x", previous=timed(0.0090))), [("attention x", "10.000 ms, the commit before took 9.000 ms")])

    def test_wrong_results_always_fail(self):
        wrong = entry(FULL)
        wrong["peers"]["attn"] = {"skip": "WRONG: relative error 1.0e-01", "wrong": True}
        self.assertEqual(check.failures(measured(wrong), False), [(FULL, "WRONG: relative error 1.0e-01")])
        self.assertEqual(check.failures(measured(entry(FULL, seconds=1)), False), [], "speed is judged only if asked")

    def test_every_limit_makes_sense(self):
        for limit in check.limits():
            self.assertIn(limit["metric"], ("share", "bandwidth", "slowdown", "over_peer"))
            self.assertEqual("over" in limit, limit["metric"] in ("slowdown", "over_peer"), limit)
            self.assertTrue(limit["fail"], limit)
            for name, bound in limit["fail"].items():
                for kind, reach in limit["reach"].items():
                    if kind.startswith(name):
                        self.assertGreater(reach if limit["metric"] in check.AT_LEAST else bound, 0)
                        is_nearer = reach >= bound if limit["metric"] in check.AT_LEAST else reach <= bound
                        self.assertTrue(is_nearer, f"{limit}: what is to be reached is beyond what fails")


class Tables(unittest.TestCase):
    def test_peers_stand_beside_attn(self):
        rows = [entry(FULL, torch=timed(0.02), jax={"skip": "not installed"}), entry(LONG, torch=timed(0.08))]
        text = report.tables("forward", measured(*rows))
        header = next(line for line in text.splitlines() if line.startswith("| row"))
        self.assertEqual([cell.strip() for cell in header.strip("|").split("|")],
                         ["row", "mask", "attn: ms (median)", "GF/s", "of the peak", "MB", "PyTorch"])
        self.assertIn("| 10.0 (11.0) | 100.0 | 100 %", text)
        self.assertIn("PyTorch 4.00", text)  # the geometric mean of 2 and 8
        self.assertIn("- JAX is left out of 1 row: not installed", text)


if __name__ == "__main__":
    unittest.main()
