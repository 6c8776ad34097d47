#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpiexec -setup-ssh: what is missing between a newcomer's host and another, one thing after the other, with the real ssh
# and sshd; and -setup-ssh-do, which mends what can be mended. The user's home is an empty one that goes with the test.
. "$(dirname "$0")/lib.sh"
hosts_up 1
prepare_ssh
home=$(getent passwd "$(id -u)" | cut -d: -f6)
case $mpiexec in "$home"/*) skip "mpiexec is in the home directory" ;; esac
mkdir "$scratch/bin"
cat >"$scratch/bin/ssh-copy-id" <<END
#!/bin/sh
cat $home/.ssh/id_ed25519.pub >>$scratch/authorized
END
chmod +x "$scratch/bin/ssh-copy-id"
cat >"$scratch/steps" <<END
fail() { echo "FAILED: \$*" >&2; exit 1; }
says() { # code, expected part, arguments
    code=\$1 part=\$2
    shift 2
    timeout 100 $mpiexec -host 10.77.0.1 -port 2222 "\$@" >$scratch/out 2>&1 </dev/null
    seen=\$?
    grep -qF -- "\$part" $scratch/out || fail "\$*: expected '\$part', saw '\$(cat $scratch/out)'"
    [ \$seen = "\$code" ] || fail "\$*: code \$seen: \$(cat $scratch/out)"
}
mount -t tmpfs none "$home" || exit 77
unset SSH_AUTH_SOCK
says 1 "10.77.0.1: missing: a key of yours; ssh-keygen" -setup-ssh
says 1 "10.77.0.1: done: a key of yours" -setup-ssh-do
[ -f "$home/.ssh/id_ed25519.pub" ] || fail "no key is made"
says 1 "10.77.0.1: missing: port 2222: Connection refused; sshd must run there" -setup-ssh
ip netns exec $tag-h1 unshare -u sh -c "hostname h1; exec $serve_ssh" &
for _ in \$(seq 100); do (: <>/dev/tcp/10.77.0.1/2222) 2>/dev/null && break; sleep 0.1; done
says 1 "10.77.0.1: missing: the host's own key" -setup-ssh
ssh-keyscan -p 2222 10.77.0.1 >"$home/.ssh/known_hosts" 2>/dev/null
says 1 "10.77.0.1: missing: your key, on that host; ssh-copy-id" -setup-ssh
rm "$home/.ssh/known_hosts"
PATH=$scratch/bin:\$PATH says 0 "10.77.0.1: done: your key, on that host" -setup-ssh-do
grep -q "done: the host's own key" $scratch/out || fail "the host's key: \$(cat $scratch/out)"
says 0 "10.77.0.1: ready" -setup-ssh
says 0 "h1" -launcher ssh hostname
says 1 "missing: Murmur, on that host" -setup-ssh -prefix /no/such
mkdir $scratch/older
mkdir $scratch/older/bin
printf '#!/bin/sh\necho "mpiexec (Murmur) 0.0.1"\n' >$scratch/older/bin/mpiexec
chmod +x $scratch/older/bin/mpiexec
says 1 "there is 0.0.1; install the same version" -setup-ssh -prefix $scratch/older
exit 0
END
ip netns exec "$tag-h0" unshare -m bash "$scratch/steps"
