/* TeX's conditionals and LaTeX's choices, as far as the text decides them. What it does not decide
 * (the value of a counter, a box, the page) is refused. */
var PRIMITIVE_IFS = ('\\if \\ifcat \\ifx \\ifcase \\ifnum \\ifdim \\ifodd \\ifvmode \\ifhmode \\ifmmode ' +
    '\\ifinner \\ifvoid \\ifhbox \\ifvbox \\ifeof \\iftrue \\iffalse \\ifdefined \\ifcsname ' +
    '\\iffontchar').split(' ');

function is_conditional(ctx, name) {
    if (PRIMITIVE_IFS.indexOf(name) >= 0)
        return true;
    var m = /^\\if/.test(name) ? theirs_of(name) : null;
    return !!m && (m.body === '\\iftrue' || m.body === '\\iffalse');
}
/* Drops what TeX skips, up to \fi or, at the conditional's own level, \else or \or; returns which. */
function skip_branch(ctx) {
    for (var depth = 0; ;) {
        var t = ctx.popToken().text;
        if (t === 'EOF')
            throw refusal('LaTeX error', 'a conditional without \\fi');
        if (depth === 0 && (t === '\\fi' || t === '\\else' || t === '\\or'))
            return t;
        depth += t === '\\fi' ? -1 : is_conditional(ctx, t) ? 1 : 0;
    }
}
var ifs, negate; /* open conditionals; whether \unless is before this one */
function choose(ctx, truth) {
    truth = negate ? !truth : truth;
    negate = false;
    if (truth || skip_branch(ctx) === '\\else')
        ifs++;
    return result([]);
}
/* \else or \fi behind a branch that was taken. */
function end_of_branch(which) {
    return function (ctx) {
        if (ifs-- <= 0)
            throw refusal('LaTeX error', which + ' without \\if');
        if (which !== '\\fi')
            while (skip_branch(ctx) !== '\\fi')
                ;
        return result([]);
    };
}
function undecided(name) {
    return refusal('undecided condition', name);
}
function meaning(name) {
    var m = theirs_of(name);
    if (m)
        return m['let'] ? m.body : 'macro ' + m.spec + m.delimiters + '->' + m.body;
    return /^\\(@empty|empty)$/.test(name) ? 'macro ->' : /^\\(un|@un)defined$/.test(name) ? '' : name;
}
/* Without expansion; a name that nothing here defines may have a meaning elsewhere. */
function same_meaning(ctx, name) {
    var a = ctx.popToken().text, b = ctx.popToken().text;
    if (a === b || meaning(a) === meaning(b))
        return true;
    var unknown = [a, b].some(function (t) {
        return /^\\/.test(t) && !theirs_of(t) && !ctx.isDefined(t) && meaning(t) === t && t !== '\\relax';
    });
    if (unknown)
        throw undecided(name + a + b);
    return false;
}
var comparing = false; /* \\relax is a token that two others are compared with */
function expanded(ctx) {
    comparing = true;
    try {
        return ctx.expandNextToken().text;
    } finally {
        comparing = false;
    }
}
function same_character(ctx, name) {
    var a = expanded(ctx), b = expanded(ctx);
    if (/^\\[a-zA-Z@]/.test(a) !== /^\\[a-zA-Z@]/.test(b) || !/^\\[a-zA-Z@]/.test(a))
        return a === b;
    return true; /* two names that do not expand */
}
/* The next token, expanded where it can be. */
function next_expanded(ctx) {
    return ctx.isDefined(ctx.future().text) ? ctx.expandNextToken() : ctx.popToken();
}
function integer(ctx) {
    var sign = '', digits = '';
    for (var t = next_expanded(ctx); /^[-+\s]$/.test(t.text); t = next_expanded(ctx))
        sign = t.text === '-' ? (sign ? '' : '-') : sign;
    for (; /^\d$/.test(t.text); t = next_expanded(ctx))
        digits += t.text;
    if (t.text !== ' ')
        ctx.pushToken(t);
    return digits ? +(sign + digits) : NaN;
}
function compare(ctx, name) {
    var a = integer(ctx), sign, b;
    do
        sign = next_expanded(ctx).text;
    while (sign === ' ');
    b = integer(ctx);
    if (isNaN(a) || isNaN(b) || !/^[<=>]$/.test(sign))
        throw undecided(name);
    return sign === '<' ? a < b : sign === '>' ? a > b : a === b;
}
function ifcase(ctx) {
    var n = integer(ctx), end = '';
    if (isNaN(n) || negate)
        throw undecided('\\ifcase');
    while (n-- !== 0 && end !== '\\else' && end !== '\\fi')
        end = skip_branch(ctx);
    ifs += end === '\\fi' ? 0 : 1;
    return result([]);
}
function condition(name, decide) {
    return function (ctx) { return choose(ctx, decide(ctx, name)); };
}

