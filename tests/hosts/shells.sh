#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The command that starts an agent is read by the user's login shell on the other host, whichever that is; also where
# mpiexec lies in a directory with an odd name. The shells that are not installed are named and left out.
. "$(dirname "$0")/lib.sh"
hosts_up 2
odd="$scratch/it's [odd] !x \\y =z ~ \$HOME"
export HOME=$scratch
mkdir -p "$odd/bin"
cp "$mpiexec" "$odd/bin/mpiexec"

for shell in sh dash bash tcsh zsh fish; do
    command -v $shell >/dev/null || { echo "NOT TESTED: $shell is not installed"; continue; }
    cat >"$scratch/rsh-$shell" <<END
#!/bin/sh
host=\$1
shift
exec ip netns exec $tag-\$host unshare -u sh -c 'hostname \$0; exec $shell -c "\$1"' "\$host" "\$*"
END
    chmod +x "$scratch/rsh-$shell"
    for program in "$mpiexec" "$odd/bin/mpiexec"; do
        out=$(timeout 60 ip netns exec "$tag-h0" "$program" -launcher-exec "$scratch/rsh-$shell" -host h1,h2 -n 2 \
            hostname 2>"$scratch/err" | sort | xargs)
        [ "$out" = "h1 h2" ] || fail "$shell with '$program': $out $(cat "$scratch/err")"
    done
done
nothing_left "shells"
exit 0
