/* Tokens and arguments. KaTeX keeps tokens in reverse order; here they are in reading order. What a
 * command or an environment takes is said by a specification, as LaTeX's own \NewDocumentCommand
 * has it:
 *
 *   m           an argument            r()  R(){x}   one between these, which must be there
 *   o  O{x}     [...], or a default    d()  D(){x}   the same between other delimiters
 *   g  G{x}     {...} if there is one  s  t*         whether a star, or this token, comes next
 *   e{^_}       what follows each of these tokens    l    all up to the next brace
 *   b           the body of an environment
 *   #d          a length as TeX reads it: 3pt, -\arraycolsep, 1em plus 1fil
 *   #b          "to 3cm" or "spread 3cm" before a box
 *
 * An `!` before an optional argument: not behind blanks. `+` and `>{...}` change nothing here. An
 * absent argument is NOVALUE; whether a star is there is told by \BooleanTrue and \BooleanFalse. */
var NOVALUE = '\\eqloom@novalue';

/* A refusal: `reason` is one of a fixed list, which reports count. */
function refusal(reason, detail) {
    var e = new Error(detail);
    e.reason = reason;
    return e;
}
/* The tokens of a text of the paper. */
function lex_theirs(ctx, text) {
    var lexer = new ctx.lexer.constructor(text, ctx.settings), out = [], t = lexer.lex();
    for (; t.text !== 'EOF'; t = lexer.lex())
        out.push(t);
    return out;
}
/* The tokens of a text of ours: a command of KaTeX's own that the paper redefines means KaTeX's. */
function lex(ctx, text) {
    return lex_theirs(ctx, text).map(function (t) {
        if (!theirs_of(t.text) || !probe.isDefined(t.text))
            return t;
        if (probe.macros.builtins[t.text] !== undefined)
            return lex_theirs(ctx, '\\eqloom@' + t.text.slice(1))[0];
        t.noexpand = true;
        return t;
    });
}
function result(tokens) {
    return { tokens: tokens.slice().reverse(), numArgs: 0 };
}
function wrap(ctx, before, tokens, after) {
    return lex(ctx, before).concat(tokens, lex(ctx, after));
}
function next(ctx) {
    ctx.consumeSpaces();
    return ctx.future().text;
}
function text_of(tokens) {
    return tokens.map(function (t) {
        return /^\\[a-zA-Z@]+$/.test(t.text) ? t.text + ' ' : t.text;
    }).join('');
}
/* The same without the blanks that ends of names need. */
function name_of(tokens) {
    return tokens.map(function (t) { return t.text; }).join('').trim();
}
function trimmed(tokens) {
    var from = 0, to = tokens.length;
    while (from < to && tokens[from].text === ' ')
        from++;
    while (to > from && tokens[to - 1].text === ' ')
        to--;
    return tokens.slice(from, to);
}
/* Braces that hold all of an argument are not part of it. */
function bare(tokens) {
    var depth = 0;
    if (tokens.length < 2 || tokens[0].text !== '{' || tokens[tokens.length - 1].text !== '}')
        return tokens;
    for (var i = 0; i < tokens.length - 1; i++) {
        depth += tokens[i].text === '{' ? 1 : tokens[i].text === '}' ? -1 : 0;
        if (depth === 0)
            return tokens;
    }
    return tokens.slice(1, -1);
}
/* A command that is to reach KaTeX as it is, although there is a macro of this name. */
function kept(ctx, command, rest) {
    var t = lex(ctx, command)[0];
    t.noexpand = true;
    return [t].concat(lex(ctx, rest));
}

