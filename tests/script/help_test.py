# SPDX-License-Identifier: Apache-2.0
"""Every script tells what it does when it is asked, and does nothing else; without a network one sentence says so."""
import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "script"


class Help(unittest.TestCase):
    def test_every_script_has_help(self):
        scripts = [path for path in sorted(SCRIPTS.iterdir()) if path.is_file() and os.access(path, os.X_OK)]
        self.assertGreater(len(scripts), 15)
        for script in scripts:
            with self.subTest(script.name):
                result = subprocess.run([script, "--help"], capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                head = script.read_text(encoding="utf-8").splitlines()[2].lstrip('#" ')
                self.assertEqual(result.stdout.splitlines()[0], head)

    def test_no_network(self):
        for command in (["fetch-model"], ["data", "reviews"]):
            with self.subTest(command), tempfile.TemporaryDirectory() as cache:
                environment = {**os.environ, "ATTN_CACHE": cache, "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0"}
                environment.pop("ATTN_MINILM_DIR", None)
                result = subprocess.run([SCRIPTS / command[0], *command[1:]], env=environment, capture_output=True,
                                        text=True, timeout=60, check=False)
                self.assertEqual((result.returncode, result.stdout), (3, ""))
                fetching, sentence = [line for line in result.stderr.splitlines() if not line.startswith("Looking in")]
                self.assertRegex(fetching, r"^Fetching .* \.\.\.$")
                self.assertRegex(sentence, f"^script/{command[0]}: .* could not be fetched: no network, ")


if __name__ == "__main__":
    unittest.main()
