# SPDX-License-Identifier: BSD-3-Clause
"""Archives whose bytes depend on their contents only."""

import tarfile

import tree


def make(path, folder, inside):
    """Packs the folder under the name `inside` into path, compressed by xz."""
    with tarfile.open(path, 'w:xz', preset=6, format=tarfile.PAX_FORMAT) as file:
        for source in [folder, *sorted(folder.rglob('*'))]:
            name = inside if source == folder else f'{inside}/{source.relative_to(folder)}'
            entry = file.gettarinfo(source, name)
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = 'root'
            entry.mtime = tree.epoch()
            if entry.isfile():
                with open(source, 'rb') as data:
                    file.addfile(entry, data)
            else:
                file.addfile(entry)
