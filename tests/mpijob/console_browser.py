#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The console's page in Chromium: from a log in to a job that is made by form, watched, read, cloned, edited and
deleted: console_browser.py LINK PICTURES KUBECONFIG CONSOLE, where CONSOLE is a command that starts or ends the console"""
import os
import subprocess
import sys
import time

import webdriver

link, pictures, config, console = sys.argv[1:5]
sys.argv[1:] = [config, 'nothing']
import api

JOBS = '/apis/kubeflow.org/v2beta1/namespaces/default/mpijobs'
MANY = 1000
browser = webdriver.Browser()
LOOKS = [(1280, False), (1280, True), (390, False), (390, True)]


def pictures_of(name):
    """Of what is shown, in all widths and themes. Nothing may be wider than the page."""
    for width, dark in LOOKS:
        browser.size(width, 900)
        browser.theme(dark)
        time.sleep(0.3)
        wide = browser.run('return document.documentElement.scrollWidth')
        assert wide <= width, '%s is %d pixels wide on a page of %d' % (name, wide, width)
        browser.picture(os.path.join(pictures, '%s-%d-%s.png' % (name, width, 'dark' if dark else 'light')))
    browser.size(1280, 900)
    browser.theme(False)


def fill_form():
    browser.type('#f-name', 'training')
    browser.type('#f-description', 'Two workers, thirty steps')
    browser.type('#f-image', 'registry.example/train:1')
    browser.type('#f-start', '--allow-run-as-root -np 2 -x PATH train --steps 30 | tee /proc/1/fd/1')
    browser.type('#f-environment', 'NCCL_DEBUG=INFO\nEMPTY=')
    browser.type('#f-workerCpu', '2')
    browser.type('#f-workerMemory', '2Gi')


def numbers_contradict():
    browser.wait_text('#total', '3 (1 launcher, 2 workers); room for 2 ranks')
    browser.type('#f-start', '-np 5 train --steps 30')
    browser.wait_text('#c-start', '-np 5 asks for 5 ranks, but 2 workers of 1 slot have room for 2')
    browser.type('#f-launchers', '2')
    browser.wait_text('#c-launchers', 'must be 1')
    browser.wait_text('#total', '4 (2 launcher')
    pictures_of('wrong')
    browser.click('#submit')
    browser.wait_text('#whole', 'cannot be created')
    assert '#/new' in browser.run('return location.hash')
    browser.type('#f-launchers', '1')
    browser.type('#f-slots', 'many')
    browser.wait_text('#c-slots', 'must be of type integer')
    browser.type('#f-slots', '1')


def by_form():
    browser.click('a', 'New job')
    fill_form()
    numbers_contradict()
    browser.type('#f-setup', 'echo set up')
    browser.type('#f-start', "-np 2 -host training-worker-1,training-worker-0 -x PATH sh -c 'train --steps 30 | tee -a /proc/1/fd/1; sleep 3'")
    browser.choose('#f-clean', 'None')
    browser.until('the command in the YAML', lambda: 'exec mpirun -np 2' in browser.value('#yaml') and 'echo set up' in browser.value('#yaml'))
    browser.until('no complaint', lambda: not browser.text('.findings').strip())
    pictures_of('new')
    browser.click('#submit')
    at_job('training')


def at_job(name):
    browser.until('the page of ' + name, lambda: browser.run('return location.hash') == '#/jobs/' + name)


def read_log(pod, text):
    browser.click('[data-pod=%s]' % pod)
    browser.wait_text('#log-title', pod)
    browser.wait_text('#log', text)
    browser.type('#log-search', text)
    browser.find('#log mark', text)


def watch():
    read_log('training-worker-1', 'total images/sec')
    browser.find('.badge', 'Succeeded')
    browser.wait_text('.timeline', 'Succeeded')
    browser.wait_text('.events', 'MPIJobSucceeded')
    read_log('training-launcher', 'set up')
    browser.wait_text('#log-note', 'complete')
    browser.click('#log-times')
    browser.find('#log .time')
    browser.click('#log-only')
    browser.until('only the matches', lambda: browser.run('return document.querySelectorAll("#log .line").length') == 1)
    pictures_of('job')


def set_yaml(change):
    text = change(browser.value('#yaml'))
    browser.run("const e = arguments[0]; e.value = arguments[1]; e.dispatchEvent(new Event('input', {bubbles: true}))",
                {webdriver.ELEMENT: browser.find('#yaml')}, text)


def clone_and_edit():
    browser.click('a', 'Clone')
    browser.until('the name of the clone', lambda: browser.value('#f-name') == 'training-2')
    assert browser.value('#f-environment') == 'NCCL_DEBUG=INFO\nEMPTY='
    set_yaml(lambda text: text + '   wrong: [')
    browser.wait_text('#findings', 'line ')
    set_yaml(lambda text: text.split('   wrong')[0].replace('slotsPerWorker: 1', 'slotPerWorker: 1'))
    browser.wait_text('#findings', 'unknown field "spec.slotPerWorker"')
    set_yaml(lambda text: text.replace('slotPerWorker: 1', 'slotsPerWorker: 3').replace('backoffLimit: 3', 'backoffLimit: 0'))
    browser.until('the fields follow', lambda: browser.value('#f-slots') == '3' and browser.value('#f-retries') == '0')
    browser.type('#f-setup', '')
    browser.type('#f-start', "-np 2 sh -c 'echo \"<img src=x onerror=hacked=1>\"; exec sleep 500'")
    browser.type('#f-description', '</pre><script>hacked=1</script>')
    browser.until('the YAML follows', lambda: '- "2"' in browser.value('#yaml') and 'hacked' in browser.value('#yaml'))
    browser.click('#submit')
    at_job('training-2')


def suspend_and_hurt():
    browser.wait_text('#log', '<img src=x onerror=hacked=1>')
    assert browser.run('return window.hacked === undefined'), 'a script of a log or a description has run'
    browser.click('button', 'Suspend')
    browser.find('.badge', 'Suspended')
    browser.click('button', 'Resume')
    browser.find('.row .badge', 'Running')
    browser.find('[data-pod=training-2-launcher] .badge', 'Running')
    browser.click('[data-pod=training-2-launcher]')
    browser.wait_text('#log', '<img src=x')
    api.check('a worker is killed', api.call('DELETE', '/api/v1/namespaces/default/pods/training-2-worker-0',
                                             {'kind': 'DeleteOptions', 'apiVersion': 'v1', 'gracePeriodSeconds': 0}), 200)
    browser.wait_text('p.failed', 'BackoffLimitExceeded')
    browser.wait_text('#log', 'training-2-worker-0')
    pictures_of('failed')


def restart():
    """The page notices that the console is gone, and when it is back, shows what has happened meanwhile."""
    browser.open(link_page + '#/')
    browser.find('td', 'training-2')
    subprocess.run([console, 'end'], check=True)
    browser.wait_text('#trouble', 'Trying again')
    pictures_of('trouble')
    api.check('made meanwhile', api.call('POST', JOBS, job('meanwhile')), 201)
    subprocess.run([console, 'start'], check=True)
    browser.find('td', 'meanwhile')
    browser.until('no trouble any more', lambda: not browser.text('#trouble'))


def job(name):
    box = lambda role: {'spec': {'containers': [{'name': role, 'image': 'host', 'command': ['sh', '-c'], 'args': ['true']}]}}
    return {'apiVersion': 'kubeflow.org/v2beta1', 'kind': 'MPIJob', 'metadata': {'name': name}, 'spec': {
        'runPolicy': {'suspend': True}, 'mpiReplicaSpecs': {'Launcher': {'replicas': 1, 'template': box('launcher')},
                                                            'Worker': {'replicas': 2, 'template': box('worker')}}}}


def delete():
    browser.open(link_page + '#/jobs/training-2')
    browser.click('button', 'Delete')
    browser.click('dialog button', 'Cancel')
    browser.until('no dialog', lambda: not browser.run('return document.querySelector("dialog")'))
    browser.click('button', 'Delete')
    browser.find('dialog')
    pictures_of('delete')
    browser.click('dialog button.danger')
    browser.until('the list', lambda: browser.run('return location.hash') == '#/')
    browser.until('it is gone', lambda: 'training-2' not in browser.text('table'))


def long_log():
    one = job('long')
    one['spec']['runPolicy'] = {'cleanPodPolicy': 'None'}
    one['spec']['mpiReplicaSpecs']['Launcher']['template']['spec']['containers'][0]['args'] = [
        "seq -f 'line %%.0f of a log that is long: %s' 1000000" % ('x' * 60)]
    api.check('long', api.call('POST', JOBS, one), 201)
    browser.until('the pod', lambda: api.call('GET', '/api/v1/namespaces/default/pods/long-launcher')[0] == 200)
    browser.open(link_page + '#/jobs/long')
    browser.click('[data-pod=long-launcher]')
    browser.wait_text('#log-note', 'complete')
    browser.wait_text('#log', 'line 1000000 of')
    browser.run('const e = document.getElementById("log"); e.scrollTop = e.scrollHeight / 2')
    browser.until('the middle', lambda: 400000 < browser.run('return Number(document.querySelector("#log .count").textContent)') < 600000)
    assert browser.run('return document.querySelectorAll("#log .line").length') < 200
    browser.type('#log-search', 'line 77777')
    browser.wait_text('.tools', '11 lines')
    browser.press('enter')
    browser.find('#log .line.current', 'line 77777 of')


def many_jobs():
    connection = api.connect()
    for i in range(MANY):
        api.check('job %d' % i, api.call('POST', JOBS, job('many-%04d' % i), connection=connection), 201)
    browser.open(link_page + '#/')
    browser.until('all jobs', lambda: any(int(word) >= MANY for word in browser.text('main .quiet').split() if word.isdigit()))
    assert browser.run('return document.querySelectorAll("tbody tr").length') < 100, 'rows that are not in sight'
    pictures_of('jobs')
    browser.run('const e = document.querySelector(".scroller"); e.scrollTop = e.scrollHeight')
    browser.find('td', 'training')
    browser.type('#search', 'many-0777')
    browser.wait_text('main .quiet', '1 of ')
    browser.find('td', 'many-0777')


def without_mouse():
    """From the list into a job, by keys alone."""
    for _ in range(40):
        browser.press('tab')
        if browser.run('return document.activeElement.textContent') == 'many-0777':
            break
    browser.press('enter')
    at_job('many-0777')
    assert browser.run('return document.activeElement.tagName') == 'H1', 'the focus is not on the new page'


def log_in():
    browser.open(link_page)
    browser.wait_text('#main', 'Log in')
    pictures_of('login')
    browser.type('#token', 'a token that is wrong')
    browser.press('enter')
    browser.wait_text('.complaint', 'not known')
    browser.open(link)
    browser.run('location.reload()')
    browser.wait_text('#main', 'no jobs yet')
    assert 'token' not in browser.run('return location.href'), 'the token is left in the address'


link_page = link.split('#')[0]
try:
    log_in()
    by_form()
    watch()
    clone_and_edit()
    suspend_and_hurt()
    restart()
    delete()
    long_log()
    many_jobs()
    without_mouse()
    faults = [one for one in browser.said() if 'Failed to load resource' not in one and 'Password forms' not in one and 'ERR_' not in one]
    assert not faults, 'the browser complains: %s' % faults
finally:
    browser.close()
