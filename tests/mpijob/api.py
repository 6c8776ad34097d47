#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The API of `mpijob serve` as a client sees it, request by request: api.py KUBECONFIG [TEST...|kept]"""
import base64
import http.client
import json
import os
import random
import re
import socket
import ssl
import sys
import threading

config = open(sys.argv[1]).read()
host, port = re.search(r'server: https://([^:]+):(\d+)', config).groups()
token = re.search(r'token: "([^"]+)"', config).group(1)
authority = base64.b64decode(re.search(r'certificate-authority-data: (\S+)', config).group(1)).decode()
context = ssl.create_default_context(cadata=authority)
seed = int(os.environ.get('MUR_TEST_SEED') or 1)
draw = random.Random(seed)


def connect():
    return http.client.HTTPSConnection(host, int(port), context=context, timeout=60)


def call(method, path, body=None, kind='application/json', who=token, raw=None, accept=None, connection=None):
    connection = connection or connect()
    headers = {'Authorization': 'Bearer ' + who} if who else {}
    if accept:
        headers['Accept'] = accept
    data = raw if raw is not None else None if body is None else json.dumps(body).encode()
    if data is not None:
        headers['Content-Type'] = kind
    connection.request(method, path, data, headers)
    answer = connection.getresponse()
    text = answer.read()
    try:
        return answer.status, json.loads(text)
    except ValueError:
        return answer.status, text


def check(what, answer, code, reason=None, message=None):
    status, body = answer
    assert status == code, '%s: %d, not %d: %s' % (what, status, code, body)
    if reason:
        assert body['kind'] == 'Status' and body['reason'] == reason, '%s: %s' % (what, body)
    if message:
        assert message in body['message'], '%s: %s' % (what, body)
    return body


