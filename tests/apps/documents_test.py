# SPDX-License-Identifier: Apache-2.0
"""Every command in docs/command-line.md is run, and prints what the page says; `...` stands for lines left out."""
import os
import re
import shutil
import subprocess
import unittest

from program import PROGRAM, REPOSITORY, ProgramTest, minilm

MODEL = minilm()
PAGE = os.path.join(REPOSITORY, "docs/command-line.md")
VARIES = [(r"in \d+\.\d{3} s", "in 0.000 s"), (r"on \d+ threads? \(\w+\)", "on 2 threads (avx2)"),
          (r'"seconds": [\d.e-]+', '"seconds": 0.0'),
          # What attn bench measures, and the tiles of this machine's instruction set.
          (r"(?m)^(kernel|scratch|time|speed|roofline|share)( +)\S.*$", r"\1\2...")]


def steady(text):
    """Without what differs from one run or machine to the next."""
    for pattern, constant in VARIES:
        text = re.sub(pattern, constant, text)
    return [line.rstrip() for line in text.splitlines()]


def examples():
    """(command, expected lines) of each console block of the page."""
    with open(PAGE, encoding="utf-8") as file:
        blocks = re.findall(r"^```console\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
    found = []
    for line in "".join(blocks).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


class Documents(ProgramTest):
    def test_page(self):
        # As from the project's folder, after the demo has fetched the model.
        shutil.copytree(os.path.join(REPOSITORY, "examples"), self.path("examples"))
        os.makedirs(self.path(".cache/models"))
        os.symlink(os.path.abspath(MODEL), self.path(".cache/models/all-MiniLM-L6-v2"))
        os.makedirs(self.path("bin"))
        os.symlink(PROGRAM, self.path("bin/attn"))
        environment = {**os.environ, "PATH": self.path("bin") + ":" + os.environ["PATH"], "LC_ALL": "C.UTF-8"}
        commands = examples()
        self.assertGreater(len(commands), 8)
        for command, expected in commands:
            result = subprocess.run(["bash", "-c", command], cwd=self.folder, env=environment, timeout=300,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            wanted = "\n".join(steady("\n".join(expected)))
            printed = "\n".join(steady(result.stdout.decode()))
            if not re.fullmatch(re.escape(wanted).replace(r"\.\.\.", "(?:.|\n)*"), printed):
                self.assertEqual(printed, wanted, command)


if __name__ == "__main__":
    unittest.main()
