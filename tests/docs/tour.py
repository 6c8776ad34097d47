#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that every name and file that docs/tour.md mentions exists: tour.py ROOT"""
import os
import re
import subprocess
import sys

root = sys.argv[1]
text = open(os.path.join(root, "docs", "tour.md"), encoding="utf-8").read()
folders = [os.path.join(root, folder) for folder in ("src", "launch", "api")]
missing = []
for name in sorted(set(re.findall(r"`([^`]+)`", text))):
    if "/" in name and " " not in name:
        found = os.path.exists(os.path.join(root, name))
    elif re.fullmatch(r"[A-Za-z_]+", name) and ("_" in name or name.islower()) and not name.startswith("MPI_"):
        found = subprocess.run(["grep", "-rqw", "--", name] + folders, check=False).returncode == 0
    else:
        continue  # prose: a call or a command line
    if not found:
        missing.append(name)
for name in missing:
    print(f"docs/tour.md mentions {name}, which is not there")
print(f"{len(missing)} names missing")
sys.exit(1 if missing else 0)
