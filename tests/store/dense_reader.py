"""A reader of dense records written from docs/format.md, sections 1 and 3, sharing nothing with the
program: its only other input is schemas/*.proto. It reads what test_dense writes with
EQLOOM_DENSE_DUMP (models and records) and compares; so the format is what the page says.

    dense_reader.py TEST_DENSE SCHEMAS_DIRECTORY
"""
import copy
import os
import pathlib
import re
import subprocess
import sys
import tempfile

M64, M32 = (1 << 64) - 1, (1 << 32) - 1
KINDS = {1: "Expr", 2: "Rule", 3: "EGraph", 4: "Cluster", 6: "TokenBatch"}


# ---- section 1: messages ----

class Schemas:
    def __init__(self, directory):
        self.messages, self.enums = {}, set()
        text = "".join(p.read_text() for p in sorted(pathlib.Path(directory).glob("*.proto")))
        text = re.sub(r"//[^\n]*", "", text)
        for what, name, body in re.findall(r"(message|enum)\s+(\w+)\s*\{([^}]*)\}", text):
            if what == "enum":
                self.enums.add(name)
                continue
            fields = re.findall(r"(repeated\s+)?(\w+)\s+(\w+)\s*=\s*(\d+)\s*;", body)
            self.messages[name] = sorted((int(number), field, kind, bool(repeated))
                                         for repeated, kind, field, number in fields)

    def is_number(self, kind):
        return kind in ("bool", "uint32", "uint64") or kind in self.enums


def take_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def put_number(schemas, kind, value):
    """Enums are signed, 32 bits of them, and written with 64."""
    return put_varint(value | M64 - M32 if kind in schemas.enums and value >> 31 else value)


def put_varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def unpack(schemas, name, data):
    fields = {number: (field, kind, repeated)
              for number, field, kind, repeated in schemas.messages[name]}
    message = {field: [] if repeated else None
               for _, field, _, repeated in schemas.messages[name]}
    at = 0
    while at < len(data):
        tag, at = take_varint(data, at)
        field, kind, repeated = fields[tag >> 3]
        if tag & 7 == 0:
            value, at = take_varint(data, at)
            message[field] = value & M32 if kind in schemas.enums else value
            continue
        n, at = take_varint(data, at)
        piece, at = data[at:at + n], at + n
        if schemas.is_number(kind):
            k = 0
            while k < n:
                value, k = take_varint(piece, k)
                message[field].append(value & M32 if kind in schemas.enums else value)
            continue
        value = piece if kind in ("string", "bytes") else unpack(schemas, kind, piece)
        if repeated:
            message[field].append(value)
        else:
            message[field] = value
    return message


def pack(schemas, name, message):
    out = bytearray()
    for number, field, kind, repeated in schemas.messages[name]:
        value = message[field]
        if schemas.is_number(kind):
            if repeated and value:
                body = b"".join(put_number(schemas, kind, item) for item in value)
                out += put_varint(number << 3 | 2) + put_varint(len(body)) + body
            elif value and not repeated:
                out += put_varint(number << 3) + put_number(schemas, kind, value)
            continue
        plain = kind in ("string", "bytes")
        for item in value if repeated else [value]:
            if item is None or (plain and not item and not repeated):
                continue
            body = item if plain else pack(schemas, kind, item)
            out += put_varint(number << 3 | 2) + put_varint(len(body)) + body
    return bytes(out)


# ---- section 3.1: bits ----

def mix(a, b):
    h = ((a ^ ((b + 0x9E3779B97F4A7C15) & M64)) * 0xFF51AFD7ED558CCD) & M64
    return h ^ h >> 32


def narrow(contexts, by):
    return [mix(c, by) for c in contexts]


def length_of(value):
    return value.bit_length()


SQUASH, STRETCH = [0] * 4095, []


