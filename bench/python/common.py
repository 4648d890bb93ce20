"""What the benchmarks here share: the lines at the head of a file of figures."""

import datetime
import importlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if "--installed" in sys.argv:
    sys.argv.remove("--installed")
else:
    sys.path.insert(0, str(ROOT / "python"))


def commit():
    done = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    changed = subprocess.run(
        ["git", "-C", ROOT, "status", "--porcelain", "--untracked-files=no"], capture_output=True, text=True
    )
    return done.stdout.strip() + ("-dirty" if changed.stdout.strip() else "") or "unknown"


def versions(names):
    found = []
    for name in names:
        try:
            found.append(f"{name} {importlib.import_module(name).__version__}")
        except ImportError:
            continue
    return ", ".join(found)


def head(device, peers=()):
    """The command, the commit, the date, the device and the versions, as lines of comment."""
    import heddle

    load = os.getloadavg()[0]
    return [
        f"# command: python {os.path.relpath(sys.argv[0], ROOT)} {' '.join(sys.argv[1:])}".rstrip(),
        f"# commit: {commit()}",
        f"# date: {datetime.date.today()}",
        f"# device: {heddle.Device(device)!r}, load before {load:.1f}",
        f"# versions: heddle {heddle.__version__}, python {sys.version.split()[0]}, {versions(['numpy', *peers])}",
    ]
