#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that what prose mentions exists: names.py ROOT

Prose is the Markdown files and the comments of the C, Python, shell and CMake sources. Files that it names (code.c,
part/code.h), functions and variables of the project (mur_...), and settings (MUR_...) must be there. In the Markdown
files, words in backquotes that look like names must be words of the sources, too. The table of docs/settings.md must have
every setting of src/base/settings.c, and no other that the code does not know.
"""
import os
import re
import sys

CODE = ("src", "launch", "libmurmur", "mpijob", "api", "compat", "tests", "bench", "tools", "examples", "cmake")
COMMENT = {".c": r"/\*.*?\*/", ".h": r"/\*.*?\*/", ".py": r"#[^\n]*|\"\"\".*?\"\"\"", ".sh": r"#[^\n]*", ".txt": r"#[^\n]*",
           ".cmake": r"#[^\n]*"}
FILE = re.compile(r"(?<![\w/.<*-])((?:[a-z_0-9]+/)*[a-z_0-9]+\.(?:c|h|py))\b(?!\.)")
FOREIGN = re.compile(r"^(std|sys/|netinet/|include/uapi/|pthread)|^(hello|code)\.c$|^part/code\.h$")  # and examples
GENERATED = {"mpi.h", "mpif.h", "constants_table.c", "facts.h", "facts.c", "door.h", "door.c", "bodies.h", "calls.c", "calls.h", "constants.c", "prototypes.c"}
EXAMPLES = {"mur_noun_verb", "mur_KIND"}


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def walk(root):
    """Paths below root, of what is kept in the repository."""
    for part in CODE + ("docs", ""):
        for folder, _, names in os.walk(os.path.join(root, part)) if part else [(root, [], os.listdir(root))]:
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    yield os.path.relpath(path, root)


def prose_of(path, text):
    """(line number, text) of each piece of prose."""
    ending = os.path.splitext(path)[1]
    if ending == ".md":
        yield 1, text
    elif ending in COMMENT:
        for found in re.finditer(COMMENT[ending], text, re.S):
            yield text.count("\n", 0, found.start()) + 1, found.group()


def main(root):
    paths = sorted(set(walk(root)))
    texts = {path: read(os.path.join(root, path)) for path in paths}
    sources = {path: text for path, text in texts.items() if not path.endswith(".md")}
    bare = {}  # without comments: what is there, not what is told
    for path, text in sources.items():
        pattern = COMMENT.get(os.path.splitext(path)[1])
        bare[path] = re.sub(pattern, " ", text, flags=re.S) if pattern and path.endswith((".c", ".h")) else text
    words = set(re.findall(r"\w+", " ".join(bare.values()))) | EXAMPLES
    files = set(paths) | {os.path.basename(path) for path in paths}
    tails = {"/".join(path.split("/")[-n:]) for path in paths for n in (2, 3)}
    wrong = []

    def missing(path, line, what):
        wrong.append(f"{path}:{line}: mentions {what}, which is not there")

    for path, text in texts.items():
        for start, prose in prose_of(path, text):
            for number, line in enumerate(prose.split("\n"), start):
                for name in FILE.findall(line):
                    is_made = os.path.basename(name) in GENERATED
                    if not is_made and name not in files and name not in tails and not FOREIGN.search(name):
                        missing(path, number, name)
                for name in re.findall(r"\b(?:mur|MUR)_\w*[a-zA-Z0-9]\b(?![*_])", line):
                    is_key = name.startswith("mur_") and f'"{name[4:]}"' in texts["src/coll/algorithms.c"]
                    if not is_key and name not in words and not any(word.startswith(name + "_") for word in words):
                        missing(path, number, name)
    for path in (path for path in texts if path.endswith(".md")):
        for name in re.findall(r"`([^`\n]+)`", texts[path]):
            if "/" in name and " " not in name and name.split("/")[0] in CODE + ("docs",):
                if not os.path.exists(os.path.join(root, name.rstrip("/"))) and not re.search(r"[*<]", name):
                    missing(path, 1, name)
            elif path == "docs/tour.md" and re.fullmatch(r"[A-Za-z_]+", name) and name not in words and (
                    "_" in name or name.islower()) and not name.startswith("MPI_"):
                missing(path, 1, name)
    settings = set(re.findall(r'\{"(MUR_\w+)", "[a-z]', texts["src/base/settings.c"]))
    table = set(re.findall(r"MUR_\w+", " ".join(line.split("|")[1] for line in texts[os.path.join("docs", "settings.md")].split("\n")
                                                 if line.startswith("| `MUR_"))))
    for name in sorted(settings - table):
        wrong.append(f"docs/settings.md: the table of settings has no {name}")
    print("\n".join(wrong) if wrong else "all names are there")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
