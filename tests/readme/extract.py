# SPDX-License-Identifier: Apache-2.0
"""Writes every ```cpp block of the documents given as a program of its own, and prints the programs' names.

    extract.py FOLDER DOCUMENT...
"""
import pathlib
import re
import sys

BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
names = []
for document in map(pathlib.Path, sys.argv[2:]):
    for number, block in enumerate(BLOCK.findall(document.read_text(encoding="utf-8")), 1):
        if "int main(" not in block:
            sys.exit(f"{document}: block {number} is no whole program, which ```cpp promises; mark a fragment ```c++")
        program = folder / f"{document.stem.lower()}_{number}.cpp"
        # Leaving the file alone when nothing changed keeps it from being compiled again.
        if not program.exists() or program.read_text(encoding="utf-8") != block:
            program.write_text(block, encoding="utf-8")
        names.append(program.stem)
print(";".join(names), end="")
