#!/usr/bin/env python3
"""Clusters of equal expressions by another way than eqloom's: random walks of identities.

    walks.py CLUSTERS [SEED] > corpus.txt  (format e-gen; out/walks.txt for the op exec)

Initial expressions have the forms of the E-Gen paper, half of them derivatives, and nested functions
of SemEmb's kind. From an expression each step applies one identity of a short list of textbook ones at
a random place; derivatives are taken by the chain rule. What has more than 25 tokens, or other values
at complex doubles, is dropped. Nothing of this is shared with the rules, e-graphs or extraction of eqloom.
"""
import cmath
import math
import os
import random
import sys

TRIG = ["sin", "cos", "tan", "csc", "sec", "cot"]
HYP = [f + "h" for f in TRIG]
INV = ["a" + f for f in TRIG + HYP]
FUNCTIONS = TRIG + HYP + INV + ["ln", "exp", "sqrt"]
MOST = 25


def num(n):
    return str(n)


def op(o, *args):
    return (o,) + args


def is_num(t):
    return isinstance(t, str) and (t.lstrip("-").isdigit())


def neg(t):
    return num(-int(t)) if is_num(t) else op("*", "-1", t)


def call(f, u):
    return op("pow", "e", u) if f == "exp" else op(f, u)


# ---- values ----

def recip(f):
    return lambda z: 1 / f(z)


VALUE = {"sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan, "sinh": cmath.sinh, "cosh": cmath.cosh,
         "tanh": cmath.tanh, "asin": cmath.asin, "acos": cmath.acos, "atan": cmath.atan,
         "asinh": cmath.asinh, "acosh": cmath.acosh, "atanh": cmath.atanh, "ln": cmath.log,
         "sqrt": cmath.sqrt, "abs": lambda z: abs(z) + 0j}
for f, g in (("csc", "sin"), ("sec", "cos"), ("cot", "tan")):
    for h in ("", "h"):
        VALUE[f + h] = recip(VALUE[g + h])
        VALUE["a" + f + h] = (lambda q: lambda z: q(1 / z))(VALUE["a" + g + h])


def value(t, x):
    if isinstance(t, str):
        return {"x": x, "e": math.e + 0j, "pi": math.pi + 0j}.get(t) or complex(int(t) if is_num(t) else x)
    if t[0] == "d":
        return value(diff(t[2]), x)
    a = value(t[1], x)
    if len(t) == 2:
        return VALUE[t[0]](a)
    b = value(t[2], x)
    if t[0] == "pow":
        if b.imag == 0 and b.real == int(b.real) and abs(b.real) < 100:
            return a ** int(b.real)
        return cmath.exp(b * cmath.log(a))
    return {"+": a + b, "-": a - b, "*": a * b}[t[0]] if t[0] != "/" else a / b


def values(t):
    out = []
    for x in (0.37, 1.83, 4.21, 7.9):
        try:
            v = value(t, complex(x))
            out.append(v if cmath.isfinite(v) and abs(v) < 1e12 else None)
        except (ZeroDivisionError, OverflowError, ValueError):
            out.append(None)
    return out


def same(a, b):
    both = [(p, q) for p, q in zip(a, b) if p is not None and q is not None]
    return len(both) >= 2 and all(abs(p - q) <= 1e-8 * (abs(p) + abs(q)) + 1e-13 for p, q in both)


# ---- derivatives ----

def has_x(t):
    return t == "x" if isinstance(t, str) else any(has_x(u) for u in t[1:])