def fill_tables():
    odds = 1 << 40
    for x in range(2048):
        q = odds >> 20
        p = (q << 16) // (q + (1 << 20))
        SQUASH[2047 + x], SQUASH[2047 - x] = p, 65536 - p
        odds += odds // 256 + odds // (2 * 256 ** 2) + odds // (6 * 256 ** 3)
    x = -2047
    for p in range(4096):
        while x < 2047 and SQUASH[x + 2047] < p * 16 + 8:
            x += 1
        STRETCH.append(x)


fill_tables()
CLASSES = [sum(n >= first for first in (1, 2, 3, 5, 9, 21, 61)) for n in range(128)]


class Bits:
    """With `stream` None it learns: values are given; else they are read."""

    def __init__(self):
        self.lines, self.weights, self.stream = {}, {}, None

    def begin(self, stream):
        self.stream, self.at = stream, 4
        self.low, self.high = 0, M32
        self.code = int.from_bytes((stream + bytes(4))[:4], "big")

    def bit(self, p, given):
        if self.stream is None:
            return given
        middle = self.low + ((self.high - self.low) * p >> 16)
        bit = int(self.code <= middle)
        if bit:
            self.high = middle
        else:
            self.low = middle + 1
        while (self.low ^ self.high) >> 24 == 0:
            byte = self.stream[self.at] if self.at < len(self.stream) else 0
            self.at += 1
            self.code = (self.code << 8 | byte) & M32
            self.low, self.high = self.low << 8 & M32, (self.high << 8 | 255) & M32
        return bit

    def line(self, h):
        tag, at = h >> 48 | 1, h & 32767
        line = self.lines.setdefault(at, [0] * 16)
        other = self.lines.setdefault(at ^ 1, [0] * 16)
        if line[0] != tag and other[0] == tag:
            return other
        if line[0] != tag:
            if other[1] & 1023 < line[1] & 1023:
                line = other
            line[:] = [tag] + [1 << 31] * 15
        return line

    def symbol(self, contexts, mixer, count, value):
        lines = [self.line(h) for h in contexts]
        node = 1
        for k in range(count):
            inputs, total = [], 0
            for i, line in enumerate(lines):
                slot = line[node]
                key = (mixer, k, i, CLASSES[slot & 1023])
                weight = self.weights.setdefault(key, 20000 if key[3] else 0)
                inputs.append((key, STRETCH[slot >> 20]))
                total += weight * STRETCH[slot >> 20]
            p = SQUASH[max(-2047, min(2047, total >> 16)) + 2047]
            bit = self.bit(p, value >> count - 1 - k & 1)
            error = 65535 - p if bit else -p
            for line, (key, stretched) in zip(lines, inputs):
                self.weights[key] += stretched * error >> 14
                slot = line[node]
                seen, old = slot & 1023, slot >> 10
                rate = 131072 // (2 * seen + 3)
                new = old + (((bit and (1 << 22) - 1) - old) * rate >> 16)
                line[node] = new << 10 | min(seen + 1, 127)
            node = node * 2 + bit
        return node - (1 << count)

    def number(self, contexts, mixer, value):
        h, length, found = contexts, length_of(value or 0), 0
        for base in (0, 15, 30):
            h = narrow(h, 64 + base)
            part = self.symbol(h, mixer, 4, max(0, min(length - base, 15)))
            found = base + part
            if part < 15:
                break
        if found < 2:
            return found
        out, left = 1, found - 1
        h = narrow(h, found)
        while left:
            count = min(left, 4)
            left -= count
            h = narrow(h, 256 + 16 * left + (out & 15))
            out = out << count | self.symbol(h, mixer + 1, count,
                                             (value or 0) >> left & (1 << count) - 1)
        return out

    def plain(self, count, value):
        out = 0
        for k in reversed(range(count)):
            out = out << 1 | self.bit(32768, value >> k & 1)
        return out


# ---- section 3.2: texts ----

END, NEW, FIRST = 0, 1, 2
TWO = b"+ - * / pow d and or xor implies".split()


def arity_of(word):
    if word in TWO:
        return 2
    if word in (b"pi", b"true", b"false"):
        return 0
    return int(len(word) > 1 and word[:1].isalpha() and word[:1].islower())


