# Sourced by run.sh and test.sh: installs the Debian packages that are missing, then configures and
# builds. Nothing is installed when everything is there.
set -eu
cd "$(dirname "$(readlink -f "$0")")"

build_packages="gcc g++ libc6-dev pkg-config meson ninja-build python3
    librocksdb-dev libzstd-dev libprotobuf-c-dev protobuf-c-compiler libssl-dev libyaml-dev
    libjansson-dev libjq-dev libflint-dev libflint-arb-dev libcalcium-dev libantic-dev libgmp-dev libmpfr-dev
    libdnnl-dev libarchive-dev zlib1g-dev libunistring-dev libexpat1-dev duktape-dev libjs-katex libhnswlib-dev
    libpng-dev libmicrohttpd-dev"
test_packages="libcmocka-dev lowdown git texlive-latex-base dvipng curl openssh-server python3-venv
    slurmctld slurmd slurm-client munge
    python3-yaml python3-jsonschema jq zsh fish e2fsprogs"

# show_progress: the last line read, in place on a terminal; elsewhere a line each ten seconds
show_progress() {
    shown=$(date +%s)
    while IFS= read -r line; do
        if [ -t 2 ]; then
            printf '\r\033[K%.78s' "$line"
        elif [ $(($(date +%s) - shown)) -ge 10 ]; then
            printf '%s\n' "$line"
            shown=$(date +%s)
        fi
    done
    [ ! -t 2 ] || printf '\r\033[K'
}

# with_progress LOG COMMAND...: ends the script if the command fails, after what it said last
with_progress() {
    log=$1
    shift
    status=$({ { "$@" 2>&1 || echo $? >&3; } | tee "$log" | show_progress >&2; } 3>&1)
    [ -z "$status" ] || {
        grep -v '^\[[0-9]' "$log" | tail -n 100 >&2
        exit "$status"
    }
}

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
        sudo -v
    fi
    echo "eqloom: installing$missing" >&2
    with_progress build-packages.log $as_root apt-get update -q
    with_progress build-packages.log $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends -o Dpkg::Use-Pty=0 $missing
}

# Warnings are errors in CI only: a user's newer compiler must not break the build.
options="--buildtype=release${CI:+ --werror}"

# configuration OPTION...: what a build folder depends on. A package that came later may bring the tests
# or the manual page, which Meson leaves out where their packages are missing.
configuration() {
    echo "$*"
    dpkg-query -W -f '${binary:Package} ${Version} ${db:Status-Status}\n' $build_packages $test_packages 2>/dev/null || true
}

# build_in DIR TARGET MESON_OPTION...: configures if anything that DIR depends on has changed, then builds;
# says nothing if all is built
build_in() {
    dir=$1
    target=$2
    shift 2
    if [ ! -f "$dir/build.ninja" ]; then
        rm -rf "$dir"
        echo "eqloom: configuring $dir" >&2
        with_progress "$dir.log" meson setup "$dir" "$@"
    elif [ "$(configuration "$@")" != "$(cat "$dir/configuration" 2>/dev/null)" ]; then
        echo "eqloom: configuring $dir again" >&2
        with_progress "$dir.log" meson setup --reconfigure "$dir" "$@"
    fi
    configuration "$@" >"$dir/configuration"
    # ninja says on its first line whether there is anything to do
    ninja -C "$dir" -n "$target" 2>/dev/null | grep -q 'no work to do' ||
        echo "eqloom: building $dir" >&2
    with_progress "$dir.log" ninja -C "$dir" "$target"
}
