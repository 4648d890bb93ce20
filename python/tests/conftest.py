"""The tests use an installed heddle, or the package beside them with the library that HEDDLE_LIBRARY names."""

import sys
from pathlib import Path

import hypothesis

PACKAGE = Path(__file__).resolve().parents[1]
if "--installed" not in sys.argv:
    sys.path.insert(0, str(PACKAGE))

hypothesis.settings.register_profile("short", max_examples=40, deadline=None)
hypothesis.settings.load_profile("short")


def pytest_addoption(parser):
    parser.addoption("--installed", action="store_true", help="test the installed package instead of the one in python/")
