# SPDX-License-Identifier: Apache-2.0
"""Small .npy and .npz files as NumPy writes them, for tests/io/npy_test.cpp.

Run: python script/goldens/npy_goldens.py    (needs numpy of script/goldens/requirements.txt)

Element i of every array is i - 2 (so 0 and negative numbers occur), unsigned ones i, booleans i % 2.
"""

import numpy as np

from common import DATA, report, versions

FOLDER = DATA / "npy"


def counting(dtype, *shape):
    values = np.arange(np.prod(shape, dtype=int))
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        values = values % 2
    elif dtype.kind != "u":
        values = values - 2
    return values.astype(dtype).reshape(shape)


def save(name, array, version=(1, 0)):
    with open(FOLDER / name, "wb") as file:
        np.lib.format.write_array(file, array, version=version)
    report(FOLDER / name)


def main():
    versions("numpy")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for dtype in ["f2", "f4", "f8", "i1", "i4", "i8", "u1", "b1"]:
        save(f"{dtype}.npy", counting(dtype, 2, 3))
    for dtype in [">f2", ">f4", ">f8", ">i4", ">i8"]:
        save(f"big_{dtype[1:]}.npy", counting(dtype, 2, 3))
    save("fortran.npy", np.asfortranarray(counting("f4", 2, 3, 4)))
    save("big_fortran.npy", np.asfortranarray(counting(">f4", 2, 3)))
    save("rank0.npy", counting("f8"))
    save("rank1.npy", counting("f4", 5))
    save("empty.npy", counting("f4", 3, 0, 2))
    save("version2.npy", counting("f4", 2, 3), version=(2, 0))
    save("version3.npy", counting("f4", 2, 3), version=(3, 0))
    for name, dtype in [("u2", "u2"), ("c8", "c8"), ("text", "U3")]:
        save(f"refused_{name}.npy", counting("i4", 2).astype(dtype))
    save("refused_fields.npy", np.zeros(2, dtype=[("x", "f4"), ("y", "i4")]))
    arrays = {"q": counting("f4", 2, 3), "long name/k": counting("i8", 40), "名": counting("b1", 3), "scalar": counting("f8")}
    for name, write in [("stored.npz", np.savez), ("deflated.npz", np.savez_compressed), ("none.npz", np.savez)]:
        write(FOLDER / name, **({} if name == "none.npz" else arrays))
        report(FOLDER / name)


if __name__ == "__main__":
    main()