def config_map(name, **more):
    return {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': name, **more.pop('metadata', {})}, **more}


MAPS = '/api/v1/namespaces/default/configmaps'
MERGE, JSON_PATCH = 'application/merge-patch+json', 'application/json-patch+json'
STRATEGIC = 'application/strategic-merge-patch+json'


class Watch:
    """Events as they come."""

    def __init__(self, path):
        self.connection = connect()
        self.connection.request('GET', path, None, {'Authorization': 'Bearer ' + token})
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200, self.answer.read()

    def next(self):
        line = self.answer.readline()
        return json.loads(line) if line else None

    def expect(self, *wanted):
        for kind, name in wanted:
            event = self.next()
            got = event and (event['type'], event['object']['metadata'].get('name'))
            assert got == (kind, name), '%s, not %s' % (event, (kind, name))
        return event['object'] if wanted else None


def test_objects():
    made = check('create', call('POST', MAPS, config_map('a', data={'x': '1'})), 201)
    assert made['metadata']['uid'] and made['metadata']['namespace'] == 'default'
    check('twice', call('POST', MAPS, config_map('a')), 409, 'AlreadyExists')
    check('missing', call('GET', MAPS + '/none'), 404, 'NotFound', 'configmaps "none" not found')
    changed = dict(made, data={'x': '2'})
    newer = check('update', call('PUT', MAPS + '/a', changed), 200)
    assert int(newer['metadata']['resourceVersion']) > int(made['metadata']['resourceVersion'])
    check('outdated', call('PUT', MAPS + '/a', changed), 409, 'Conflict')
    same = check('no change', call('PUT', MAPS + '/a', newer), 200)
    assert same['metadata']['resourceVersion'] == newer['metadata']['resourceVersion']
    check('another name', call('PUT', MAPS + '/a', config_map('b')), 400)
    check('another kind', call('POST', MAPS, {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': 'b'}}), 400)
    check('a name that is none', call('POST', MAPS, config_map('A_b')), 422, 'Invalid')
    check('a namespace that is none', call('POST', MAPS.replace('default', 'none'), config_map('b')), 404, 'NotFound')
    check('labels that are none', call('POST', MAPS, config_map('b', metadata={'labels': {'a': 1}})), 422)
    check('a version', call('POST', MAPS, config_map('b', metadata={'resourceVersion': '1'})), 400)
    check('dry', call('POST', MAPS + '?dryRun=All', config_map('b')), 201)
    check('dry has left something', call('GET', MAPS + '/b'), 404)
    named = check('generated', call('POST', MAPS, config_map('', metadata={'generateName': 'made-'})), 201)
    assert re.fullmatch('made-[a-z0-9]{5}', named['metadata']['name'])
    check('precondition', call('DELETE', MAPS + '/a', {'preconditions': {'uid': 'other'}}), 409, 'Conflict')
    check('delete', call('DELETE', MAPS + '/a'), 200)
    check('deleted', call('GET', MAPS + '/a'), 404)
    check('collection', call('DELETE', MAPS), 200)
    assert check('all', call('GET', MAPS), 200)['items'] == []
    secret = check('secret', call('POST', '/api/v1/namespaces/default/secrets', {
        'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': 's'}, 'stringData': {'k': 'hush'}}), 201)
    assert base64.b64decode(secret['data']['k']) == b'hush' and 'stringData' not in secret
    for path in ('/api/v1/nothing', '/apis/kubeflow.org/v3/mpijobs', '/api/v1/namespaces/default/configmaps/a/status', '/x'):
        check(path, call('GET', path), 404)
    check('post to an object', call('POST', MAPS + '/a', config_map('a')), 405)


def test_patches():
    check('create', call('POST', MAPS, config_map('p', data={'a': '1', 'b': '2'})), 201)
    path = MAPS + '/p'
    got = check('merge', call('PATCH', path, {'data': {'a': None, 'c': '3'}}, MERGE), 200)
    assert got['data'] == {'b': '2', 'c': '3'}
    got = check('json', call('PATCH', path, [
        {'op': 'test', 'path': '/data/b', 'value': '2'}, {'op': 'replace', 'path': '/data/b', 'value': '4'},
        {'op': 'add', 'path': '/data/a~1b', 'value': 'x'}, {'op': 'move', 'from': '/data/c', 'path': '/data/d'}],
        JSON_PATCH), 200)
    assert got['data'] == {'b': '4', 'a/b': 'x', 'd': '3'}
    check('json that fails', call('PATCH', path, [{'op': 'test', 'path': '/data/b', 'value': '2'}], JSON_PATCH), 422)
    check('json of no list', call('PATCH', path, {}, JSON_PATCH), 400)
    bomb = [{'op': 'add', 'path': '/data', 'value': {'x': 'y' * 1000}}]
    bomb += [{'op': 'copy', 'from': '/data', 'path': '/data/%d' % i} for i in range(60)]
    check('copies of copies', call('PATCH', path, bomb, JSON_PATCH), 422)
    check('outdated', call('PATCH', path, {'metadata': {'resourceVersion': '1'}}, MERGE), 409)
    check('apply', call('PATCH', path, {}, 'application/apply-patch+yaml'), 415)
    check('uid', call('PATCH', path, {'metadata': {'uid': 'x'}}, MERGE), 409)
    check('delete', call('DELETE', path), 200)
    pods = '/api/v1/namespaces/default/pods'
    pod = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p', 'finalizers': ['a/b', 'c/d']},
           'spec': {'nodeName': 'nowhere', 'containers': [{'name': 'c', 'image': 'host', 'command': ['true']}]}}
    check('pod', call('POST', pods, pod), 201)
    got = check('strategic', call('PATCH', pods + '/p', {'metadata': {
        '$deleteFromPrimitiveList/finalizers': ['a/b'], 'finalizers': ['e/f'], 'labels': {'x': 'y'}},
        'spec': {'containers': [{'name': 'c', 'image': 'host'}]}}, STRATEGIC), 200)
    assert got['metadata']['finalizers'] == ['c/d', 'e/f'] and got['spec']['containers'][0]['command'] == ['true']
    check('a spec that changes', call('PATCH', pods + '/p', {'spec': {'hostNetwork': True}}, MERGE), 422)
    status = check('status', call('PATCH', pods + '/p/status', {'status': {'phase': 'Failed'}, 'spec': None}, MERGE), 200)
    assert status['status']['phase'] == 'Failed' and status['spec']
    waits = check('delete', call('DELETE', pods + '/p'), 200)
    assert waits['metadata']['deletionTimestamp']
    check('still there', call('GET', pods + '/p'), 200)
    check('the last finalizer', call('PATCH', pods + '/p', {'metadata': {'finalizers': None}}, MERGE), 200)
    check('gone', call('GET', pods + '/p'), 404)


def owned(name, owner):
    return config_map(name, metadata={'ownerReferences': [{
        'apiVersion': 'v1', 'kind': 'ConfigMap', 'name': owner['metadata']['name'], 'uid': owner['metadata']['uid'],
        'blockOwnerDeletion': True, 'controller': True}]})


def test_owners():
    for policy in ('Background', 'Foreground', 'Orphan'):
        owner = check('owner', call('POST', MAPS, config_map('owner')), 201)
        child = check('child', call('POST', MAPS, owned('child', owner)), 201)
        grandchild = owned('grandchild', child)
        grandchild['metadata']['finalizers'] = ['test/x'] if policy == 'Foreground' else []
        check('grandchild', call('POST', MAPS, grandchild), 201)
        check('delete', call('DELETE', MAPS + '/owner', {'propagationPolicy': policy}), 200)
        check(policy, call('GET', MAPS + '/owner'), 404)
        check(policy + ': child', call('GET', MAPS + '/child'), 200 if policy == 'Orphan' else 404)
        if policy == 'Foreground':
            check('its finalizer', call('PATCH', MAPS + '/grandchild', {'metadata': {'finalizers': None}}, MERGE), 200)
        if policy == 'Orphan':
            check('child', call('DELETE', MAPS + '/child'), 200)
        check('grandchild', call('GET', MAPS + '/grandchild'), 404)
        check('late', call('POST', MAPS, owned('late', owner)), 201)
        check('a late child stays', call('GET', MAPS + '/late'), 404)
    blocked = check('owner', call('POST', MAPS, config_map('owner')), 201)
    child = owned('child', blocked)
    child['metadata']['finalizers'] = ['test/x']
    check('child', call('POST', MAPS, child), 201)
    check('delete', call('DELETE', MAPS + '/owner?propagationPolicy=Foreground'), 200)
    assert check('waits', call('GET', MAPS + '/owner'), 200)['metadata']['deletionTimestamp']
    check('finalizer', call('PATCH', MAPS + '/child', {'metadata': {'finalizers': None}}, MERGE), 200)
    check('gone', call('GET', MAPS + '/owner'), 404)
    check('a policy that is none', call('DELETE', MAPS + '/x?propagationPolicy=Never'), 404)


def test_watches():
    version = check('list', call('GET', MAPS), 200)['metadata']['resourceVersion']
    watch = Watch(MAPS + '?watch=true&resourceVersion=' + version)
    blue = Watch(MAPS + '?watch=1&labelSelector=color%20in%20(blue,green),!hidden&resourceVersion=' + version)
    one = Watch(MAPS + '?watch=1&fieldSelector=metadata.name%3Dtwo&resourceVersion=' + version)
    check('one', call('POST', MAPS, config_map('one', metadata={'labels': {'color': 'blue'}})), 201)
    check('two', call('POST', MAPS, config_map('two', metadata={'labels': {'color': 'red'}})), 201)
    check('two turns green', call('PATCH', MAPS + '/two', {'metadata': {'labels': {'color': 'green'}}}, MERGE), 200)
    check('one hides', call('PATCH', MAPS + '/one', {'metadata': {'labels': {'hidden': 'yes'}}}, MERGE), 200)
    for name in ('one', 'two'):
        check('delete', call('DELETE', MAPS + '/' + name), 200)
    watch.expect(('ADDED', 'one'), ('ADDED', 'two'), ('MODIFIED', 'two'), ('MODIFIED', 'one'), ('DELETED', 'one'),
                 ('DELETED', 'two'))
    blue.expect(('ADDED', 'one'), ('ADDED', 'two'), ('DELETED', 'one'), ('DELETED', 'two'))
    one.expect(('ADDED', 'two'), ('MODIFIED', 'two'), ('DELETED', 'two'))
    again = Watch(MAPS + '?watch=true&resourceVersion=' + version)
    last = again.expect(('ADDED', 'one'), ('ADDED', 'two'), ('MODIFIED', 'two'))
    later = Watch(MAPS + '?watch=true&timeoutSeconds=1&resourceVersion=' + last['metadata']['resourceVersion'])
    later.expect(('MODIFIED', 'one'), ('DELETED', 'one'), ('DELETED', 'two'))
    assert later.next() is None  # its time is over
    check('three', call('POST', MAPS, config_map('three')), 201)
    Watch(MAPS + '?watch=true').expect(('ADDED', 'three'))
    check('future', call('GET', MAPS + '?watch=true&resourceVersion=99999999'), 410, 'Expired')
    check('no version', call('GET', MAPS + '?watch=true&resourceVersion=x'), 400)
    for selector in ('a in (b', '=', 'a=b=c', '!', 'a in b', 'a b'):
        check('selector ' + selector, call('GET', MAPS + '?labelSelector=' + selector.replace(' ', '%20')), 400)
    check('field', call('GET', MAPS + '?fieldSelector=data.x%3D1'), 400, 'BadRequest', 'field label not supported')
    table = check('table', call('GET', MAPS, accept='application/json;as=Table;v=v1;g=meta.k8s.io,application/json'), 200)
    assert table['kind'] == 'Table' and table['rows'][0]['cells'][0] == 'three'


def test_expiry():
    """What the journal has let go is gone, for a new watch and for one that is slow."""
    old = check('create', call('POST', MAPS, config_map('much')), 201)['metadata']['resourceVersion']
    connection = connect()
    for i in range(4600):
        body = {'data': {'i': str(i)}}
        status, _ = call('PATCH', MAPS + '/much', body, MERGE, connection=connection)
        assert status == 200
    check('expired', call('GET', MAPS + '?watch=true&resourceVersion=' + old), 410, 'Expired')
    check('delete', call('DELETE', MAPS + '/much'), 200)


def test_access():
    for who in (None, 'wrong', token[:-1], token + 'x', ''):
        check('token %s' % who, call('GET', MAPS, who=who), 401, 'Unauthorized')
    check('big, of nobody', call('POST', MAPS, who='wrong', raw=b'x' * 5000000), 401)
    assert call('GET', '/healthz', who=None) == (200, b'ok')
    check('view', call('GET', MAPS, who='viewer-token'), 200)
    check('view creates', call('POST', MAPS, config_map('v'), who='viewer-token'), 403, 'Forbidden',
          'User "vera" cannot create resource "configmaps" in API group "" in the namespace "default"')
    check('view reads secrets', call('GET', '/api/v1/secrets', who='viewer-token'), 403, 'Forbidden', 'cannot list')
    check('view execs', call('POST', '/api/v1/namespaces/default/pods/x/exec?command=ls', who='viewer-token'), 403,
          'Forbidden', 'pods/exec')
    check('edit', call('POST', MAPS, config_map('v'), who='editor-token'), 201)
    check('edit makes a namespace', call('POST', '/api/v1/namespaces', {
        'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'n'}}, who='editor-token'), 403, 'Forbidden')


def test_bodies():
    for raw in (b'', b'{', b'[]', b'null', b'{"a":1}{', b'{"kind":"ConfigMap","kind":"ConfigMap"}', b'\xff\xfe', b'"x"',
                b'{"apiVersion":"v1","kind":"ConfigMap","metadata":"x"}', b'{"apiVersion":"v1","kind":"ConfigMap","metadata":[]}',
                b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"u"},"data":{"a":"\xc3"}}',
                b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"u"},"data":{"a":"\xed\xa0\x80"}}',
                b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"u"},"data":{"a":"\\udc00"}}',
                b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"u"},"data":{"a":"\\u\x1141a"}}',
                b'[' * 100000, b'{"a":' * 100000, b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n"},"data":{"a":00}}'):
        status, body = call('POST', MAPS, raw=raw)
        assert status in (400, 422) and body['status'] == 'Failure', (raw[:60], status, body)
    many = json.dumps(config_map('n', data={str(i): '' for i in range(100000)})).encode()
    check('many fields', call('POST', MAPS, raw=many), 400)
    check('protobuf', call('POST', MAPS, raw=b'k8s\0', kind='application/vnd.kubernetes.protobuf'), 415)
    check('yaml', call('POST', MAPS, raw=b'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: written}\n', kind='application/yaml'), 201)
    check('big', call('POST', MAPS, config_map('big', data={'x': 'y' * 2900000})), 201)
    assert len(check('big', call('GET', MAPS + '/big'), 200)['data']['x']) == 2900000
    check('delete', call('DELETE', MAPS + '/big'), 200)
    check('too big', call('POST', MAPS, raw=b' ' * 4000000), 413, 'RequestEntityTooLarge')
    job = {'apiVersion': 'kubeflow.org/v2beta1', 'kind': 'MPIJob', 'metadata': {'name': 'j'}, 'spec': {}}
    jobs = '/apis/kubeflow.org/v2beta1/namespaces/default/mpijobs'
    check('a job of nothing', call('POST', jobs, job), 422, 'Invalid', 'mpiReplicaSpecs')
    job['spec'] = {'mpiReplicaSpecs': {'Launcher': {'template': {'spec': {'containers': [
        {'name': 'l', 'image': 'host', 'lifecycle': {}}]}}}}}
    check('a job that is not run', call('POST', jobs, job), 422, 'Invalid', 'lifecycle')
    alphabet = b'{}[]",:\\ \n0123456789eE+-.truefalsnul\xc3\xa4\x00\xff'
    for _ in range(300):
        start = json.dumps(config_map('f', data={'a': 'b'})).encode()
        raw = bytearray(start)
        for _ in range(draw.randrange(1, 6)):
            raw[draw.randrange(len(raw))] = draw.choice(alphabet)
        status, body = call('POST', MAPS, raw=bytes(raw), connection=connect())
        assert status in (201, 400, 409, 422), (raw, status, body)
        if status == 201:
            call('DELETE', MAPS + '/' + body['metadata']['name'])


