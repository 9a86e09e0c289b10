# SPDX-License-Identifier: Apache-2.0
"""Packages as parcels: they are fetched and unpacked into the cache, and never installed."""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

# What the results in docs/results.md were made from. A package may be rebuilt under a new version with the same
# contents, so files are named here, not packages.
EXPECTED = {
    "train-images-idx3-ubyte.gz": "b0564c3eedabfbf835052cff8503ea422014ce006caf5b757f851416ee8300c7",
    "train-labels-idx1-ubyte.gz": "0ae29f65d86684f32d1b9c85147786c547b9c6aebcaf235f0400a0cce308b056",
    "t10k-images-idx3-ubyte.gz": "cc1d090a38ace84dfa1aa66e3ada7c336ef481a96936906477e6dd344da56eaa",
    "t10k-labels-idx1-ubyte.gz": "8d3605d196f4be44669e46906da9733c8131fef761fdbfec72c424d5222f1a05",
    "neg.txt": "35fa9388f9022b1bbe806fb61355ed484c304b002980bf0064c101f516b53392",
    "pos.txt": "70fe8507266d0ada82e0cd4ba65d408231b142c8b0a00233f3b7ecec793c683d",
    "199801.txt": "987c2b26273ada0118664e0137ebfa71af108adbcda791425f7371d952dc758b",
    "engWEB2015eb.imp": "8d9673564636fd2d0065068b8bddbe02a1bc09947bb06a20be80d34d449148e3",
    "spaRV1909eb.imp": "1e97726923b1b58a2ce5122c7a7b664cf8664cd4924928ae219f3f96576ce943",
}


class Failure(Exception):
    """One sentence for the user."""


def cache_folder():
    """Where everything is kept."""
    default = pathlib.Path(__file__).resolve().parents[2] / ".cache"
    return pathlib.Path(os.environ.get("ATTN_CACHE", default)).resolve()


def run(command, **options):
    """The command's standard output."""
    try:
        return subprocess.run(command, check=True, capture_output=True, **options).stdout
    except FileNotFoundError:
        raise Failure(f"{command[0]} is not installed") from None
    except subprocess.CalledProcessError as failure:
        # A program's last words are its reason.
        words = failure.stderr.decode(errors="replace").strip().splitlines()
        raise Failure(f"{' '.join(map(str, command))}: exit code {failure.returncode}"
                      + (f": {words[-1]}" if words else "")) from None


def fetch(what, command, **options):
    """As run, for a command that needs a network."""
    print(f"Fetching {what} ...", file=sys.stderr)
    try:
        run(command, **options)
    except Failure as failure:
        raise Failure(f"{what} could not be fetched: no network, or not in the package index ({failure})") from None


def check(name, data):
    """The bytes, once they are known to be those expected."""
    found = hashlib.sha256(data).hexdigest()
    if found != EXPECTED[name] and os.environ.get("ATTN_DATA_ANY") != "1":
        raise Failure(f"{name}: sha256 {found}, expected {EXPECTED[name]}; ATTN_DATA_ANY=1 takes it as it is")
    return data


class Fetcher:
    """Downloads into a folder what is not there yet."""

    def __init__(self, folder):
        self.folder = folder

    def debian(self, package):
        """The folder that a Debian package was unpacked to."""
        unpacked = self.folder / package
        if not unpacked.exists():
            self.unpack_debian(package, unpacked)
        return unpacked

    def unpack_debian(self, package, unpacked):
        fresh = self.folder / f"{package}.partial"
        shutil.rmtree(fresh, ignore_errors=True)
        (fresh / "deb").mkdir(parents=True)
        fetch(f"the Debian package {package}",
              ["apt-get", "--quiet", "--quiet", "--option", "APT::Sandbox::User=root", "download", package],
              cwd=fresh / "deb")
        (parcel,) = (fresh / "deb").glob("*.deb")
        run(["dpkg-deb", "--extract", str(parcel), str(fresh)])
        # A program's libraries are looked for beside it, in the packages that it depends on.
        (fresh / "depends").write_bytes(run(["dpkg-deb", "--field", str(parcel), "Depends"]))
        shutil.rmtree(fresh / "deb")
        fresh.rename(unpacked)

    def debian_program(self, package, program):
        """A program as (command, environment), with the libraries that the system does not have."""
        installed = shutil.which(program)
        if installed:
            return installed, dict(os.environ)
        libraries, wanted, seen = [], [package], set()
        while wanted:
            name = wanted.pop()
            seen.add(name)
            folder = self.debian(name)
            libraries += [str(path) for path in folder.glob("usr/lib/*/")]
            depends = re.findall(r"(?:^|, )([a-z0-9.+-]+)", (folder / "depends").read_text())
            wanted += [other for other in depends if other not in seen and not is_installed(other)]
        environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(libraries)}
        return str(self.debian(package) / "usr/bin" / program), environment

    def source_package(self, name, version):
        """The folder that a source package from the Python index was unpacked to."""
        unpacked = self.folder / f"{name}-{version}"
        if not unpacked.exists():
            fetch(f"the source package {name} {version}",
                  [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download", "--no-deps",
                   "--no-binary", ":all:", "--dest", str(self.folder), f"{name}=={version}"])
            fresh = self.folder / f"{name}.partial"
            with tarfile.open(self.folder / f"{name}-{version}.tar.gz") as parcel:
                parcel.extractall(fresh, filter="data")
            (fresh / f"{name}-{version}").rename(unpacked)
            fresh.rmdir()
        return unpacked


def is_installed(package):
    """Whether the system has that Debian package."""
    found = subprocess.run(["dpkg-query", "--show", "--showformat", "${db:Status-Abbrev}", package],
                           capture_output=True, text=True, check=False)
    return found.stdout.startswith("ii")
