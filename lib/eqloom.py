"""eqloom from Python: stores, records, vectors as NumPy, verdicts.

    import eqloom
    store = eqloom.Store(".eqloom")
    store.names("quickstart/")
    store.record("quickstart/report")["value"]
    vectors, texts = store.vectors("quickstart/trained-vectors")
    eqloom.explain("sin(2*x)", "2*sin(x)*cos(x)")["verdict"]          # "proved"

The library is libeqloom; $EQLOOM_LIBRARY names another file. NumPy is needed for vectors() only.
"""
import ctypes
import ctypes.util
import io
import json
import os
import pathlib

ID_BYTES = 32
_KINDS = ["ok", "not found", "bad input", "damaged", "failed"]


class Error(Exception):
    """`kind` is 'not found', 'bad input', 'damaged' or 'failed'."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def _find_library():
    named = os.environ.get("EQLOOM_LIBRARY")
    beside = pathlib.Path(__file__).resolve().parent.parent / "build" / "lib" / "libeqloom.so"
    return named or (str(beside) if beside.exists() else ctypes.util.find_library("eqloom")) or \
        "libeqloom.so.0"


_lib = ctypes.CDLL(_find_library())
_lib.eql_version.restype = ctypes.c_char_p
_lib.eql_free.argtypes = [ctypes.c_void_p]
_lib.eql_free.restype = None
_lib.eql_close.argtypes = [ctypes.c_void_p]
_lib.eql_close.restype = None


class _Error(ctypes.Structure):
    _fields_ = [("message", ctypes.c_char * 512)]


def _call(function, *arguments):
    error = _Error()
    status = function(*arguments, ctypes.byref(error))
    if status:
        raise Error(_KINDS[status], error.message.decode("utf-8", "replace"))


def _take(pointer, n=None):
    """Copies the bytes at a pointer that the library returned, and frees it."""
    try:
        return ctypes.string_at(pointer, n) if n is not None else ctypes.string_at(pointer)
    finally:
        _lib.eql_free(pointer)


version = _lib.eql_version().decode()


class Store:
    """A store open for reading; a context manager. It shows what was committed when it was
    opened."""

    def __init__(self, directory=".eqloom"):
        self._handle = ctypes.c_void_p()
        _call(_lib.eql_open, ctypes.byref(self._handle), os.fsencode(directory))
        self.directory = os.fspath(directory)

    def close(self):
        if self._handle:
            _lib.eql_close(self._handle)
            self._handle = ctypes.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None):
            self.close()

    def _open(self):
        if not self._handle:
            raise Error("bad input", "the store is closed")
        return self._handle

    def _id(self, name):
        found = (ctypes.c_ubyte * ID_BYTES)()
        _call(_lib.eql_find, found, self._open(), name.encode())
        return found

    def names(self, prefix=""):
        """Returns the names in the store, with their ids."""
        listed = command("--store", self.directory, "ls", "--json")
        return {x["ref"]: x["id"] for x in listed if x.get("ref", "").startswith(prefix)}

    def id(self, name):
        """Returns the id, as 64 digits, of a name or of the first digits of an id."""
        return bytes(self._id(name)).hex()

    def record(self, name):
        """Returns a record: {"id", "kind", "bytes", "value"}."""
        text = ctypes.c_void_p()
        _call(_lib.eql_json, ctypes.byref(text), self._open(), self._id(name))
        return json.loads(_take(text))

    def payload(self, name):
        """Returns (kind, bytes): the protobuf message as stored."""
        kind, data, n = ctypes.c_char_p(), ctypes.c_void_p(), ctypes.c_size_t()
        _call(_lib.eql_record, ctypes.byref(kind), ctypes.byref(data), ctypes.byref(n),
              self._open(), self._id(name))
        return kind.value.decode(), _take(data, n.value)

    def elements(self, name):
        """Returns the ids of a collection."""
        data, n = ctypes.c_void_p(), ctypes.c_size_t()
        _call(_lib.eql_elements, ctypes.byref(data), ctypes.byref(n), self._open(), self._id(name))
        ids = _take(data, n.value * ID_BYTES)
        return [ids[i:i + ID_BYTES].hex() for i in range(0, len(ids), ID_BYTES)]

    def export(self, name, form):
        """Returns (bytes, index): the output of `eqloom export`, and the JSON beside it: a list for
        npy, an object for safetensors, else None."""
        data, n, index = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_void_p()
        _call(_lib.eql_export, ctypes.byref(data), ctypes.byref(n), ctypes.byref(index),
              self._open(), self._id(name), form.encode())
        beside = _take(index) if index else None
        data = _take(data, n.value)
        if form == "npy":
            return data, [json.loads(line) for line in beside.splitlines()]
        return data, beside and json.loads(beside)

    def vectors(self, name):
        """Returns (matrix, texts): embeddings as float32 NumPy array, and the text of each row."""
        import numpy
        data, index = self.export(name, "npy")
        return numpy.load(io.BytesIO(data)), [row["text"] for row in index]


def command(*words, status=(0, 3, 4)):
    """Returns the JSON output of an eqloom command, a list of objects; raises Error unless it ends
    with one of these statuses. `run` needs a process of its own."""
    words = [str(word) for word in words]
    if "--json" not in words:
        words.append("--json")
    ended, out, err = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
    texts = (ctypes.c_char_p * len(words))(*[word.encode() for word in words])
    _call(_lib.eql_command, ctypes.byref(ended), ctypes.byref(out), ctypes.byref(err), len(words),
          texts)
    out, err = _take(out).decode(), _take(err).decode()
    if ended.value not in status:
        raise Error("bad input" if ended.value == 2 else "failed", err.strip())
    return [json.loads(line) for line in out.splitlines()]


def explain(left, right, *options):
    """Decides whether two expressions are equal: {"verdict": "proved", "steps": [...], ...}."""
    return command("explain", *options, "--json", "--", left, right)[0]


def simplify(expression, *options):
    """Returns the simplest equal form found: {"expression", "prefix", ...}."""
    return command("simplify", *options, "--json", "--", expression)[0]


def variants(expression, n=10, *options):
    """Returns equal forms, shortest first."""
    return command("variants", "-n", n, *options, "--json", "--", expression)