class Words:
    def __init__(self):
        self.known, self.of = [], {}

    def begin(self):
        self.list, self.index = list(self.known), dict(self.of)
        self.history, self.recent, self.last = [], {}, 0

    def learn(self, word):
        if len(self.list) < 4096 and len(word) <= 256 and word not in self.index:
            self.index[word] = len(self.list)
            self.list.append(word)


class Place:
    def __init__(self, field, hints, last):
        self.field, self.hints, self.last = field, hints, [last, 0, 0]
        self.levels = []  # [operator, arity, child, head of the child before]
        self.complete, self.match, self.matched = False, 0, 0

    def close(self, head):
        while self.levels:
            level = self.levels[-1]
            level[3] = head
            level[2] += 1
            if level[2] < level[1]:
                return
            head = level[0]
            self.levels.pop()
        self.complete = True

    def advance(self, words, symbol):
        self.last = [symbol, *self.last[:2]]
        arity = arity_of(words.list[symbol - FIRST]) if symbol >= FIRST else 0
        if arity and len(self.levels) < 64 and not self.complete:
            self.levels.append([symbol, arity, 0, 0])
        else:
            self.close(symbol)


def text_contexts(words, p):
    none = [0, 0, 0, 0]
    up, up2, up3 = ((p.levels[-i] if len(p.levels) >= i else none) for i in (1, 2, 3))
    here = mix(up[0] * 4 + up[2] + (1 << 20 if p.complete else 0), p.field)
    above = mix(here, up2[0] * 4 + up2[2])
    expected = words.history[p.match] if p.match and p.match < len(words.history) else 65535
    h = [mix(1, p.field),
         mix(2, mix(mix(p.last[0], p.last[1]), p.last[2])),
         mix(3, mix(above, p.last[0])),
         mix(4, mix(here, up[3])),
         mix(5, mix(above, mix(up3[0] * 4 + up3[2], up[3]))),
         mix(6, mix(expected, min(p.matched, 15) + 1 if p.match else 0))]
    for i, hint in enumerate(p.hints or ()):
        h[2 + i] = mix(h[0], mix(i, hint))
    return h


def code_symbol(bits, words, p, symbol):
    h = text_contexts(words, p)
    near = bits.symbol(h, int(p.complete), 4, min(symbol, 15))
    if near < 15:
        return near
    rest = symbol - 15
    h = narrow(h, 16)
    upper = bits.symbol(h, 2, 4, rest >> 4 if rest < 240 else 15)
    value = 0
    for left in range(0, -1, -1) if upper < 15 else range(3, -1, -1):
        h = narrow(h, upper << 16 | value)
        source = rest if upper < 15 else rest - 240
        value = value << 4 | bits.symbol(h, 2, 4, source >> 4 * left & 15)
    return 15 + (upper << 4 | value if upper < 15 else 240 + value)


def code_spelling(bits, word):
    out, before = bytearray(), 0
    while True:
        i = len(out)
        h = [mix(11, before & 255), mix(12, before & 65535), mix(13, mix(before & 255, min(i, 3)))]
        byte = word[i] if i < len(word) else 0
        upper = bits.symbol(h, 4, 4, byte >> 4)
        byte = upper << 4 | bits.symbol(narrow(h, 16 + upper), 5, 4, byte & 15)
        if byte == 0:
            return bytes(out)
        out.append(byte)
        before = before << 8 | byte


def remember(words, p, symbol):
    expected = words.history[p.match] if p.match and p.match < len(words.history) else 65535
    hit = p.match and expected == symbol
    p.matched = p.matched + 1 if hit else 0
    p.match = p.match + 1 if hit else 0
    words.history.append(symbol)
    words.last = symbol if symbol != END else words.last
    if len(words.history) < 3:
        return
    place = mix(mix(words.history[-1], words.history[-2]), words.history[-3]) & 4095
    if not p.match:
        p.match = words.recent.get(place, 0)
    words.recent[place] = len(words.history)


