#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What "make install" puts down can be used by a stranger: program, man page, completion, and a
# library found by pkg-config, shared and static, wherever the tree was moved to.
set -eu
if [ ! -e "$TACIT_BUILD_DIR/tacit.pc" ]; then
    echo "this build (sanitizers) is not made to be installed"
    exit 0
fi

DESTDIR=$TMP/stage cmake --install "$TACIT_BUILD_DIR" --prefix /opt/tacit >"$TMP/log"
mv "$TMP/stage/opt/tacit" "$TMP/moved"
p=$TMP/moved

for file in bin/tacit lib/libtacit.a lib/libtacit.so lib/pkgconfig/tacit.pc include/tacit/tacit.h \
    share/man/man1/tacit.1 share/bash-completion/completions/tacit share/doc/tacit/LICENSE \
    lib/systemd/system/tacit-node@.service lib/sysusers.d/tacit.conf; do
    [ -s "$p/$file" ] || { echo "missing: $file"; exit 1; }
done
for header in "$TACIT_SOURCE_DIR"/include/tacit/*.h; do
    cmp "$header" "$p/include/tacit/$(basename "$header")"
done
"$p/bin/tacit" --version | grep -q '[0-9]\.[0-9]'
grep -q '^\.TH ' "$p/share/man/man1/tacit.1"
bash -n "$p/share/bash-completion/completions/tacit"

# The unit starts the program where it was installed, and systemd has nothing against it. What the
# program says is wrong for good must not be tried again.
unit=$p/lib/systemd/system/tacit-node@.service
grep -q '^ExecStart=/opt/tacit/bin/tacit node --config /etc/tacit/%i/node.yaml ' "$unit"
grep -qx 'RestartPreventExitStatus=2 5 6' "$unit"
grep -qx 'SuccessExitStatus=130' "$unit"
if command -v systemd-analyze >/dev/null; then
    sed "s|/opt/tacit/bin/|$p/bin/|" "$unit" >"$TMP/tacit-node@x.service"
    systemd-analyze verify --man=no "$TMP/tacit-node@x.service" >"$TMP/unit.txt" 2>&1
    [ ! -s "$TMP/unit.txt" ] || { cat "$TMP/unit.txt"; exit 1; }
fi
diff -r "$TACIT_SOURCE_DIR/examples/peers" "$p/share/doc/tacit/examples/peers"

cat >"$TMP/stranger.c" <<'END'
#include <stdio.h>
#include <string.h>
#include <tacit/tacit.h>

int main(void)
{
    const tacit_protocol *cd = tacit_protocol_find("cd");
    return cd && !strcmp(cd->name, "cd") ? puts(TACIT_VERSION) < 0 : 1;
}
END
export PKG_CONFIG_PATH=$p/lib/pkgconfig
cc -std=c17 -Wall -Wextra -Wpedantic -Werror "$TMP/stranger.c" -o "$TMP/shared" \
    $(pkg-config --cflags --libs tacit)
version=$(LD_LIBRARY_PATH=$p/lib "$TMP/shared")
[ "$version" = "$(pkg-config --modversion tacit)" ]
cc -std=c17 "$TMP/stranger.c" -o "$TMP/static" $(pkg-config --cflags tacit) "$p/lib/libtacit.a" \
    $(pkg-config --libs $(pkg-config --print-requires-private tacit)) -lm -lpthread
[ "$("$TMP/static")" = "$version" ]
# the README's example of embedding, built the way it says, agrees with the program
cc -std=c17 -Wall -Wextra -Wpedantic -Werror "$TACIT_SOURCE_DIR/examples/embed/main.c" \
    -o "$TMP/embed" $(pkg-config --cflags --libs tacit)
cat >"$TMP/embed.yaml" <<'END'
data: {agents: 50, dimension: 20, bound: l2}
protocol: {name: cd, mu: 5}
END
"$p/bin/tacit" run "$TMP/embed.yaml" --quiet --json --out "$TMP/embed-run" >"$TMP/embed.json"
LD_LIBRARY_PATH=$p/lib "$TMP/embed" >"$TMP/embed.txt"
awk '{ gsub(/[",:]/, "") } $1 == "test_accuracy" { printf "test accuracy %.3f\n", $2 }' \
    "$TMP/embed.json" | cmp - "$TMP/embed.txt"
# only our own names leave the shared library
! nm -D --defined-only "$p/lib/libtacit.so" | awk '{print $3}' | grep -v '^tacit_' | grep -v '^$'