OUTER = {
    "sin": lambda u: op("cos", u), "cos": lambda u: neg(op("sin", u)), "tan": lambda u: op("pow", op("sec", u), "2"),
    "csc": lambda u: neg(op("*", op("csc", u), op("cot", u))), "sec": lambda u: op("*", op("sec", u), op("tan", u)),
    "cot": lambda u: neg(op("pow", op("csc", u), "2")), "sinh": lambda u: op("cosh", u), "cosh": lambda u: op("sinh", u),
    "tanh": lambda u: op("pow", op("sech", u), "2"), "csch": lambda u: neg(op("*", op("csch", u), op("coth", u))),
    "sech": lambda u: neg(op("*", op("sech", u), op("tanh", u))), "coth": lambda u: neg(op("pow", op("csch", u), "2")),
    "asin": lambda u: op("/", "1", op("sqrt", op("-", "1", op("pow", u, "2")))),
    "acos": lambda u: op("/", "-1", op("sqrt", op("-", "1", op("pow", u, "2")))),
    "atan": lambda u: op("/", "1", op("+", "1", op("pow", u, "2"))),
    "acot": lambda u: op("/", "-1", op("+", "1", op("pow", u, "2"))),
    "asinh": lambda u: op("/", "1", op("sqrt", op("+", "1", op("pow", u, "2")))),
    "acosh": lambda u: op("/", "1", op("*", op("sqrt", op("-", u, "1")), op("sqrt", op("+", u, "1")))),
    "atanh": lambda u: op("/", "1", op("-", "1", op("pow", u, "2"))),
    "acoth": lambda u: op("/", "1", op("-", "1", op("pow", u, "2"))),
    "ln": lambda u: op("/", "1", u), "sqrt": lambda u: op("/", "1", op("*", "2", op("sqrt", u))),
    "acsc": lambda u: op("/", "-1", op("*", op("pow", u, "2"), op("sqrt", op("-", "1", op("pow", u, "-2"))))),
    "asec": lambda u: op("/", "1", op("*", op("pow", u, "2"), op("sqrt", op("-", "1", op("pow", u, "-2"))))),
    "acsch": lambda u: op("/", "-1", op("*", op("pow", u, "2"), op("sqrt", op("+", "1", op("pow", u, "-2"))))),
    "asech": lambda u: op("/", "-1", op("*", op("pow", u, "2"), op("*", op("sqrt", op("-", op("/", "1", u), "1")),
                                                             op("sqrt", op("+", op("/", "1", u), "1"))))),
}


def times(a, b):
    if a == "0" or b == "0":
        return "0"
    if a == "1":
        return b
    if b == "1":
        return a
    if is_num(a) and is_num(b):
        return num(int(a) * int(b))
    return op("*", b, a) if is_num(b) else op("*", a, b)


def diff(t):
    if isinstance(t, str):
        return "1" if t == "x" else "0"
    if not has_x(t):
        return "0"
    o, u = t[0], t[1]
    if o == "d":
        return diff(diff(t[2]))
    if o in "+-" and len(t) == 3:
        a, b = diff(u), diff(t[2])
        if b == "0":
            return a
        if a == "0":
            return b if o == "+" else times("-1", b)
        return op(o, a, b)
    if o == "*":
        a, b = times(diff(u), t[2]), times(u, diff(t[2]))
        return b if a == "0" else a if b == "0" else op("+", a, b)
    if o == "/":
        if not has_x(t[2]):
            return op("/", diff(u), t[2])
        if not has_x(u):
            return times(times("-1", u), op("/", diff(t[2]), op("pow", t[2], "2")))
        return op("/", op("-", times(diff(u), t[2]), times(u, diff(t[2]))), op("pow", t[2], "2"))
    if o == "pow":
        if u == "e":
            return times(diff(t[2]), t)
        n = t[2]
        if is_num(n):
            return times(times(n, diff(u)), op("pow", u, num(int(n) - 1)) if int(n) != 2 else u)
        return times(op("*", n, op("pow", u, op("-", n, "1"))), diff(u))
    if o == "abs":
        return times(op("/", u, op("abs", u)), diff(u))
    return times(diff(u), OUTER[o](u))


# ---- identities ----

def fold(t):
    if is_num(t[1]) and is_num(t[2]):
        a, b = int(t[1]), int(t[2])
        r = {"+": a + b, "-": a - b, "*": a * b}.get(t[0])
        if r is not None and abs(r) < 200:
            yield num(r)


CO = {"sin": "cos", "cos": "sin", "tan": "cot", "cot": "tan", "sec": "csc", "csc": "sec"}
RECIPROCAL = {"sin": "csc", "cos": "sec", "tan": "cot"}
for a, b in list(RECIPROCAL.items()):
    RECIPROCAL[b] = a
for a, b in list(RECIPROCAL.items()):
    RECIPROCAL[a + "h"] = b + "h"
EVEN = {"cos", "sec", "cosh", "sech"}