def code_text(bits, words, field, hints, text):
    """The text and the number of its words."""
    given = text.split(b" ") if text else []
    p, out = Place(field, hints, words.last), []
    while True:
        word = given[len(out)] if len(out) < len(given) else None
        symbol = END if word is None else FIRST + words.index[word] if word in words.index else NEW
        symbol = code_symbol(bits, words, p, symbol)
        remember(words, p, symbol)
        if symbol == END:
            return b" ".join(out), len(out)
        if symbol == NEW:
            out.append(code_spelling(bits, word or b""))
            words.learn(out[-1])
        else:
            out.append(words.list[symbol - FIRST])
        p.advance(words, symbol)


# ---- section 3.3: messages ----

class Walk:
    def __init__(self, schemas, bits, words):
        self.schemas, self.bits, self.words, self.last_words = schemas, bits, words, 0

    def count(self, field, c1, value):
        h = [field, mix(field + 1, c1), mix(field + 2, 0), mix(field + 3, 0)]
        return self.bits.number(h, 10, value)

    def scalar(self, h, mixer, wide, value):
        value = value or 0
        upper = self.bits.number(narrow(h, 1), mixer, value >> 32) if wide else 0
        return upper << 32 | self.bits.number(h, mixer, value & M32)

    def text(self, field, hints, value):
        value, self.last_words = code_text(self.bits, self.words, field, hints, value or b"")
        return value

    def bytes(self, field, value):
        value = value or b""
        n = self.count(field, 0, len(value))
        return bytes(self.bits.plain(8, value[i] if i < len(value) else 0) for i in range(n))

    def array(self, name, kind, field, n, values):
        one = two = three = last = 0
        out, wide = [], kind == "uint64"
        mask = M64 if wide else M32
        for i in range(n):
            value = (values[i] - (last if name == "offset" else 0)) & mask if values else 0
            h = [field, mix(field + 1, one), mix(field + 2, mix(one, two)),
                 mix(field + 3, mix(mix(one, two), three)), mix(field + 4, i)]
            value = self.scalar(h, 10, wide, value)
            three, two, one = two, one, value
            last = (last + value if name == "offset" else value) & mask
            out.append(last)
        return out

    def element(self, kind, field, value, before):
        if kind == "string":
            return self.text(field, None, value)
        if kind == "bytes":
            return self.bytes(field, value)
        return self.message(kind, value, before, field)

    def field(self, name, kind, repeated, field, value, before):
        if repeated:
            n = self.count(field + 1, self.last_words, len(value or ()))
            if self.schemas.is_number(kind):
                return self.array(name, kind, field, n, value)
            out = []
            for i in range(n):
                out.append(self.element(kind, field, value[i] if value else None,
                                        out[-1] if out else None))
            return out
        if self.schemas.is_number(kind):
            h = [field, mix(field + 1, before or 0), mix(field + 2, self.last_words)]
            return self.scalar(h, 8, kind == "uint64", value)
        if kind not in ("string", "bytes") and not self.count(field + 1, 0, int(value is not None)):
            return None
        return self.element(kind, field, value, before)

    def message(self, name, given, before, path):
        out = {field: [] if repeated else None
               for _, field, _, repeated in self.schemas.messages[name]}
        done = Graph(self).code(given, out) if name == "EGraph" else ()
        for texts in (True, False):
            for number, field, kind, repeated in self.schemas.messages[name]:
                if (kind == "string") != texts or field in done:
                    continue
                out[field] = self.field(field, kind, repeated, mix(path, number) << 4 & M64,
                                        given[field] if given else None,
                                        before[field] if before else None)
        return out


