#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The API of `mpijob serve`, request by request (api.py), and what is kept when the service is killed.
. "$(dirname "$0")/serve.sh"
printf 'viewer-token,vera,1,"view"\neditor-token,eddie,2,"edit"\n' >tokens
start_serve --no-controller --no-namespaces --token-file tokens
python3 "$1/api.py" "$KUBECONFIG" || fail "$(cat serve.log)"
before=$(python3 "$1/api.py" "$KUBECONFIG" kept) || fail "what is kept"
kill_serve
start_serve --no-controller --no-namespaces --token-file tokens
[ "$(python3 "$1/api.py" "$KUBECONFIG" kept)" = "$before" ] || fail "the service came back with something else"
! timeout 20 "$mpijob" serve --listen 127.0.0.1:0 --data "$data" >second 2>&1 || fail "two services in one folder"
grep -q 'in use' second || fail "two services: $(cat second)"
end_serve
for token in 'short,u,1,"view"' 'long-enough-token,u,1,"nobody"' 'long-enough-token'; do
    echo "$token" >tokens
    ! timeout 20 "$mpijob" serve --listen 127.0.0.1:0 --data "$data" --token-file tokens >bad 2>&1 || fail "taken: $token"
done
echo "the API is as it should be"
