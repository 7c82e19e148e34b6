"""What clusters take in the store, against their plain text and against `zstd -19` of all of it: the
quickstart's job up to its clusters, in a store of its own, before and after `eqloom compact`. The
text is one member a line in prefix notation. Stored bytes count every record's envelope and, in the
second figure, the kind's models; single records are read at random, what zstd packs as a whole is not.

    EQLOOM=build/eqloom bench_bytes.py JOB [NODE]"""
import csv
import ctypes
import ctypes.util
import io
import json
import os
import subprocess
import sys
import tempfile

EQLOOM = os.path.abspath(os.environ.get("EQLOOM", "build/eqloom"))


def eqloom(store, *args):
    done = subprocess.run([EQLOOM, "--store", store, *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        sys.exit(f"eqloom {' '.join(args)}: {done.returncode}\n{done.stderr.decode()[-2000:]}")
    return done.stdout


def stats(store):
    """By kind."""
    rows = (json.loads(line) for line in eqloom(store, "stats", "--json").splitlines())
    return {row["kind"]: row for row in rows if "kind" in row}


def plain_text(store, ref):
    rows = csv.DictReader(io.StringIO(eqloom(store, "export", ref, "-f", "tsv", "-o", "-").decode()),
                          delimiter="\t")
    return "".join(row["prefix"] + "\n" for row in rows).encode()


def zstd_size(data, level):
    zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    for function in (zstd.ZSTD_compressBound, zstd.ZSTD_compress):
        function.restype = ctypes.c_size_t
    size = zstd.ZSTD_compressBound(ctypes.c_size_t(len(data)))
    out = ctypes.create_string_buffer(size)
    size = zstd.ZSTD_compress(out, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)),
                              ctypes.c_int(level))
    if zstd.ZSTD_isError(ctypes.c_size_t(size)):
        sys.exit("zstd could not compress the text")
    return size


def main():
    job, node = sys.argv[1], (sys.argv[2:] or ["clusters"])[0]
    with tempfile.TemporaryDirectory() as store:
        eqloom(store, "run", job, node)
        before = stats(store)
        text = plain_text(store, f"{os.path.splitext(os.path.basename(job))[0]}/{node}")
        eqloom(store, "compact")
        after = stats(store)

    def row(what, size):
        print(f"{what:<36} {size:>12,} {len(text) / size:>8.2f}")

    print(f"{'bytes of ' + str(after['cluster']['records']) + ' clusters':<36} {'':>12} {'of text':>8}")
    row("plain text, a member a line", len(text))
    row("zstd -19 of all of it", zstd_size(text, 19))
    row("payloads of records", after["cluster"]["raw_bytes"])
    row("stored by the run", before["cluster"]["stored_bytes"])
    row("after compact", after["cluster"]["stored_bytes"])
    models = after.get("dictionary", {"stored_bytes": 0})["stored_bytes"]
    row("... with the models of all kinds", after["cluster"]["stored_bytes"] + models)


if __name__ == "__main__":
    main()
