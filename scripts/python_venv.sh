# python_venv.sh: virtual environments, for scripts to source.
#
#   venv DIR PACKAGES...   makes DIR, if it is not there, and installs packages that it lacks
# shellcheck shell=bash
venv()
{
    local dir=$1
    shift
    [ -x "$dir/bin/python" ] || "${PYTHON:-python3}" -m venv "$dir" || return
    "$dir/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
}
