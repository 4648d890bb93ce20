# python_venv.sh: virtual environments, for scripts to source.
#
#   venv DIR PACKAGES...   makes DIR, if it is not there, and installs packages that it lacks. What is downloaded is said
#                          before; with SETUP=no nothing is, and the line to run is printed instead
# shellcheck shell=bash
venv()
{
    local dir=$1 python=${PYTHON:-python3}
    shift
    [ "$(cat "$dir/packages" 2> /dev/null)" != "$*" ] || return 0
    if [ "${SETUP:-}" = no ]; then
        echo "python: please run: $python -m venv $dir && $dir/bin/pip install $* && echo '$*' > $dir/packages"
        return 1
    fi
    echo "python: downloading $* from PyPI into $dir/ (SETUP=no does without)"
    [ -x "$dir/bin/python" ] || "$python" -m venv "$dir" || return
    "$dir/bin/python" -m pip install --quiet --disable-pip-version-check "$@" && echo "$*" > "$dir/packages"
}
