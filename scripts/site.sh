#!/usr/bin/env bash
# site.sh: makes the web site of all documents and of the reference of the C interface: build-site/html/index.html.
#
# Sphinx and what it needs come from PyPI, in the versions of scripts/site/requirements.txt, into an environment of their
# own, build-site/tools/. What is downloaded is said before; with SETUP=no nothing is, and the line to run is printed
# instead. A link that leads nowhere, and a name of the C interface that nothing declares, end this with 1.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=build-site/tools wanted=scripts/site/requirements.txt

# Whether the environment has these versions.
ready() { cmp -s "$wanted" "$tools/requirements.txt" && [ -x "$tools/bin/sphinx-build" ]; }

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    { echo "site: $(python3 --version) is too old: Sphinx needs Python 3.11 or later" >&2; exit 1; }
if ! ready; then
    fetch="python3 -m venv $tools && $tools/bin/pip install -r $wanted && cp $wanted $tools/"
    if [ "${SETUP:-}" = no ]; then
        echo "site: please run: $fetch" >&2
        exit 1
    fi
    echo "site: downloading Sphinx, Furo and MyST from PyPI into $tools/ (120 MB; SETUP=no does without)"
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check -r "$wanted"
    cp "$wanted" "$tools/"
fi
python3 scripts/site/stage.py build-site/source
"$tools/bin/sphinx-build" -W --keep-going -n -q -E -j auto -c scripts/site build-site/source build-site/html
echo "site: build-site/html/index.html"
