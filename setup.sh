# Sourced by run.sh and test.sh: installs the Debian packages that are missing, then configures and
# builds. Nothing is installed when everything is there.
set -eu
cd "$(dirname "$(readlink -f "$0")")"

build_packages="gcc g++ libc6-dev pkg-config meson ninja-build python3
    librocksdb-dev libzstd-dev libprotobuf-c-dev protobuf-c-compiler libssl-dev libfyaml-dev
    libjansson-dev libjq-dev libflint-dev libflint-arb-dev libgmp-dev libmpfr-dev libdnnl-dev"
test_packages="libcmocka-dev scdoc git"

# ensure_packages NAME...
ensure_packages() {
    missing=
    for package in "$@"; do
        dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
            missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null; then
        echo "eqloom: please install:$missing" >&2
        exit 2
    fi
    as_root=
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "eqloom: please install as root: apt-get install$missing" >&2
            exit 2
        fi
        as_root=sudo
    fi
    echo "eqloom: installing$missing" >&2
    {
        $as_root apt-get update -q
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
            $missing
    } >&2
}

# build_in DIR MESON_OPTION...: configures once, then builds; silent unless something is wrong
build_in() {
    dir=$1
    shift
    log=$dir.log
    if [ ! -f "$dir/build.ninja" ]; then
        rm -rf "$dir"
        echo "eqloom: configuring $dir" >&2
        meson setup "$dir" "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
    fi
    # ninja says on its first line whether there is anything to do
    ninja -C "$dir" -n 2>/dev/null | grep -q 'no work to do' || echo "eqloom: building $dir" >&2
    ninja -C "$dir" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
}