def test_raw():
    """What is no HTTP, or no TLS, or stops in the middle, harms nobody."""
    for data in (b'\x00' * 1000, b'GET / HTTP/1.1\r\n', b'', bytes(draw.randrange(256) for _ in range(5000))):
        plain = socket.create_connection((host, int(port)), 60)
        plain.sendall(data)
        plain.close()
        sealed = context.wrap_socket(socket.create_connection((host, int(port)), 60), server_hostname=host)
        sealed.sendall(data)
        sealed.close()
    check('alive', call('GET', MAPS), 200)


def test_connections():
    """Two hundred watches, and each hears of the same change; then all hang up at once."""
    watches = []
    version = check('list', call('GET', MAPS), 200)['metadata']['resourceVersion']

    def add():
        watch = Watch(MAPS + '?watch=true&resourceVersion=' + version)
        watches.append(watch)

    threads = [threading.Thread(target=add) for _ in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(watches) == 200
    check('create', call('POST', MAPS, config_map('all')), 201)
    for watch in watches:
        watch.expect(('ADDED', 'all'))
    for watch in watches:
        watch.connection.close()
    check('alive', call('DELETE', MAPS + '/all'), 200)


def kept():
    """All that there is, for a comparison."""
    lists = {path: check(path, call('GET', path), 200)['items'] for path in (
        '/api/v1/configmaps', '/api/v1/secrets', '/api/v1/namespaces')}
    print(json.dumps(lists, sort_keys=True))


if __name__ != '__main__':
    pass
elif sys.argv[2:] == ['kept']:
    kept()
else:
    print('MUR_TEST_SEED=%d' % seed)
    for test in sys.argv[2:] or [name for name in list(globals()) if name.startswith('test_')]:
        globals()[test]()
        print(test)
