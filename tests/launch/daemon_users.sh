#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A daemon of root's: it starts ranks as the user whose phrase was proved, who need not be known to the caller's host, and
# nothing for one user by the phrase of another. The other user is made up: /etc/passwd is another file for the daemon.
set -u
scratch=$(mktemp -d)
daemon=
trap '[ -n "$daemon" ] && kill -9 $daemon 2>/dev/null; rm -rf "$scratch"' EXIT
export HOME=$scratch HYDRA_LAUNCHER_AUTOFORK=0
unset MUR_PHRASE_FILE

fail() {
    echo "FAILED: $*: $(cat "$scratch/out" "$scratch/daemon" 2>/dev/null)" >&2
    exit 1
}
skip() {
    echo "SKIPPED: $*" >&2
    exit 77
}
[ "$(id -u)" = 0 ] || skip "not root"
unshare -m true 2>/dev/null || skip "no mount namespaces"

chmod 755 "$scratch"
mkdir "$scratch/home" "$scratch/bin"
cp "${MPIEXEC:?}" "$scratch/bin/mpiexec" # where any user may execute it
ln -s mpiexec "$scratch/bin/smpd"
mpiexec=$scratch/bin/mpiexec
smpd=$scratch/bin/smpd
{
    cat /etc/passwd
    echo "murtest:x:54321:54321::$scratch/home:/bin/sh"
} >"$scratch/passwd"
"$smpd" -set phrase of-root && "$smpd" -smpdfile "$scratch/home/.smpd" -set phrase of-murtest || fail "the phrases"
cp -p "$scratch/home/.smpd" "$scratch/theirs"
chown -R 54321:54321 "$scratch/home"
unshare -m sh -c "mount --bind $scratch/passwd /etc/passwd && exec $smpd -d -anyport" >"$scratch/port" 2>"$scratch/daemon" &
daemon=$!
for _ in $(seq 300); do [ -s "$scratch/port" ] && break; sleep 0.1; done
port=$(cat "$scratch/port")
[ -n "$port" ] || fail "the daemon does not start"
echo "127.0.0.1 user=murtest" >"$scratch/hosts"
cd /

by_daemon() {
    timeout 120 "$mpiexec" -launcher smpd -noprompt -port "$port" "$@" >"$scratch/out" 2>&1 </dev/null
}
by_daemon -hostfile "$scratch/hosts" -smpdfile "$scratch/theirs" -n 1 sh -c 'id -u; id -G' || fail "a job of another user"
[ "$(tr '\n' ' ' <"$scratch/out")" = "54321 54321 " ] || fail "whose job it is"
by_daemon -host 127.0.0.1 -n 1 id -u || fail "a job of root"
[ "$(cat "$scratch/out")" = 0 ] || fail "whose job root's is"
by_daemon -hostfile "$scratch/hosts" -n 1 true && fail "root's phrase starts ranks of another user"
by_daemon -host 127.0.0.1 -smpdfile "$scratch/theirs" -n 1 true && fail "another user's phrase starts ranks of root"
sed -i 's/murtest$/nobody-of-that-name/' "$scratch/hosts"
by_daemon -hostfile "$scratch/hosts" -n 1 true && fail "a user who is not there is served"
sed -i 's/nobody-of-that-name/murtest/' "$scratch/hosts"
chmod 644 "$scratch/home/.smpd"
touch "$scratch/home/.smpd"
by_daemon -hostfile "$scratch/hosts" -smpdfile "$scratch/theirs" -n 1 true && fail "a phrase that others can read is taken"
exit 0
