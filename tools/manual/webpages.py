# SPDX-License-Identifier: BSD-3-Clause
"""Writes pages as HTML that works from a file system: one file a page, a style, and a list with a search that is a few
lines of script over a table of names and summaries."""

import html
import json

from document import Code, Items, Paragraph, inline

STYLE = '''\
:root { color-scheme: light dark; --line: #8885; --mark: #07a; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52em; margin: 0 auto; padding: 1em 1.2em 4em; }
nav { border-bottom: 1px solid var(--line); padding-bottom: .5em; }
h1 { font-size: 1.5em; margin: .8em 0 .2em; } h2 { font-size: 1.05em; margin: 1.6em 0 .3em; }
code, pre, input, dt { font-family: ui-monospace, monospace; font-size: .92em; }
pre { border-left: 3px solid var(--line); padding: .2em .9em; overflow-x: auto; }
dt { margin-top: .6em; } dd { margin: 0 0 0 2em; } p { margin: .5em 0; }
a { color: var(--mark); text-decoration: none; } a:hover { text-decoration: underline; }
input { width: 100%; padding: .5em; box-sizing: border-box; }
ul { list-style: none; padding: 0; columns: 1; } li { padding: .1em 0; }
'''

SEARCH = '''\
// Shows the pages whose names or summaries have all words that were typed.
const box = document.getElementById('search'), list = document.getElementById('list');
function show() {
  const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const found = pages.filter(p => words.every(w => (p[1] + ' ' + p[2]).toLowerCase().includes(w)));
  list.replaceChildren(...found.map(p => {
    const item = document.createElement('li'), link = document.createElement('a');
    link.href = p[0];
    link.textContent = p[1].split(' ')[0];
    item.append(link, ' \\u2013 ' + p[2]);
    return item;
  }));
}
box.addEventListener('input', show);
box.value = decodeURIComponent(location.hash.slice(1));
show();
'''


def file_of(page):
    return f'{page.name}.{page.section}.html'


class Writer:
    def __init__(self, pages, version):
        self.pages, self.version = pages, version
        self.places = {(name, page.section): file_of(page) for page in pages for name in page.names}

    def text(self, text):
        parts = []
        for kind, piece in inline(text):
            name, section = piece.split() if kind == 'page' else (piece, '3')
            place = self.places.get((name, section)) if kind in ('page', 'function') else None
            shown = html.escape(f'{name}({section})' if kind == 'page' else piece)
            if place:
                parts.append(f'<a href="{place}">{shown}</a>')
            else:
                tag = {'literal': 'code', 'function': 'code', 'variable': 'i'}.get(kind)
                parts.append(f'<{tag}>{shown}</{tag}>' if tag else shown)
        return ''.join(parts)

    def block(self, block):
        if isinstance(block, Paragraph):
            return f'<p>{self.text(block.text)}</p>\n'
        if isinstance(block, Code):
            return '<pre>' + html.escape('\n'.join(block.lines)) + '</pre>\n'
        assert isinstance(block, Items)
        return '<dl>\n' + ''.join(f'<dt>{self.text(term)}</dt><dd>{self.text(text)}</dd>\n'
                                  for term, text in block.pairs) + '</dl>\n'

    def frame(self, title, body):
        return '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n' \
               '<meta name="viewport" content="width=device-width">\n' \
               f'<title>{html.escape(title)}</title><link rel="stylesheet" href="manual.css"></head>\n<body>\n' \
               f'{body}</body></html>\n'

    def page(self, page):
        body = f'<nav><a href="index.html">Murmur {self.version}: all pages</a></nav>\n' \
               f'<h1>{html.escape(page.name)}({page.section})</h1>\n<p>{html.escape(", ".join(page.names))} &ndash; ' \
               f'{html.escape(page.summary)}</p>\n'
        for heading, blocks in page.sections:
            body += f'<h2>{html.escape(heading.capitalize())}</h2>\n' + ''.join(map(self.block, blocks))
        return self.frame(f'{page.name}({page.section})', body)

    def index(self):
        rows = sorted(([file_of(p), ' '.join(p.names), p.summary] for p in self.pages), key=lambda row: row[1])
        listed = ''.join(f'<li><a href="{file}">{html.escape(names.split()[0])}</a> &ndash; {html.escape(summary)}</li>\n'
                         for file, names, summary in rows)
        data = json.dumps(rows, separators=(',', ':')).replace('</', '<\\/')
        return self.frame('Murmur: the manual', f'<h1>Murmur {self.version}: the manual</h1>\n'
                          '<p><input id="search" placeholder="search: send, window, -map-by" autofocus></p>\n'
                          f'<ul id="list">\n{listed}</ul>\n<script>const pages = {data};\n{SEARCH}</script>\n')

    def files(self):
        yield 'index.html', self.index()
        yield 'manual.css', STYLE
        for page in self.pages:
            yield file_of(page), self.page(page)
