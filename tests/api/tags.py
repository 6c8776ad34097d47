#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that no tag of a struct, union or enum that begins with mur_ is defined twice in src/, launch/, libmurmur/, compat/ and mpijob/, so that a
reader who looks for one finds the one: tags.py ROOT"""

import collections
import pathlib
import re
import sys

DEFINITION = re.compile(r'^\s*(?:typedef\s+|static\s+|const\s+)*(?:struct|union|enum)\s+(mur_\w+)\s*\{', re.MULTILINE)


def main():
    root = pathlib.Path(sys.argv[1])
    places = collections.defaultdict(list)
    for part in ('src', 'launch', 'libmurmur', 'compat', 'mpijob'):
        for path in sorted((root / part).rglob('*.[ch]')):
            for match in DEFINITION.finditer(path.read_text()):
                places[match.group(1)].append(path.relative_to(root).as_posix())
    twice = {tag: where for tag, where in places.items() if len(where) > 1}
    for tag, where in sorted(twice.items()):
        print(f'the tag {tag} is defined in {" and ".join(where)}')
    if len(places) < 100:
        sys.exit(f'only {len(places)} definitions were found below {root}')
    if twice:
        sys.exit(1)
    print(f'each of {len(places)} tags is defined once')


main()
