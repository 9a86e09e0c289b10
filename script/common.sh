# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by the scripts beside it: goes to the root of the repository and sets what every build here shares.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Two checkouts share what the compiler cache holds, although they stand in different folders.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
# Compilers and test programs at once: the machine's processors, or fewer if ATTN_JOBS says so.
jobs=${ATTN_JOBS:-$(nproc)}
me=script/$(basename "$0")

fail() {
  echo "$me: $1" >&2
  exit "${2:-1}"
}

# Every script's head is its help.
if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  sed --quiet '3,/^[^#]/ s/^# \{0,1\}//p' "$0"
  exit
fi

# C++ files of the project under the folders given, or all of them.
sources() {
  git ls-files --cached --others --exclude-standard -- "$@" | grep --extended-regexp '\.(cpp|hpp)$' || true
}

# build PRESET [TARGET]...: configures and builds in build/PRESET; goes on after an error, to show all of them.
build() {
  local preset=$1 log
  shift
  log=$(cmake --preset "$preset" 2>&1) || { echo "$log"; return 1; }
  cmake --build "build/$preset" --parallel "$jobs" ${1:+--target "$@"} -- -k 0
}
