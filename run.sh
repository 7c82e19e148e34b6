#!/bin/sh
# Sets up what is missing, builds build/ in release mode and runs eqloom with the arguments given;
# without any, the main job: eqloom run jobs/quickstart.yaml.
. "$(dirname "$(readlink -f "$0")")/setup.sh"
ensure_packages $build_packages
build_in build all $options
[ $# -gt 0 ] || set -- run jobs/quickstart.yaml
exec build/eqloom "$@"
