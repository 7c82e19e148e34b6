"""No public symbol is defined in two of our libraries: the linker would silently take one of them.
Usage: symbols.py LIBRARY...; prints every clash, exits 1 if there is any."""
import collections
import subprocess
import sys


def main():
    places = collections.defaultdict(set)
    for library in sys.argv[1:]:
        listing = subprocess.run(["nm", "--defined-only", "--extern-only", library], check=True,
                                 capture_output=True, text=True).stdout
        for line in listing.splitlines():
            parts = line.split()
            if len(parts) == 3 and parts[1] in "TDBR" and not parts[2].startswith("__"):
                places[parts[2]].add(library)
    clashes = {name: sorted(found) for name, found in places.items() if len(found) > 1}
    for name, found in sorted(clashes.items()):
        print(f"{name}: {', '.join(found)}")
    print(f"{len(places)} symbols, {len(clashes)} clashes")
    return 1 if clashes or len(places) < 100 else 0


sys.exit(main())