class Graph:
    """The arrays of an EGraph, together."""
    FIELDS = ("class_begin", "node_op", "child_begin", "child", "facts")

    def __init__(self, walk):
        self.walk, self.kept = walk, 0
        self.classes, self.ops, self.starts, self.children = [0], [], [0], []
        self.promised = []

    @staticmethod
    def is_regular(g):
        def ascends(v, end):
            return v and v[0] == 0 and v[-1] == end and sorted(v) == v
        return bool(M32 not in g["node_op"] and ascends(g["class_begin"], len(g["node_op"])) and
                    ascends(g["child_begin"], len(g["child"])) and
                    len(g["child_begin"]) == len(g["node_op"]) + 1 and
                    len(g["facts"]) == len(g["class_begin"]) - 1 and len(g["class_begin"]) > 1)

    def number(self, what, mixer, c1, c2, c3, c4, value):
        h = [what, mix(what + 16, c1), mix(what + 32, c2), mix(what + 48, c3), mix(what + 64, c4)]
        return self.walk.bits.number(h, mixer, value)

    def code(self, given, out):
        regular = int(self.is_regular(given)) if given else 0
        if not self.walk.bits.symbol([7], 14, 1, regular):
            return ()
        n = self.walk.count(6, 0, len(given["class_begin"]) - 1 if given else 0)
        before = first = {"op": 0, "arity": 0, "class": 0, "first": 0}
        for _ in range(n):
            in_class = 0
            while True:
                node = self.node(given, before, first, in_class)
                if node is None:
                    break
                before = node
                first = node if in_class == 0 else first
                in_class += 1
            self.promised = []
            self.classes.append(len(self.ops))
        out["class_begin"], out["node_op"] = self.classes, self.ops
        out["child_begin"], out["child"] = self.starts, self.children
        out["facts"] = self.facts(given, n)
        return self.FIELDS

    def node(self, given, before, first, in_class):
        at, c = len(self.ops), len(self.classes)
        op = given["node_op"][at] + 1 if given and at < given["class_begin"][c] else 0
        last = before["op"] + 1 if in_class else 0
        two = self.ops[-2] + 1 if in_class > 1 else 0
        bucket = in_class if in_class < 4 else 3 + length_of(in_class)
        op = self.number(1, 20, last, mix(last, two), mix(last, bucket),
                         mix(last, mix(first["op"], self.kept)), op)
        if not op:
            return None
        node = {"op": op - 1, "class": c - 1, "first": len(self.children)}
        begin = given["child_begin"] if given else None
        node["arity"] = self.number(2, 20, node["op"], 0, 0, 0,
                                    begin[at + 1] - begin[at] if given else 0)
        like = before if in_class else first
        there = bool(self.ops) and (like["op"], like["arity"]) == (node["op"], node["arity"])
        ordered = there and in_class > 0
        if not ordered:
            self.promised = []
        actual = given["child"][begin[at]:begin[at + 1]] if given else None
        if not (node["arity"] == 2 and there and self.promise(node, like, ordered, actual)):
            same = True
            for k in range(node["arity"]):
                value, same = self.child(node, like, there, ordered, same, k,
                                         actual[k] if given else 0)
                self.children.append(value)
            made = self.children[node["first"]:]
            if node["arity"] == 2 and made[0] < made[1]:
                self.promised.append((made[1], made[0]))
        self.ops.append(node["op"])
        self.starts.append(len(self.children))
        return node

    def promise(self, node, like, ordered, actual):
        last = tuple(self.children[like["first"]:like["first"] + 2]) if ordered else (0, 0)
        if ordered:
            self.promised = [p for p in self.promised if p > last]
        if not self.promised:
            return False
        p = min(self.promised)
        n = min(len(self.promised), 8)
        h = [mix(5, node["op"] * 2 + self.kept),
             mix(21, mix(node["op"], length_of(p[0] - last[0]))), mix(37, mix(node["op"], n))]
        self.kept = self.walk.bits.symbol(h, 14, 1, int(actual is not None and tuple(actual) == p))
        if self.kept:
            self.children += p
            self.promised.remove(p)
        return self.kept

    def child(self, node, like, there, ordered, same, k, value):
        parent = node["op"] * 8 + min(k, 3) * 2 + ordered & M32
        earlier = self.children[node["first"] + k - 1] if k else 0
        of_class = length_of(node["class"])
        if same and there and k < like["arity"]:
            last = self.children[like["first"] + k]
            step = value - last & M32
            if not ordered:  # zigzag
                step = (step << 1 ^ (M32 if step >> 31 else 0)) & M32
            step = self.number(3, 16, parent, mix(parent, length_of(last)), mix(parent, of_class),
                               mix(parent, earlier if k else last), step)
            if not ordered:
                step = step >> 1 ^ (M32 if step & 1 else 0)
            return last + step & M32, step == 0
        return self.number(4, 18, parent, mix(parent, of_class), mix(parent, earlier),
                           mix(parent, mix(length_of(earlier), of_class)), value), same

    def facts(self, given, n):
        field, known, out = 1, [], []
        for byte in b"facts":
            field = mix(field, byte)
        for c in range(n):
            text = self.walk.text(field, self.hints(known, c), given["facts"][c] if given else None)
            h = 1
            for byte in text:
                h = mix(h, byte)
            known.append(h)
            out.append(text)
        return out

    def hints(self, known, c):
        hints = [0, 0, 0]
        for n in range(self.classes[c], self.classes[c + 1]):
            children = self.children[self.starts[n]:self.starts[n + 1]]
            h, head, earlier = self.ops[n] + 1, 0, True
            for k, child in enumerate(children):
                earlier = earlier and child < c
                of_child = known[child] if earlier else 0
                h = mix(h, of_child)
                head = of_child if k == 0 else head
            if n == self.classes[c]:
                hints[1], hints[2] = mix(self.ops[n], head), self.ops[n] + 1
            if earlier:
                hints[0] = h
                break
        return hints


