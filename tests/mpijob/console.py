#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `mpijob console` answers to strangers, to each role, and to what nobody should send: console.py ORIGIN KUBECONFIG
[expires|lives]"""
import http.client
import json
import os
import random
import socket
import ssl
import sys
import time
import urllib.parse

origin = urllib.parse.urlsplit(sys.argv[1])
which = sys.argv[3] if len(sys.argv) > 3 else 'all'
sys.argv[1:] = [sys.argv[2], 'nothing']
import api

TOKENS = {'look': 'looking-token-0123', 'sam': 'submitting-token-0123', 'sue': 'submitting-token-0456', 'ada': 'deciding-token-0123'}
LABEL = 'training.kubeflow.org/job-name'
seed = int(os.environ.get('MUR_TEST_SEED') or random.SystemRandom().randrange(1 << 31))
draw = random.Random(seed)


def connect():
    if origin.scheme == 'https':
        return http.client.HTTPSConnection(origin.hostname, origin.port, timeout=60)
    return http.client.HTTPConnection(origin.hostname, origin.port, timeout=60)


class Visitor:
    def __init__(self, token=None):
        self.cookie, self.change, self.session = '', '', {}
        if token:
            status, headers, self.session = self.ask('POST', '/console/login', {'token': token})
            assert status == 200, self.session
            attributes = headers['Set-Cookie']
            assert 'HttpOnly' in attributes and 'SameSite=Strict' in attributes and 'Max-Age=' in attributes, attributes
            assert ('Secure' in attributes) == (origin.scheme == 'https'), attributes
            self.cookie, self.change = attributes.split(';')[0], self.session['changeToken']

    def headers(self, more):
        own = {'Cookie': self.cookie, 'X-Change-Token': self.change, 'Content-Type': 'application/json', **more}
        return {name: value for name, value in own.items() if value}

    def ask(self, method, path, body=None, connection=None, **more):
        connection = connection or connect()
        data = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
        connection.request(method, path, data, self.headers({name.replace('_', '-'): value for name, value in more.items()}))
        answer = connection.getresponse()
        text = answer.read()
        for guard in ('Content-Security-Policy', 'X-Frame-Options', 'X-Content-Type-Options'):
            assert answer.getheader(guard), '%s of %s has no %s' % (method, path, guard)
        assert api.token.encode() not in text, 'the token of the API is told'
        return answer.status, dict(answer.getheaders()), json.loads(text) if 'json' in answer.getheader('Content-Type', '') else text

    def want(self, code, method, path, body=None, **more):
        status, _, answer = self.ask(method, path, body, **more)
        assert status == code, '%s %s: %d, not %d: %s' % (method, path[:200], status, code, answer)
        return answer

    def feed(self, path):
        connection = connect()
        connection.request('GET', path, headers=self.headers({}))
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        answer.connection = connection
        return answer


def events(answer, count):
    found = []
    while len(found) < count:
        line = answer.readline()
        assert line, 'the feed has ended after %s' % found
        if line.startswith(b'event: '):
            found.append((line[7:].strip().decode(), json.loads(answer.readline()[6:].decode('utf-8', 'replace'))))
    return found


def job(name, **metadata):
    box = lambda role: {'spec': {'containers': [{'name': role, 'image': 'host'}]}}
    return {'apiVersion': 'kubeflow.org/v2beta1', 'kind': 'MPIJob', 'metadata': {'name': name, **metadata}, 'spec': {
        'mpiReplicaSpecs': {'Launcher': {'replicas': 1, 'template': box('launcher')}, 'Worker': {'replicas': 2, 'template': box('worker')}}}}


def test_strangers():
    nobody = Visitor()
    for method, path in [('GET', 'jobs'), ('POST', 'jobs'), ('GET', 'session'), ('GET', 'feed?from=1'), ('POST', 'check'), ('DELETE', 'jobs/a'),
                         ('GET', 'jobs/a/feed'), ('GET', 'jobs/a/pods/b/log'), ('POST', 'logout'), ('POST', 'jobs/a/suspend')]:
        nobody.want(401, method, '/console/' + path)
    for token in ('', 'wrong', TOKENS['ada'][:-1], TOKENS['ada'] + 'x', 'x' * 3000, None, 7, ['a']):
        nobody.want(403, 'POST', '/console/login', {'token': token})
    nobody.want(403, 'POST', '/console/login', 'not JSON')
    nobody.want(403, 'POST', '/console/login', json.dumps({'token': TOKENS['ada']}), Content_Type='text/plain')
    nobody.want(403, 'POST', '/console/login', {'token': TOKENS['ada']}, Origin='http://evil.example')
    page = nobody.ask('GET', '/')
    assert page[0] == 200 and b'<script type="module" src="app.js">' in page[2] and "script-src 'self'" in page[1]['Content-Security-Policy']
    assert 'unsafe' not in page[1]['Content-Security-Policy'] and b'http' not in page[2]
    nobody.want(404, 'GET', '/no-such-file')
    nobody.want(405, 'POST', '/')
    for cookie in ('x', 'a.b.c', '99999999999.' + 'a' * 32 + '.' + 'b' * 64, '.' * 50, 'x' * 5000):
        nobody.cookie = 'mpijob-console-0=' + cookie
        nobody.want(401, 'GET', '/console/jobs')


def test_forged_session():
    ada = Visitor(TOKENS['ada'])
    name, value = ada.cookie.split('=')
    expires, nonce, mac = value.split('.')
    for forged in ('%d.%s.%s' % (int(expires) + 1, nonce, mac), '%s.%s.%s' % (expires, nonce[::-1], mac), '%s.%s.%s' % (expires, nonce, mac[::-1])):
        if forged != value:
            ada.cookie = name + '=' + forged
            ada.want(401, 'GET', '/console/jobs')
    ada.cookie = name + '=' + value
    ada.want(200, 'POST', '/console/logout')
    ada.want(401, 'GET', '/console/jobs')


def test_changes_are_own():
    """What a page of another site could make a browser send."""
    ada, other = Visitor(TOKENS['ada']), Visitor(TOKENS['ada'])
    for change in ('', 'wrong', other.change, 'x' * 3000):
        ada.want(403, 'POST', '/console/jobs', job('forged'), X_Change_Token=change)
        ada.want(403, 'DELETE', '/console/jobs/a', X_Change_Token=change)
    ada.want(403, 'POST', '/console/jobs', job('forged'), Origin='https://evil.example')
    ada.want(403, 'POST', '/console/jobs', job('forged'), Origin='null')
    assert api.call('GET', api_path('mpijobs', 'forged'))[0] == 404
    ada.want(201, 'POST', '/console/jobs', job('own-origin'), Origin='%s://%s' % (origin.scheme, origin.netloc))


def api_path(kind, name=''):
    return '%s/namespaces/default/%s%s' % ('/api/v1' if kind == 'pods' else '/apis/kubeflow.org/v2beta1', kind, '/' + name if name else '')


def test_roles():
    look, sam, sue, ada = (Visitor(TOKENS[name]) for name in ('look', 'sam', 'sue', 'ada'))
    assert [one.session['role'] for one in (look, sam, ada)] == ['look', 'submit', 'administer'] and sam.session['user'] == 'sam'
    made = sam.want(201, 'POST', '/console/jobs', job('of-sam', annotations={'console.mpijob/user': 'ada'}))
    assert made['metadata']['annotations']['console.mpijob/user'] == 'sam', made
    look.want(200, 'GET', '/console/jobs/of-sam')
    look.want(403, 'POST', '/console/jobs', job('of-lea'))
    for one in (look, sue):
        for method, path in [('POST', 'of-sam/suspend'), ('POST', 'of-sam/resume'), ('DELETE', 'of-sam')]:
            one.want(403, method, '/console/jobs/' + path)
    api.check('of nobody', api.call('POST', api_path('mpijobs'), job('of-nobody')), 201)
    sam.want(403, 'DELETE', '/console/jobs/of-nobody')
    assert sam.want(200, 'POST', '/console/jobs/of-sam/suspend')['spec']['runPolicy']['suspend'] is True
    assert sam.want(200, 'POST', '/console/jobs/of-sam/resume')['spec']['runPolicy']['suspend'] is False
    sam.want(200, 'DELETE', '/console/jobs/of-sam')
    ada.want(200, 'DELETE', '/console/jobs/of-nobody')
    ada.want(404, 'DELETE', '/console/jobs/of-nobody')


def test_only_jobs_pass():
    ada = Visitor(TOKENS['ada'])
    for body in ({'kind': 'Pod'}, {}, [], None, 'x', {**job('a'), 'kind': 'Secret'}, {**job('a'), 'apiVersion': 'v1'}, {**job('a'), 'apiVersion': 'kubeflow.org/../v1'},
                 {**job('a'), 'metadata': None}):
        ada.want(400, 'POST', '/console/jobs', body)
    ada.want(403, 'POST', '/console/jobs', job('a', namespace='kube-system'))
    api.check('a pod', api.call('POST', api_path('pods'), {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'stranger'},
                                                           'spec': {'containers': [{'name': 'c', 'image': 'host', 'command': ['true']}]}}), 201)
    ada.want(404, 'GET', '/console/jobs/a/pods/stranger/log')
    for path in ('pods', 'secrets', 'jobs/a/pods', 'jobs/a/exec', 'jobs/a/status', 'api/v1/secrets', 'jobs/a/pods/b/exec'):
        ada.want(404, 'GET', '/console/' + path)


def test_path_tricks():
    ada = Visitor(TOKENS['ada'])
    tricks = ['..', '.', '%2e%2e', '..%2f..%2fsecrets', 'a%2fb', 'a%00b', 'a%0d%0aX: y', 'A', 'a b', 'a%3Fwatch=true', 'a%23', 'a;b', '-a', 'a-', 'a..b', '%ff', '<script>',
              '%3Cscript%3E', 'a%5c..', '', 'x' * 254, 'x' * 20000, '*', '..;', '%252e%252e']
    for trick in tricks:
        path = urllib.parse.quote(trick, safe='%/;.*')
        for pattern in ('jobs/%s', 'jobs/%s/feed', 'jobs/a/pods/%s/log', 'jobs/%s/pods/a/log'):
            status, _, answer = ada.ask('GET', '/console/' + pattern % path)
            assert status in (400, 404), '%s in %s: %d %s' % (trick[:50], pattern, status, answer)
        assert ada.ask('DELETE', '/console/jobs/' + path)[0] in (400, 404, 405)
    for option in ('from=1%26fieldSelector=x', 'from=-1', 'from=', 'from=1e9', 'from=' + '9' * 500, ''):
        ada.want(400, 'GET', '/console/feed?' + option)
    ada.want(400, 'GET', '/console/jobs/a/pods/b/log?tail=1%26previous=true')


def test_scripts():
    """What would run in a browser that took it for markup: it comes back as it was, as JSON."""
    ada, evil = Visitor(TOKENS['ada']), '</script><script>alert(1)</script>'
    ada.want(422, 'POST', '/console/jobs', job(evil))
    made = ada.want(201, 'POST', '/console/jobs', job('scripted', annotations={'kubernetes.io/description': evil}))
    assert made['metadata']['annotations']['kubernetes.io/description'] == evil
    found = ada.want(200, 'POST', '/console/check', 'a: "%s\\n\\"\n' % evil)
    assert found['documents'] is None and found['findings'][0]['severity'] == 'error', found
    found = ada.want(200, 'POST', '/console/check', json.dumps({**job('a'), evil: 'x\ny'}))
    assert evil in found['findings'][0]['text'], found


def test_check():
    ada = Visitor(TOKENS['look'])
    good = ada.want(200, 'POST', '/console/check', json.dumps(job('a')))
    assert good['findings'] == [] and good['documents'][0]['metadata']['name'] == 'a', good
    bad = job('a')
    bad['spec']['mpiReplicaSpecs']['Launcher']['replicas'] = 2
    assert 'must be 1' in ada.want(200, 'POST', '/console/check', json.dumps(bad))['findings'][0]['text']
    ada.want(200, 'POST', '/console/check', '')
    bomb = 'a0: &a0 [x, x]\n' + ''.join('a%d: &a%d [*a%d, *a%d]\n' % (i, i, i - 1, i - 1) for i in range(1, 40))
    assert 'aliasing' in ada.want(200, 'POST', '/console/check', bomb)['findings'][0]['text']
    assert len(ada.want(200, 'POST', '/console/check', ''.join('wrong%d: 1\n' % i for i in range(5000)))['findings']) <= 100
    for _ in range(200):
        ada.want(200, 'POST', '/console/check', bytes(draw.choice(b'{}[]:,-&*!|>\'"%@` \n\tab1\x00\xff') for _ in range(draw.randrange(200))))


def test_huge():
    ada = Visitor(TOKENS['ada'])
    ada.want(413, 'POST', '/console/check', 'x' * (2 << 20))
    try:
        assert ada.ask('POST', '/console/check', 'x' * (40 << 20))[0] == 413
    except OSError:
        pass  # the console has hung up
    for header in (20000, 200000):
        connection = connect()
        try:
            connection.request('GET', '/console/jobs', headers=ada.headers({'X-Long': 'x' * header}))
            assert connection.getresponse().status in ((200,) if header < 50000 else (413, 431))
        except (OSError, http.client.HTTPException):
            assert header > 50000
    deep = '[' * 100000
    assert ada.want(200, 'POST', '/console/check', deep)['findings'], 'deep'
    ada.want(400, 'POST', '/console/jobs', deep)
    ada.want(200, 'GET', '/console/session')


def test_noise():
    for _ in range(100):
        with socket.create_connection((origin.hostname, origin.port), timeout=10) as one:
            one.sendall(bytes(draw.randrange(256) for _ in range(draw.randrange(500))))
    Visitor(TOKENS['look']).want(200, 'GET', '/console/session')


def test_feeds():
    sam = Visitor(TOKENS['sam'])
    version = sam.want(200, 'GET', '/console/jobs')['metadata']['resourceVersion']
    feed = sam.feed('/console/feed?from=' + version)
    assert feed.getheader('Content-Type') == 'text/event-stream'
    sam.want(201, 'POST', '/console/jobs', job('fed'))
    sam.want(200, 'POST', '/console/jobs/fed/suspend')
    found = events(feed, 2)
    assert [(kind, one['type'], one['object']['metadata']['name']) for kind, one in found] == [('job', 'ADDED', 'fed'), ('job', 'MODIFIED', 'fed')], found
    own = sam.feed('/console/jobs/fed/feed')
    assert events(own, 1)[0][1]['object']['metadata']['name'] == 'fed'
    api.check('its pod', api.call('POST', api_path('pods'), {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'fed-launcher', 'labels': {LABEL: 'fed'}}, 'spec': {
        'restartPolicy': 'Never', 'containers': [{'name': 'c', 'image': 'host', 'command': ['sh', '-c', 'printf \'first "<b>\\t\\303\\244\\n\'; sleep 1; printf "last\\377"']}]}}), 201)
    while events(own, 1)[0][1]['object'].get('status', {}).get('phase') != 'Succeeded':
        pass
    found = events(sam.feed('/console/jobs/fed/pods/fed-launcher/log'), 2)
    text = ''
    log = sam.feed('/console/jobs/fed/pods/fed-launcher/log').read().decode('utf-8', 'replace')
    for part in log.split('\n\n'):
        if part.startswith('event: log'):
            text += json.loads(part.split('\ndata: ')[1])
    assert text == 'first "<b>\tä\nlast\ufffd' and log.endswith('event: ended\ndata: true\n\n'), log
    whole = sam.feed('/console/jobs/fed/pods/fed-launcher/log?download=1')
    assert whole.getheader('Content-Disposition') == 'attachment' and whole.read() == 'first "<b>\tä\nlast'.encode() + b'\xff'
    sam.want(404, 'GET', '/console/jobs/other/pods/fed-launcher/log')
    refused = events(sam.feed('/console/feed?from=99999999'), 1)
    assert refused[0][0] == 'failed' and refused[0][1]['code'] == 410, refused


def test_many_connections():
    sam = Visitor(TOKENS['sam'])
    version = sam.want(200, 'GET', '/console/jobs')['metadata']['resourceVersion']
    feeds = [sam.feed('/console/feed?from=' + version) for _ in range(500)]
    sam.want(201, 'POST', '/console/jobs', job('seen-by-all'))
    for feed in feeds:
        assert events(feed, 1)[0][1]['object']['metadata']['name'] == 'seen-by-all'
    for feed in feeds:
        feed.connection.close()
    sam.want(200, 'GET', '/console/jobs')


def expires():
    ada = Visitor(TOKENS['ada'])
    feed = ada.feed('/console/jobs/none/feed')
    ada.want(200, 'GET', '/console/session')
    end = time.monotonic() + 60
    while ada.ask('GET', '/console/session')[0] == 200:
        assert time.monotonic() < end, 'the session does not expire'
        time.sleep(0.2)
    ada.want(401, 'GET', '/console/jobs')
    feed.read()  # the feed ends with the session


def lives():
    ada = Visitor(TOKENS['ada'])
    ada.want(201, 'POST', '/console/jobs', job('alive'))
    ada.want(200, 'GET', '/console/jobs/alive')


print('seed %d' % seed)
if which == 'all':
    for name, test in list(globals().items()):
        if name.startswith('test_'):
            print(name, flush=True)
            test()
else:
    {'expires': expires, 'lives': lives}[which]()
