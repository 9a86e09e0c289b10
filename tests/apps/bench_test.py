# SPDX-License-Identifier: Apache-2.0
"""attn bench: its counts can be checked by hand, its times only for sense; and every option that must be refused."""
import json
import unittest

from program import ProgramTest


class Bench(ProgramTest):
    def bench(self, *options):
        return json.loads(self.succeeds("bench", "--json", "--seconds", "0", "--threads", "1", *options).stdout)

    def test_counts(self):
        # 2 batches of 3 heads, 5 queries, 7 keys, dim 8; both products, two flops a multiply-add.
        pairs = 2 * 3 * 5 * 7
        full = self.bench("--shape", "2,3,5,7,8")
        self.assertEqual(full["flops"], 4 * pairs * 8)
        self.assertEqual(full["bytes"], 4 * 2 * 3 * (5 + 7 + 7 + 5) * 8)
        self.assertEqual(self.bench("--shape", "2,3,5,7,8", "--value-dim", "2")["flops"], 2 * pairs * (8 + 2))
        grouped = self.bench("--shape", "2,3,5,7,8", "--kv-heads", "1", "--dtype", "bf16")
        self.assertEqual(grouped["flops"], full["flops"])
        self.assertEqual(grouped["bytes"], 2 * 2 * (3 * 10 + 14) * 8)
        # The last query stands at the last key, so that the first of five sees three of seven.
        self.assertEqual(self.bench("--shape", "1,1,5,7,1", "--causal")["flops"], 4 * (3 + 4 + 5 + 6 + 7))
        self.assertEqual(self.bench("--shape", "1,1,5,7,1", "--window", "1,0")["flops"], 4 * 5 * 2)
        self.assertEqual(self.bench("--shape", "1,1,5,7,1", "--window", "inf,1")["flops"], 4 * (4 + 5 + 6 + 7 + 7))
        self.assertEqual(self.bench("--shape", "1,1,5,7,1", "--window", "0,inf", "--causal")["flops"], 4 * 5)
        # The first two of five queries stand before the first of three keys and see none.
        self.assertEqual(self.bench("--shape", "1,1,5,3,1", "--causal")["flops"], 4 * (0 + 0 + 1 + 2 + 3))

    def test_backward(self):
        forward = self.bench("--shape", "2,3,5,7,8", "--causal")
        backward = self.bench("--shape", "2,3,5,7,8", "--causal", "--backward")
        self.assertEqual(backward["flops"], 2.5 * forward["flops"])
        # q, k, v and their gradients, out and its gradient.
        self.assertEqual(backward["bytes"], 4 * 2 * 3 * 2 * (5 + 7 + 7 + 5) * 8)
        self.assertNotEqual(backward["kernel"], "")
        self.refuses(["bench", "--shape", "1,3,4,4,8", "--kv-heads", "2", "--backward"], "k: 2 heads, expected a divisor of q's 3")

    def test_rates_follow_from_the_times(self):
        result = self.bench("--shape", "1,2,64,64,32")
        self.assertGreaterEqual(result["runs"], 5)
        self.assertGreater(result["seconds"], 0)
        self.assertGreaterEqual(result["seconds_median"], result["seconds"])
        self.assertAlmostEqual(result["flops_per_second"] * result["seconds"] / result["flops"], 1)
        roofline = result["roofline"]
        memory = roofline["read_bytes_per_second"] * result["flops"] / result["bytes"]
        self.assertAlmostEqual(roofline["flops_per_second"] / min(roofline["fma_flops_per_second"], memory), 1)
        self.assertAlmostEqual(result["share"] * roofline["flops_per_second"] / result["flops_per_second"], 1)
        self.assertEqual(result["threads"], 1)
        self.assertNotEqual(result["kernel"], "")

    def test_report(self):
        text = self.succeeds("bench", "--shape", "1,1,8,8,8", "--seconds", "0", "--dtype", "f64").stdout.decode()
        self.assertEqual([line.split()[0] for line in text.splitlines()],
                         ["kernel", "scratch", "time", "speed", "roofline", "share"])
        self.assertEqual(self.succeeds("bench", "--shape", "1,1,8,8,8", "--seconds", "0", "--quiet").stdout, b"")

    def test_refuses(self):
        for shape in ("1", "1,2,3,4", "1,2,3,4,5,6", "1,2,3,4,0", "1,2,3,4,-5", "1,2,3,4,x", "1,2,3,4,5,", "1 2 3 4 5"):
            self.refuses(["bench", "--shape=" + shape], f'--shape: "{shape}", expected B,H,L,S,D')
        shape = ["bench", "--shape", "1,3,4,4,8"]
        self.refuses(["bench"], "--shape")
        self.refuses([*shape, "--kv-heads", "2"], "k: 2 heads, expected a divisor of q's 3")
        self.refuses([*shape, "--kv-heads", "0"], "--kv-heads")
        self.refuses([*shape, "--value-dim", "-1"], "--value-dim")
        self.refuses([*shape, "--dtype", "i8"], '--dtype: "i8", expected f32, f64, bf16 or f16')
        self.refuses([*shape, "--window", "1"], '--window: "1", expected LEFT,RIGHT')
        for seconds in ("-1", "nan", "3601", "x"):
            self.refuses([*shape, "--seconds=" + seconds], "--seconds")
        self.refuses(["bench", "--shape", "1,1,1,9223372036854775807,9223372036854775807"], "Tensor")

    def test_out_of_memory(self):
        result = self.attn("bench", "--shape", "1,1000,1000000,1000000,1000")
        self.assertEqual((result.returncode, result.stderr), (1, b"attn: out of memory\n"))


if __name__ == "__main__":
    unittest.main()