# ---- models ----

class Model:
    def __init__(self, schemas, content):
        assert content[:8] == b"eqmodel\x01"
        self.schemas = schemas
        self.name = KINDS[int.from_bytes(content[8:10], "little")]
        samples, at = [], 10
        while at < len(content):
            n = int.from_bytes(content[at:at + 4], "little")
            samples.append(unpack(schemas, self.name, content[at + 4:at + 4 + n]))
            at += 4 + n
        self.bits, self.words = Bits(), Words()
        times = {}
        for sample in samples:
            self.tally(times, self.name, sample)
        often = sorted((w for w in times if times[w] > 1), key=lambda w: (-times[w], w))[:2000]
        for word in often:
            if len(word) <= 256:
                self.words.of[word] = len(self.words.known)
                self.words.known.append(word)
        for sample in samples:
            self.words.begin()
            Walk(schemas, self.bits, self.words).message(self.name, sample, None, 0)

    def tally(self, times, name, message):
        for _, field, kind, repeated in self.schemas.messages[name]:
            for item in message[field] if repeated else [message[field]]:
                if kind == "string" and item:
                    for word in item.split(b" "):
                        times[word] = times.get(word, 0) + 1
                elif kind in self.schemas.messages and item is not None:
                    self.tally(times, kind, item)

    def read(self, body):
        bits = copy.deepcopy(self.bits)
        bits.begin(body)
        self.words.begin()
        message = Walk(self.schemas, bits, self.words).message(self.name, None, None, 0)
        return pack(self.schemas, self.name, message)


def main():
    schemas = Schemas(sys.argv[2])
    with tempfile.TemporaryDirectory() as directory:
        dump = os.path.join(directory, "dump")
        subprocess.run([sys.argv[1]], env=os.environ | {"EQLOOM_DENSE_DUMP": dump}, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lines = pathlib.Path(dump).read_text().splitlines()
    model, records, wrong = None, 0, 0
    for line in lines:
        what, *parts = line.split(" ")
        parts = [bytes.fromhex(part) for part in parts]
        if what == "model":
            model = Model(schemas, parts[0])
            continue
        records += 1
        body, payload = parts
        assert pack(schemas, model.name, unpack(schemas, model.name, payload)) == payload
        try:
            good = model.read(body) == payload
        except IndexError:
            good = False
        if not good:
            print(f"record {records} ({model.name}): not what was written")
            wrong += 1
    print(f"{records} records read, {wrong} wrong")
    return 1 if wrong or records < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