/* ---- single arguments ---- */
function argument(ctx) {
    return ctx.consumeArg().tokens.reverse();
}
/* Behind `open`: all up to `close`, where pairs within do not count. */
function delimited(ctx, open, close) {
    var out = [], braces = 0, inner = 0, t;
    for (;;) {
        t = ctx.popToken();
        if (t.text === 'EOF' || (t.text === '}' && braces === 0))
            throw refusal('unknown form', 'no ' + close + ' for ' + open);
        if (braces === 0 && t.text === close && inner-- === 0)
            return bare(out);
        if (braces === 0 && t.text === open && open !== close)
            inner++;
        braces += t.text === '{' ? 1 : t.text === '}' ? -1 : 0;
        out.push(t);
    }
}
function taken(ctx, text) {
    if (next(ctx) !== text)
        return false;
    ctx.popToken();
    return true;
}
function optional(ctx) {
    return taken(ctx, '[') ? delimited(ctx, '[', ']') : null;
}
function word(ctx, text) { /* a keyword of TeX's, letter by letter */
    var seen = [];
    ctx.consumeSpaces();
    for (var i = 0; i < text.length; i++) {
        if (ctx.future().text !== text.charAt(i)) {
            ctx.pushTokens(seen.reverse());
            return false;
        }
        seen.push(ctx.popToken());
    }
    return true;
}
var UNITS = ['pt', 'em', 'ex', 'mu', 'mm', 'cm', 'in', 'bp', 'pc', 'dd', 'cc', 'sp', 'px', 'fil'];
/* A length of TeX's, as text, "" if it is one of TeX's registers. */
function length_at(ctx) {
    var sign = '', number = '', unit = '';
    for (var c = next(ctx); c === '-' || c === '+'; c = next(ctx))
        sign = ctx.popToken().text === '-' ? (sign ? '' : '-') : sign;
    while (/^[\d.,]$/.test(ctx.future().text))
        number += ctx.popToken().text;
    c = next(ctx);
    if (/^\\[a-zA-Z@]+$/.test(c)) {
        ctx.popToken();
        if (c === '\\dimexpr' || c === '\\glueexpr')
            throw refusal('unknown form', c);
        return '';
    }
    if (!number)
        throw refusal('unknown form', 'a length is expected before ' + c);
    word(ctx, 'true');
    for (var i = 0; i < UNITS.length && !unit; i++)
        unit = word(ctx, UNITS[i]) ? UNITS[i] : '';
    while (unit === 'fil' && word(ctx, 'l'))
        ;
    if (!unit)
        throw refusal('unknown form', 'a length has no unit before ' + next(ctx));
    return unit === 'fil' ? '' : sign + number.replace(',', '.') + unit;
}
function glue(ctx) {
    var length = length_at(ctx);
    if (word(ctx, 'plus'))
        length_at(ctx);
    if (word(ctx, 'minus'))
        length_at(ctx);
    return length;
}

