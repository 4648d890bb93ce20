#!/bin/sh
# environment.sh: the library reads a variable of the environment only where a user can learn of it: every getenv in src/
# names its variable, the name begins with HEDDLE_, and a page of docs/ says what it does.
set -eu
cd "$(dirname "$0")/../.."
failed=0
if grep -rn 'getenv' src | grep -vE '[^A-Za-z0-9_]getenv\("HEDDLE_[A-Z_]+"\)'; then
    echo "these lines do not name a variable that begins with HEDDLE_"
    failed=1
fi
for name in $(grep -rhoE 'getenv\("HEDDLE_[A-Z_]+"\)' src | sed 's/.*"\(.*\)".*/\1/' | sort -u); do
    if ! grep -rqE "(^|[^A-Z_])$name([^A-Z_]|\$)" --include='*.md' docs; then
        echo "no page of docs/ says what $name does"
        failed=1
    fi
done
[ $failed = 0 ]