/* ---- choices by argument: {yes}{no} follow ---- */
function choice(spec, decide, which) {
    return function (ctx) {
        var truth = decide(ctx, take(ctx, spec, false, '')), yes = [], no = [];
        if (which !== 'F')
            yes = argument(ctx);
        if (which !== 'T')
            no = argument(ctx);
        return result(truth ? yes : no);
    };
}
function text_is_blank(ctx, a) {
    return trimmed(a[0]).length === 0;
}
function texts_are_equal(ctx, a) {
    return text_of(a[0]) === text_of(a[1]);
}
function is_undefined(ctx, a) {
    return !ctx.isDefined('\\' + name_of(a[0]).replace(/^\\/, ''));
}
/* What \newboolean{x}, \newbool{x} or \newtoggle{x} is. */
function boolean_value(name) {
    var m = theirs_of('\\if' + name.trim());
    if (!m || !/^\\if(true|false)$/.test(m.body))
        throw undecided(name);
    return m.body === '\\iftrue';
}
/* A condition of \ifthenelse: \equal{a}{b} and, of numbers, a < b. */
function ifthenelse(ctx, a) {
    var text = text_of(a[0]), equal = /^\s*\\equal\s*\{([^{}]*)\}\s*\{([^{}]*)\}\s*$/.exec(text);
    var number = /^\s*(-?\d+)\s*([<>=])\s*(-?\d+)\s*$/.exec(text);
    var truth = /^\s*\\boolean\s*\{([^{}]*)\}\s*$/.exec(text);
    if (truth)
        return boolean_value(truth[1]);
    if (!equal && !number)
        throw undecided('\\ifthenelse{' + text + '}');
    return equal ? equal[1].trim() === equal[2].trim() : number[2] === '<' ? +number[1] < +number[3]
        : number[2] === '>' ? +number[1] > +number[3] : +number[1] === +number[3];
}

function define_conditionals(all) {
    var choices = [
        ['IfValue', 'm', function (ctx, a) { return given(a[0]); }],
        ['IfNoValue', 'm', function (ctx, a) { return !given(a[0]); }],
        ['IfBoolean', 'm', function (ctx, a) {
            if (!/^\\Boolean(True|False)$/.test(name_of(a[0])))
                throw undecided('\\IfBooleanTF');
            return starred(a[0]);
        }],
        ['IfBlank', 'm', text_is_blank]
    ];
    choices.forEach(function (row) {
        ['TF', 'T', 'F'].forEach(function (which) {
            all['\\' + row[0] + which] = choice(row[1], row[2], which);
        });
    });
    all['\\@ifundefined'] = choice('m', is_undefined);
    all['\\ifstrempty'] = all['\\ifblank'] = choice('m', text_is_blank);
    all['\\ifstrequal'] = choice('mm', texts_are_equal);
    all['\\ifbool'] = all['\\iftoggle'] = choice('m', function (ctx, a) { return boolean_value(name_of(a[0])); });
    all['\\ifthenelse'] = choice('m', ifthenelse);
    all['\\ifdef'] = all['\\ifcsdef'] = choice('m', function (ctx, a) { return !is_undefined(ctx, a); });
    all['\\ifundef'] = all['\\ifcsundef'] = choice('m', is_undefined);
    all['\\relax'] = function (ctx) { return result(comparing ? kept(ctx, '\\relax', '') : []); };
    all['\\iftrue'] = condition('\\iftrue', function () { return true; });
    all['\\iffalse'] = condition('\\iffalse', function () { return false; });
    all['\\ifvmode'] = condition('\\ifvmode', function () { return false; });
    all['\\ifhmode'] = condition('\\ifhmode', function (ctx) { return ctx.mode === 'text'; });
    all['\\ifmmode'] = condition('\\ifmmode', function (ctx) { return ctx.mode === 'math'; });
    all['\\ifcase'] = ifcase;
    all['\\unless'] = function () {
        negate = true;
        return result([]);
    };
    all['\\if'] = condition('\\if', same_character);
    all['\\ifx'] = condition('\\ifx', same_meaning);
    all['\\ifnum'] = condition('\\ifnum', compare);
    all['\\ifodd'] = condition('\\ifodd', function (ctx, name) {
        var n = integer(ctx);
        if (isNaN(n))
            throw undecided(name);
        return n % 2 !== 0;
    });
    all['\\ifdefined'] = condition('\\ifdefined', function (ctx) {
        return ctx.isDefined(ctx.popToken().text);
    });
    ['\\fi', '\\else', '\\or'].forEach(function (name) { all[name] = end_of_branch(name); });
    PRIMITIVE_IFS.forEach(function (name) {
        if (!all[name])
            all[name] = function () { throw undecided(name); };
    });
}
