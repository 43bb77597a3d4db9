#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tools/setup.sh build|test|study|bench...: install the Debian packages that are missing, and only those.
# Says nothing when there is nothing to do.
set -u

build_packages="gcc libc6-dev cmake ninja-build pkg-config libsodium-dev libyaml-dev
    zlib1g-dev liblzma-dev liblapacke-dev libopenblas-serial-dev libarpack2-dev libsqlite3-dev
    libzmq3-dev"
test_packages="libcmocka-dev clang libclang-rt-dev lld clang-format clang-tidy cppcheck libmatio-dev
    python3-networkx python3-numpy python3-onnx python3-scipy xz-utils iproute2"
study_packages="python3 xz-utils iproute2"
bench_packages="python3-torch" # large; "make bench BENCH=nets" compares with it where it is there

# The tests read JSON with whatever python3 there is.
command -v python3 >/dev/null || test_packages="$test_packages python3"

wanted=""
for group in "$@"; do
    case $group in
    build) wanted="$wanted $build_packages" ;;
    test) wanted="$wanted $test_packages" ;;
    study) wanted="$wanted $study_packages" ;;
    bench) wanted="$wanted $bench_packages" ;;
    *)
        echo "usage: tools/setup.sh build|test|study|bench..." >&2
        exit 2
        ;;
    esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    if command -v cmake >/dev/null && command -v ninja >/dev/null &&
        pkg-config --exists libsodium yaml-0.1 zlib liblzma lapacke arpack sqlite3 libzmq 2>/dev/null; then
        exit 0 # not a Debian, but the needful is there; the rest will speak for itself
    fi
    echo "there is no apt-get here: install by hand what Debian calls$wanted" >&2
    exit 3
fi

missing=""
for package in $wanted; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
        missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=""
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "missing packages:$missing" >&2
        echo "neither root nor sudo: ask an administrator for \"apt-get install$missing\"" >&2
        exit 3
    fi
    as_root="sudo"
    [ -t 0 ] || as_root="sudo -n"
fi

echo "installing:$missing" >&2
log=$(mktemp) || exit 3
trap 'rm -f "$log"' EXIT
apt="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300"
# One broken source must not stop the others: whether it matters, the installation will tell.
if ! { $apt update || true; $apt install --no-install-recommends $missing; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "could not install$missing: see above, or install them by hand" >&2
    exit 3
fi
