#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `mpijob console`: what strangers and each role may (console.py), and the page in a browser (console_browser.py).
# PICTURES names a directory for pictures of the page, which is kept.
. "$(dirname "$0")/serve.sh"
here=$1
printf 'look looking-token-0123 lea\nsubmit submitting-token-0123 sam\nsubmit submitting-token-0456 sue\nadminister deciding-token-0123 ada\n' >tokens
console=
trap 'end_consoles; end_everything' EXIT

end_consoles() {
    local pid
    for pid in $console $(cat "$scratch/pid" 2>/dev/null); do kill -9 "$pid" 2>/dev/null; done
}

begin_console() { # PORT OPTION...
    local port=$1
    shift
    : >console.log
    "$mpijob" console --listen "127.0.0.1:$port" --token-file tokens "$@" 2>>console.log &
    console=$!
    until_true grep -q 'the console is at' console.log
    origin=$(grep -o 'http[s]*://[0-9.]*:[0-9]*/' console.log | head -n 1)
}

end_console() {
    kill "$console"
    wait "$console"
    local code=$?
    console=
    [ $code = 0 ] || fail "the console ended with code $code: $(cat console.log)"
}

if [ "${2:-}" = browser ]; then
    command -v chromium >/dev/null && command -v chromedriver >/dev/null || skip "no chromium with chromedriver: Debian has them in chromium and chromium-driver"
    need_namespaces
    start_serve
    begin_console 0
    port=${origin%/} port=${port##*:}
    cat >switch <<END
#!/bin/bash
# Ends the console without a warning, or starts it where it was.
cd '$scratch'
if [ "\$1" = end ]; then
    kill -9 "\$(cat pid)"
else
    '$mpijob' console --listen 127.0.0.1:$port --token-file tokens >>console.log 2>&1 &
    echo \$! >pid
fi
END
    chmod +x switch
    echo "$console" >pid
    mkdir -p "${PICTURES:=$scratch/pictures}"
    PYTHONPATH=$here timeout 500 python3 "$here/console_browser.py" "$origin#token=deciding-token-0123" "$PICTURES" "$KUBECONFIG" "$scratch/switch"
    code=$?
    [ $code = 0 ] || fail "the page: $(cat console.log serve.log)"
    echo "the page does what it shows"
    exit
fi

start_serve --no-controller --no-namespaces
begin_console 0
python3 "$here/console.py" "$origin" "$KUBECONFIG" || fail "$(cat console.log)"
end_console
begin_console 0 --session 2
python3 "$here/console.py" "$origin" "$KUBECONFIG" expires || fail "$(cat console.log)"
end_console
end_serve

# It starts `mpijob serve` itself, in TLS as well, and both end together.
if command -v openssl >/dev/null; then
    openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2>/dev/null
    tls=(--tls-certificate cert.pem --tls-key key.pem)
fi
unset KUBECONFIG
begin_console 0 --data "$scratch/own" --no-namespaces "${tls[@]}"
SSL_CERT_FILE=$scratch/cert.pem python3 "$here/console.py" "$origin" "$scratch/own/kubeconfig" lives || fail "$(cat console.log)"
end_console
! pgrep -f "$scratch/own" >left || fail "left: $(cat left)"
for line in 'nobody long-enough-token-0' 'look short' 'look long-enough-token-0 na<me' 'look'; do
    echo "$line" >tokens
    ! timeout 20 "$mpijob" console --api http://127.0.0.1:1 --listen 127.0.0.1:0 --token-file tokens >bad 2>&1 || fail "taken: $line"
done
echo "the console is as it should be"
