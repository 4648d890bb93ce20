"""The tests use an installed heddle, or the package beside them with the library that HEDDLE_LIBRARY names."""

import os
import sys
from pathlib import Path

import hypothesis

PACKAGE = Path(__file__).resolve().parents[1]
if "--installed" not in sys.argv:
    sys.path.insert(0, str(PACKAGE))

if "HEDDLE_TEST_BUCKET" in os.environ:  # the library has few tables, and none with the buckets that it would choose
    from heddle import _words

    _words.DEFAULTS["bucket"] = int(os.environ["HEDDLE_TEST_BUCKET"])

hypothesis.settings.register_profile("short", max_examples=40, deadline=None)
hypothesis.settings.register_profile("long", max_examples=1000, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "short"))


def pytest_addoption(parser):
    parser.addoption(
        "--installed", action="store_true", help="test the installed package instead of the one in python/"
    )


def pytest_configure(config):
    config.addinivalue_line("markers", "forks: runs before all others, while no framework has threads")


def pytest_collection_modifyitems(items):
    """JAX starts threads, and a process in which they are must not fork."""
    items.sort(key=lambda item: item.get_closest_marker("forks") is None)