def steps(t):
    """All results of one identity at the root of t."""
    for f in TRIG + HYP if has_x(t) else []:  # u = f(f^-1(u))
        yield "wrap", op(f, op("a" + f, t))
        yield "wrap", op("/", "1", op(RECIPROCAL[f], op("a" + f, t)))
    if has_x(t):
        yield "wrap", call("exp", op("ln", t))
    if isinstance(t, str):
        if is_num(t) and abs(int(t)) > 3:
            yield "number", op("-", num(int(t) + 2), "2")
        if is_num(t) and int(t) < 0:
            yield "number", op("-", "0", num(-int(t)))
        return
    o, u = t[0], t[1]
    v = t[2] if len(t) == 3 else None
    if o in ("+", "-", "*"):
        for r in fold(t):
            yield "fold", r
    if o == "+":
        yield "s", op("+", v, u)
        yield "s", op("-", u, neg(v))
        yield "s", op("-", v, neg(u))
        yield "s", op("*", "-1", op("-", neg(u), v))
        if isinstance(u, tuple) and u[0] in "+-" and len(u) == 3:
            yield "s", op(u[0], op("+", u[1], v), u[2])
        if isinstance(v, tuple) and v[0] in "+-" and len(v) == 3:
            yield "s", op(v[0], op("+", u, v[1]), v[2])
        if isinstance(u, tuple) and isinstance(v, tuple) and u[0] == v[0] == "*" and u[1] == v[1]:
            yield "s", op("*", u[1], op("+", u[2], v[2]))
    if o == "-":
        yield "s", op("+", u, neg(v))
        yield "s", op("*", "-1", op("-", v, u))
        yield "s", op("-", "0", op("-", v, u))
        yield "s", op("+", neg(v), u)
        yield "s", op("-", neg(v), neg(u))
    if o == "*":
        yield "s", op("*", v, u)
        yield "s", op("/", u, op("pow", v, "-1"))
        if is_num(u) and u not in ("0",):
            yield "s", op("/", v, op("/", "1", u))
            if u == "2":
                yield "s", op("+", v, v)
            if int(u) < 0:
                yield "s", op("*", num(-int(u)), op("*", "-1", v))
                yield "s", op("-", "0", op("*", num(-int(u)), v))
            yield "s", op("*", "-1", op("*", num(-int(u)), v))
        if isinstance(v, tuple) and v[0] in "+-" and len(v) == 3:
            yield "s", op(v[0], op("*", u, v[1]), op("*", u, v[2]))
        if isinstance(u, tuple) and u[0] == "*":
            yield "s", op("*", u[1], op("*", u[2], v))
        if isinstance(v, tuple) and v[0] == "*":
            yield "s", op("*", op("*", u, v[1]), v[2])
        if isinstance(v, tuple) and v[0] == "/":
            yield "s", op("/", op("*", u, v[1]), v[2])
        if isinstance(v, tuple) and v[0] in RECIPROCAL:
            yield "s", op("/", u, op(RECIPROCAL[v[0]], v[1]))
        if u == "1":
            yield "s", v
    if o == "/":
        yield "s", op("*", u, op("pow", v, "-1"))
        yield "s", op("*", u, op("/", "1", v)) if u != "1" else op("pow", v, "-1")
        yield "s", op("/", "1", op("/", v, u))
        if is_num(v) and int(v):
            yield "s", op("/", neg(u), num(-int(v)))
        if isinstance(u, tuple) and u[0] in "+-" and len(u) == 3:
            yield "s", op(u[0], op("/", u[1], v), op("/", u[2], v))
        if isinstance(u, tuple) and u[0] == "*":
            yield "s", op("*", u[1], op("/", u[2], v))
        if isinstance(v, tuple) and v[0] in RECIPROCAL:
            yield "s", op("*", u, op(RECIPROCAL[v[0]], v[1]))
    if o == "pow" and is_num(v):
        n = int(v)
        yield "s", op("/", "1", op("pow", u, num(-n)))
        if n % 2 == 0:
            yield "s", op("pow", neg(u), v)
            if n > 2:
                yield "s", op("pow", op("pow", u, "2"), num(n // 2))
        else:
            yield "s", op("*", "-1", op("pow", neg(u), v))
        if 1 < n < 10:
            yield "s", op("*", u, op("pow", u, num(n - 1)) if n > 2 else u)
        if isinstance(u, tuple) and u[0] in RECIPROCAL:
            yield "s", op("pow", op(RECIPROCAL[u[0]], u[1]), num(-n))
        if isinstance(u, tuple) and u[0] in "*/":
            yield "s", op(u[0], op("pow", u[1], v), op("pow", u[2], v))
    if o == "pow" and u == "e" and isinstance(v, tuple):
        if v[0] == "+":
            yield "s", op("*", call("exp", v[1]), call("exp", v[2]))
        if v[0] == "*":
            yield "s", op("pow", call("exp", v[2]), v[1])
        yield "s", op("/", "1", call("exp", neg(v)))
        yield "s", op("+", op("sinh", v), op("cosh", v))
    if o in RECIPROCAL:
        yield "f", op("/", "1", op(RECIPROCAL[o], u))
        yield "f", op("pow", op(RECIPROCAL[o], u), "-1")
        yield "f", op(o, neg(u)) if o in EVEN else op("*", "-1", op(o, neg(u)))
        h = "h" if o.endswith("h") else ""
        base = o.removesuffix("h")
        if base == "tan":
            yield "f", op("/", op("sin" + h, u), op("cos" + h, u))
            yield "f", op("*", op("sin" + h, u), op("sec" + h, u))
        if base == "cot":
            yield "f", op("/", op("cos" + h, u), op("sin" + h, u))
        if base == "sin":
            yield "f", op("*", op("tan" + h, u), op("cos" + h, u))
        if base == "csc":
            yield "f", op("/", op("cot" + h, u), op("cos" + h, u))
        if base == "sec":
            yield "f", op("/", op("tan" + h, u), op("sin" + h, u))
        if not h:
            yield "f", op(CO[o], op("-", op("/", "pi", "2"), u))
            period = "pi" if o in ("tan", "cot") else op("*", "2", "pi")
            yield "f", op(o, op("+", u, period))
            yield "f", op(o, op("+", "pi", u)) if o in ("tan", "cot") else neg(op(o, op("+", "pi", u)))
        elif base == "sin":
            yield "f", op("/", op("-", call("exp", u), call("exp", neg(u))), "2")
        elif base == "cos":
            yield "f", op("/", op("+", call("exp", u), call("exp", neg(u))), "2")
        if isinstance(u, tuple) and u[0] == "a" + RECIPROCAL[o]:
            yield "f", op("/", "1", u[1])
    if o[1:] in RECIPROCAL and o[0] == "a":
        yield "f", op("a" + RECIPROCAL[o[1:]], op("/", "1", u))
        if o in ("asin", "atan", "acsc", "acot", "asinh", "atanh", "acsch", "acoth"):
            yield "f", op("*", "-1", op(o, neg(u)))
        if o in ("asin", "acos"):
            yield "f", op("-", op("/", "pi", "2"), op({"asin": "acos", "acos": "asin"}[o], u))
        if o in ("asec", "acsc"):
            yield "f", op("-", op("/", "pi", "2"), op({"asec": "acsc", "acsc": "asec"}[o], u))
        if o in ("acos", "asec"):
            yield "f", op("-", "pi", op(o, neg(u)))
        if o == "asinh":
            yield "f", op("ln", op("+", u, op("sqrt", op("+", op("pow", u, "2"), "1"))))
        if o == "atanh":
            yield "f", op("/", op("-", op("ln", op("+", "1", u)), op("ln", op("-", "1", u))), "2")
    if o == "ln":
        yield "f", op("*", "-1", op("ln", op("/", "1", u)))
        if isinstance(u, tuple) and u[0] in "*/":
            yield "f", op("+" if u[0] == "*" else "-", op("ln", u[1]), op("ln", u[2]))
        if isinstance(u, tuple) and u[0] == "pow":
            yield "f", op("*", u[2], op("ln", u[1]))
        yield "f", op("/", op("ln", op("pow", u, "2")), "2")
    if o == "sqrt":
        yield "f", op("/", u, op("sqrt", u))
        yield "f", op("/", "1", op("sqrt", op("/", "1", u)))
        yield "f", op("pow", u, op("/", "1", "2"))
        yield "f", call("exp", op("/", op("ln", u), "2"))
    if o == "d":
        yield "d", diff(v)
        yield "d", diff(v)
        if isinstance(v, tuple) and v[0] == "*" and not has_x(v[1]):
            yield "d", op("*", v[1], op("d", "x", v[2]))
        if isinstance(v, tuple) and v[0] in "+-" and len(v) == 3:
            if not has_x(v[2]):
                yield "d", op("d", "x", v[1])
            else:
                yield "d", op(v[0], op("d", "x", v[1]), op("d", "x", v[2]))


def places(t, at=()):
    yield at, t
    if isinstance(t, tuple):
        for i, u in enumerate(t[1:], 1):
            if not (t[0] == "d" and i == 1):
                yield from places(u, at + (i,))


def put(t, at, new):
    if not at:
        return new
    return t[:at[0]] + (put(t[at[0]], at[1:], new),) + t[at[0] + 1:]


def tokens(t):
    return [t] if isinstance(t, str) else [t[0]] + [w for u in t[1:] for w in tokens(u)]


def clean(t):
    if isinstance(t, str):
        return t
    t = tuple([t[0]] + [clean(u) for u in t[1:]])
    if len(t) == 3:
        o, u, v = t
        if o == "+" and "0" in (u, v):
            return v if u == "0" else u
        if o == "-" and v == "0":
            return u
        if o == "*" and "1" in (u, v):
            return v if u == "1" else u
        if o in ("/", "pow") and v == "1":
            return u
    return t


def walk(seed, rng):
    t, n = seed, rng.choice((1, 2, 2, 3, 3, 4, 5))
    if t[0] == "d" and rng.random() < 0.7:
        t = diff(t[2])
    for _ in range(n):
        at, u = rng.choice(list(places(t)))
        options = list(steps(u))
        if not options:
            continue
        kinds = sorted({k for k, _ in options})
        weights = [0.35 if k in ("wrap", "number") else 1 for k in kinds]
        kind = rng.choices(kinds, weights)[0]
        t = clean(put(t, at, rng.choice([s for k, s in options if k == kind])))
    return t


def initial(rng):
    n = lambda: num(rng.choice([k for k in range(-9, 10) if abs(k) > 1]))
    p = lambda: num(rng.randint(2, 9))

    def linear(kind):
        s = rng.choice("+-")
        return {"x": "x", "ax": op("*", n(), "x"), "x/a": op("/", "x", n()), "x+b": op(s, "x", n()),
                "ax+b": op(s, op("*", n(), "x"), n())}[kind]

    f = rng.choice(FUNCTIONS)
    inner = linear(rng.choice(["x", "ax", "x/a", "x+b", "ax+b", "ax+b"]))
    form = rng.choice(["algebra", "f", "f", "cf", "cf", "power", "power", "nested", "two"])
    if form == "algebra":
        t = rng.choice([lambda: op("pow", "x", n()), lambda: linear("ax+b"),
                        lambda: op("+", op("pow", "x", p()), op(rng.choice("+-"), op("*", n(), "x"), n())),
                        lambda: op("pow", linear("ax+b"), n()),
                        lambda: op("*", n(), op("pow", linear("ax+b"), n())),
                        lambda: op("+", op("pow", op("+", op("/", "x", n()), n()), n()), op("*", n(), "x"))])()
    elif form == "f":
        t = call(f, inner)
    elif form == "cf":
        t = rng.choice([lambda: op(rng.choice("+-"), op("*", n(), call(f, inner)), n()),
                        lambda: op("/", call(f, inner), n()), lambda: op("*", n(), call(f, inner))])()
    elif form == "power":
        t = op("pow", call(f, inner), n())
    elif form == "nested":
        t = call(f, call(rng.choice(FUNCTIONS), rng.choice(["x", "x", linear("ax")])))
    else:
        t = op(rng.choice(["+", "-", "*", "/"]), call(f, "x"), call(rng.choice(FUNCTIONS), rng.choice(["x", linear("ax")])))
    return op("d", "x", t) if form not in ("nested", "two") and rng.random() < 0.45 else t


def draw(want, rng):
    known, made = [], 0
    while made < want:
        seed = initial(rng)
        if len(tokens(seed)) > 14:
            continue
        v = values(seed)
        good = [q for q in v if q is not None]
        if len(good) < 3 or max(abs(a - b) for a in good for b in good) < 1e-6 or any(same(v, w) for w in known):
            continue
        members, size = [" ".join(tokens(seed))], rng.randint(20, 40)
        for _ in range(size * 30):
            if len(members) == size:
                break
            m = walk(seed, rng)
            w = tokens(m)
            text = " ".join(w)
            if len(w) <= MOST and text not in members and same(v, values(m)):
                members.append(text)
        if len(members) >= 20:
            known.append(v)
            made += 1
            yield members


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    text = "".join("\n".join(members) + "\n\n" for members in draw(int(sys.argv[1]), random.Random(seed)))
    if os.path.isdir("out"):
        with open("out/walks.txt", "w", encoding="utf-8") as f:
            f.write(text)
    else:
        sys.stdout.write(text)


main()
