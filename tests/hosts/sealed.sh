#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Whoever listens between the hosts hears no word of the command lines, the environment, the output or the input, whether
# agents were started by a command like rsh or by daemons; nor the job's secret or the phrase. Nor a word
# of what ranks send each other, unless that is asked for.
. "$(dirname "$0")/lib.sh"
hosts_up 2
export HOME=$scratch WORD_OF_THE_ENVIRONMENT=grauwal-$$
unset MUR_PHRASE_FILE
"$(dirname "$mpiexec")/smpd" -set phrase "blauwal-$$" || skip "no settings can be written"

listened() { # what, mpiexec's arguments
    local what=$1
    shift
    : >"$scratch/ears"
    ip netns exec "$tag-h0" python3 "$(dirname "$0")/listen.py" br0 "$scratch/heard" >"$scratch/ears" &
    local ears=$!
    await "the ears of $what" grep -q ready "$scratch/ears"
    echo "pottwal-$$" | timeout 120 ip netns exec "$tag-h0" "$mpiexec" "$@" -host 10.77.0.1,10.77.0.2 -agent-width 1 -n 2 \
        -stdin all sh -c 'read word; for i in 1 2 3; do echo buckelwal-$0 $word; done' "$$" >"$scratch/out" 2>&1
    code=$?
    sleep 0.2
    kill $ears
    wait $ears 2>/dev/null
    [ $code = 0 ] && [ "$(grep -c "buckelwal-$$ pottwal-$$" "$scratch/out")" = 6 ] || fail "$what: $(cat "$scratch/out")"
    [ "$(stat -c %s "$scratch/heard")" -gt 3000 ] || fail "$what: nothing was heard"
    for word in grauwal blauwal pottwal buckelwal WORD_OF_THE; do
        grep -qaF $word "$scratch/heard" && fail "$what: '$word' is heard on the network"
    done
}

cat >"$scratch/enter" <<END
#!/bin/sh
host=h\${1##*.}
shift
exec "$scratch/rsh" \$host "\$*"
END
chmod +x "$scratch/enter"
# What ranks send: whether the word in their messages is heard, at the first host's port of the bridge.
whispered() { # what, "heard" or "secret", mpiexec's options
    local what=$1 expected=$2 heard=secret
    shift 2
    : >"$scratch/ears"
    ip netns exec "$tag-h0" python3 "$(dirname "$0")/listen.py" v1 "$scratch/heard" >"$scratch/ears" &
    local ears=$!
    await "the ears of $what" grep -q ready "$scratch/ears"
    timeout 120 ip netns exec "$tag-h0" "$mpiexec" -launcher-exec "$scratch/enter" "$@" -host 10.77.0.1,10.77.0.2 -n 2 \
        "$bin/hosts-whisper" "finnwal-$$" >"$scratch/out" 2>&1 || fail "$what: $(cat "$scratch/out")"
    sleep 0.2
    kill $ears
    wait $ears 2>/dev/null
    [ "$(stat -c %s "$scratch/heard")" -gt 100000 ] || fail "$what: nothing was heard"
    grep -qaF finnwal "$scratch/heard" && heard=heard
    [ $heard = "$expected" ] || fail "$what: messages are $heard, but should be $expected"
}

listened "by a command" -launcher-exec "$scratch/enter"
for i in 1 2; do
    ip netns exec "$tag-h$i" unshare -u sh -c "hostname h$i; exec $(dirname "$mpiexec")/smpd -s" || fail "the daemon of h$i"
done
listened "by daemons" -launcher smpd -noprompt
whispered "by default" secret
whispered "encrypted" secret -genv MUR_TCP_SEAL encrypt
whispered "authenticated" heard -genv MUR_TCP_SEAL authenticate
whispered "as plain text" heard -plaintext
exit 0
