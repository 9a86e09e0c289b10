# SPDX-License-Identifier: Apache-2.0
"""The progress bar: on a terminal only, for work over a second only, and gone at the end."""
import os
import pty
import subprocess
import threading
import time
import unittest

from program import PROGRAM, TINY, ProgramTest


class ProgressBar(ProgramTest):
    def errors_on_a_terminal(self, *arguments):
        """What appears on standard error when it is a terminal, and the seconds taken."""
        terminal, program_end = pty.openpty()
        seen = []

        def read():
            try:
                while chunk := os.read(terminal, 65536):
                    seen.append(chunk)
            except OSError:  # the program has gone
                pass

        reader = threading.Thread(target=read)
        start = time.monotonic()
        process = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=program_end)
        os.close(program_end)
        reader.start()
        self.assertEqual(process.wait(timeout=300), 0)
        seconds = time.monotonic() - start
        reader.join()
        os.close(terminal)
        return b"".join(seen).decode(), seconds

    def embed(self, lines, *options):
        self.write("text.txt", "the cat saw the dog\n" * lines)
        return self.errors_on_a_terminal("embed", TINY, "--file", "text.txt", "-o", "e.npy", *options)

    def test_progress(self):
        text, seconds = self.embed(1)
        if seconds < 1:
            self.assertEqual(text, "")
        lines = 5000
        while seconds < 3:  # until there is enough work for this machine
            lines *= 2
            text, seconds = self.embed(lines)
        self.assertRegex(text, rf"\rembedding|\x1b\[Kembedding \[#*\.*\] \d+ of {lines}")
        self.assertRegex(text, r"\[#+\.+\] \d+ of \d+, \d+ s left")
        self.assertTrue(text.endswith("\r\x1b[K"), "the bar must be wiped")
        self.assertNotIn("\n", text)
        self.assertEqual(self.embed(lines, "--quiet")[0], "")
        result = self.succeeds("embed", TINY, "--file", "text.txt", "-o", "e.npy")
        self.assertEqual(result.stderr, b"", "no bar where there is no terminal")


if __name__ == "__main__":
    unittest.main()
