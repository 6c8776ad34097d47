#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./configure: what it tells CMake, what it notes, what it refuses: configure.sh SOURCE. CMake is a stand-in that prints
# its arguments.
set -u
source=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() {
    echo "FAILED: $*"
    failed=1
}
cd "$scratch" || exit 1
mkdir bin
printf '#!/bin/sh\nfor word; do echo "cmake: $word"; done\n' >bin/cmake
chmod +x bin/cmake
PATH=$scratch/bin:$PATH
seen=$("$source/configure" --prefix=/some/where --with-device=ch4:ofi --with-pm=hydra --enable-fast=all --enable-debug \
    CC='ccache gcc' 2>&1) || fail "it failed: $seen"
for word in "-S" "$source" "-B" "build" "-DCMAKE_INSTALL_PREFIX=/some/where" "-DCMAKE_BUILD_TYPE=Debug" \
    "-DCMAKE_C_COMPILER=ccache gcc"; do
    grep -qxF "cmake: $word" <<<"$seen" || fail "no '$word' in: $seen"
done
[ "$(grep -c 'change nothing here: --with-device=ch4:ofi --with-pm=hydra --enable-fast=all' <<<"$seen")" = 1 ] ||
    fail "not noted once: $seen"
make -n install | grep -q 'cmake --install build' || fail "no make install"
seen=$("$source/configure" --nonsense 2>&1) && fail "taken: --nonsense"
[[ $seen == *"'--nonsense' is no option"* ]] || fail "--nonsense: $seen"
"$source/configure" --help | grep -q -- --prefix=DIR || fail "--help"
exit $failed