/* ---- specifications ---- */
var specifications = {};
function specification(text) {
    if (Object.prototype.hasOwnProperty.call(specifications, text))
        return specifications[text];
    var out = [], i = 0, at_once = false;
    function group() {
        var depth = 0, from = i;
        do {
            var c = text.charAt(i++);
            depth += c === '{' ? 1 : c === '}' ? -1 : 0;
        } while (depth > 0 && i < text.length);
        return text.slice(from + 1, i - 1);
    }
    function token() {
        var found = /^(\\[a-zA-Z@]+|\\?.)\s*/.exec(text.slice(i));
        i += found ? found[0].length : 1;
        return found ? found[1] : '';
    }
    while (i < text.length) {
        var c = text.charAt(i++), x = { kind: c, at_once: at_once };
        if (c === '!' || c === ' ' || c === '+') {
            at_once = c === '!' || (at_once && c === ' ');
            continue;
        }
        if (c === '>') {
            group();
            continue;
        }
        if (!/[mrRoOdDgGstelb#E]/.test(c))
            throw refusal('unknown form', 'argument specification ' + text);
        if (/[rRdD]/.test(c)) {
            x.open = token();
            x.close = token();
        } else if (/[t#]/.test(c)) {
            x.token = token();
        } else if (/[eE]/.test(c)) {
            x.tokens = text.charAt(i) === '{' ? group().match(/\\[a-zA-Z@]+|\S/g) || [] : [token()];
        }
        if (/[RODGE]/.test(c))
            x.initial = group();
        out.push(x);
        at_once = false;
    }
    specifications[text] = out;
    return out;
}
function absent(ctx, x) {
    return lex_theirs(ctx, x.initial === undefined ? NOVALUE : x.initial);
}
/* `strict`: what follows must look like an argument. For the commands of LaTeX that are described
 * here: a star or a bracket that the description lacks is another form of the command. */
function take_one(ctx, x, strict, name) {
    if (x.at_once && ctx.future().text === ' ')
        return absent(ctx, x);
    switch (x.kind) {
    case 'm':
        if (strict && /^[*\[&]$|^\\\\$/.test(next(ctx)))
            throw refusal('unknown form', name + next(ctx));
        return argument(ctx);
    case 's':
        return lex(ctx, taken(ctx, '*') ? '\\BooleanTrue' : '\\BooleanFalse');
    case 't':
        return lex(ctx, taken(ctx, x.token) ? '\\BooleanTrue' : '\\BooleanFalse');
    case 'o': case 'O':
        return taken(ctx, '[') ? delimited(ctx, '[', ']') : absent(ctx, x);
    case 'd': case 'D':
        return taken(ctx, x.open) ? delimited(ctx, x.open, x.close) : absent(ctx, x);
    case 'r': case 'R':
        if (!taken(ctx, x.open))
            throw refusal('unknown form', name + ' without ' + x.open);
        return delimited(ctx, x.open, x.close);
    case 'g': case 'G':
        return next(ctx) === '{' ? argument(ctx) : absent(ctx, x);
    case 'l':
        for (var before = []; next(ctx) !== '{' && next(ctx) !== 'EOF';)
            before.push(ctx.popToken());
        return before;
    case '#':
        if (x.token === 'd')
            return lex(ctx, glue(ctx));
        if (word(ctx, 'to') || word(ctx, 'spread'))
            length_at(ctx);
        return [];
    }
    throw refusal('unknown form', name);
}
function take(ctx, text, strict, name) {
    var out = [];
    specification(text).forEach(function (x) {
        if (x.kind === 'b') {
            out.push(body(ctx, name));
        } else if (x.kind === 'e' || x.kind === 'E') {
            var found = x.tokens.map(function () { return lex(ctx, NOVALUE); });
            for (var k; (k = x.tokens.indexOf(next(ctx))) >= 0 && name_of(found[k]) === NOVALUE;) {
                ctx.popToken();
                found[k] = argument(ctx);
            }
            out.push.apply(out, found);
        } else {
            out.push(take_one(ctx, x, strict, name));
        }
    });
    return out;
}
function given(tokens) {
    return name_of(tokens) !== NOVALUE;
}
function starred(tokens) {
    return name_of(tokens) === '\\BooleanTrue';
}
/* The tokens up to the \end of the environment, which is taken, too. */
function body(ctx, name) {
    var out = [], depth = 0;
    for (;;) {
        var t = ctx.popToken();
        if (t.text === 'EOF')
            throw refusal('LaTeX error', '\\begin{' + name + '} without \\end');
        if (t.text === '\\begin' || t.text === '\\end') {
            var group = argument(ctx), same = name_of(group) === name;
            if (same && t.text === '\\end' && depth-- === 0)
                return out;
            depth += same && t.text === '\\begin' ? 1 : 0;
            out.push(t);
            out.push.apply(out, wrap(ctx, '{', group, '}'));
        } else {
            out.push(t);
        }
    }
}
function substitute(text, args) {
    var out = [];
    for (var i = 0; i < text.length; i++) {
        var n = text[i].text === '#' && i + 1 < text.length ? text[i + 1].text : '';
        if (n === '#') {
            out.push(text[++i]);
        } else if (/^[1-9]$/.test(n) && args[n - 1]) {
            out.push.apply(out, args[n - 1]);
            i++;
        } else {
            out.push(text[i]);
        }
    }
    return out;
}

/* ---- lists, rows and cells ---- */
/* Splits where one of the texts stands outside braces and environments. */
function split(tokens, texts) {
    var out = [[]], depth = 0;
    tokens.forEach(function (t) {
        depth += /^(\{|\\begin|\\left)$/.test(t.text) ? 1 : /^(\}|\\end|\\right)$/.test(t.text) ? -1 : 0;
        if (depth === 0 && texts.indexOf(t.text) >= 0)
            out.push([]);
        else
            out[out.length - 1].push(t);
    });
    return out;
}
function join(ctx, lists, between) {
    return lists.reduce(function (all, x, i) {
        return all.concat(i ? lex(ctx, between) : [], x);
    }, []);
}
/* "key=value, key" as pairs of a text and tokens. */
function keys(tokens) {
    return split(tokens, [',']).map(function (x) {
        var sides = split(x, ['=']);
        return { key: name_of(sides[0]), value: sides.length > 1 ? bare(trimmed(x.slice(
            sides[0].length + 1))) : null };
    }).filter(function (x) { return x.key; });
}
