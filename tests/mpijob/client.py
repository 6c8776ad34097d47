#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the tests ask of `mpijob serve` where there need be no kubectl: client.py create FILE | has JOB CONDITION"""
import os
import sys

sys.argv[1:1] = [os.environ['KUBECONFIG'], 'nothing']
import api

JOBS = "/apis/kubeflow.org/%s/namespaces/default/mpijobs"
command, words = sys.argv[3], sys.argv[4:]
if command == 'create':
    text = open(words[0], "rb").read()
    api.check(words[0], api.call("POST", JOBS % ("v1" if b"kubeflow.org/v1\n" in text else "v2beta1"), raw=text,
                                 kind="application/yaml"), 201)
elif command == 'has':
    job = api.check(words[0], api.call('GET', JOBS % "v2beta1" + "/" + words[0]), 200)
    held = [c['type'] for c in job.get('status', {}).get('conditions', []) if c['status'] == 'True']
    sys.exit(0 if words[1] in held else 1)
