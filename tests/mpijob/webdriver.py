# SPDX-License-Identifier: BSD-3-Clause
"""A browser for tests, by the WebDriver protocol (https://www.w3.org/TR/webdriver2) over plain HTTP."""
import base64
import http.client
import json
import shutil
import subprocess
import tempfile
import time

ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
TIMEOUT = 30
KEYS = {'enter': '\ue007', 'tab': '\ue004', 'control': '\ue009', 'escape': '\ue00c'}


def is_there():
    return all(map(shutil.which, ('chromium', 'chromedriver')))


class Browser:
    def __init__(self, width=1280, height=900, dark=False):
        self.folder = tempfile.TemporaryDirectory(prefix='mpijob-browser-')
        self.driver = subprocess.Popen(['chromedriver', '--port=0'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            if 'started successfully on port' in line:
                self.port = int(line.split('port')[1].strip(' .\n'))
                break
        arguments = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--user-data-dir=' + self.folder.name,
                     '--window-size=%d,%d' % (width, height)]
        answer = self.send('POST', '/session', {'capabilities': {'alwaysMatch': {
            'browserName': 'chrome', 'goog:loggingPrefs': {'browser': 'ALL'}, 'goog:chromeOptions': {'args': arguments}}}}, bare=True)
        self.session = '/session/' + answer['sessionId']
        self.size(width, height)
        self.theme(dark)

    def send(self, method, path, body=None, bare=False):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=120)
        connection.request(method, path if bare else self.session + path, json.dumps(body or {}) if method == 'POST' else None)
        value = json.loads(connection.getresponse().read())['value']
        if isinstance(value, dict) and 'error' in value:
            raise RuntimeError('%s %s: %s' % (method, path, value['message'].split('\n')[0]))
        return value

    def command(self, name, **parameters):
        return self.send('POST', '/goog/cdp/execute', {'cmd': name, 'params': parameters})

    def size(self, width, height):
        self.command('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def theme(self, dark):
        self.command('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])

    def open(self, url):
        self.send('POST', '/url', {'url': url})

    def run(self, script, *words):
        return self.send('POST', '/execute/sync', {'script': script, 'args': list(words)})

    def until(self, what, test):
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            try:
                value = test()
            except RuntimeError:
                value = None
            if value:
                return value
            time.sleep(0.1)
        raise AssertionError('not within %d s: %s; the page says: %s; its console: %s' % (TIMEOUT, what, self.text()[:3000], self.said()))

    def find(self, css, text=None):
        """The first element that is shown, which has the text."""
        def look():
            return self.run('''return [...document.querySelectorAll(arguments[0])].find((e) => e.getClientRects().length &&
                (arguments[1] === null || e.textContent.includes(arguments[1]))) || null''', css, text)
        return self.until('%s %s' % (css, text or ''), look)[ELEMENT]

    def click(self, css, text=None):
        """An element that the page has replaced meanwhile is looked for again."""
        def press():
            self.send('POST', '/element/%s/click' % self.find(css, text))
            return True
        self.until('a click on %s' % css, press)

    def type(self, css, text, fresh=True):
        element = self.find(css)
        if fresh:
            self.send('POST', '/element/%s/clear' % element)
        self.send('POST', '/element/%s/value' % element, {'text': text})

    def choose(self, css, value):
        self.run('''arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', {bubbles: true}));
            arguments[0].dispatchEvent(new Event('change', {bubbles: true}))''', {ELEMENT: self.find(css)}, value)

    def press(self, *keys):
        steps = [{'type': 'keyDown', 'value': KEYS.get(key, key)} for key in keys]
        steps += [{'type': 'keyUp', 'value': KEYS.get(key, key)} for key in reversed(keys)]
        self.send('POST', '/actions', {'actions': [{'type': 'key', 'id': 'keys', 'actions': steps}]})

    def text(self, css='body'):
        return self.run('const e = document.querySelector(arguments[0]); return e ? e.innerText : ""', css)

    def value(self, css):
        return self.run('return document.querySelector(arguments[0]).value', css)

    def wait_text(self, css, text):
        return self.until('"%s" in %s' % (text, css), lambda: text in (self.text(css) or ''))

    def picture(self, path):
        """Of the whole page, not only of what is in sight."""
        self.run('scrollTo(0, 0)')
        width, height = self.run('const e = document.documentElement; return [e.clientWidth, e.scrollHeight]')
        data = self.command('Page.captureScreenshot', format='png', captureBeyondViewport=True,
                            clip={'x': 0, 'y': 0, 'width': width, 'height': height, 'scale': 1})['data']
        with open(path, 'wb') as file:
            file.write(base64.b64decode(data))

    def said(self):
        return [one['message'] for one in self.send('POST', '/se/log', {'type': 'browser'})]

    def close(self):
        try:
            self.send('DELETE', '')
        except (RuntimeError, OSError):
            pass
        self.driver.terminate()
        self.driver.wait()
        self.folder.cleanup()
