/* The paper's macros and environments as macros of KaTeX. */
var theirs; /* by name, of the display that is being converted */
function theirs_of(name) {
    return Object.prototype.hasOwnProperty.call(theirs, name) ? theirs[name] : null;
}
function delimiters_of(ctx, text) {
    var out = [[]];
    lex_theirs(ctx, text).forEach(function (t, i, all) {
        if (t.text === '#')
            return;
        if (i > 0 && all[i - 1].text === '#')
            out.push([]);
        else
            out[out.length - 1].push(t.text);
    });
    return out;
}
/* KaTeX takes @ for a letter. In a name that nothing defines it is a character behind a name:
 * \xymatrix@R=1em. */
function at_signs(all, text) {
    return text.replace(/\\[a-zA-Z]+@[a-zA-Z@]*/g, function (name) {
        var known = [name, name.replace(/@.*/, '')].map(function (x) {
            return theirs_of(x) || all[x] || probe.isDefined(x);
        });
        return !known[0] && known[1] ? name.replace('@', ' @') : name;
    });
}
function macro(m) {
    return function (ctx) {
        if (m.delimiters) {
            var d = delimiters_of(ctx, m.delimiters);
            return { tokens: lex_theirs(ctx, m.body).reverse(), numArgs: d.length - 1, delimiters: d };
        }
        return result(substitute(lex_theirs(ctx, m.body), take(ctx, m.spec, false, m.name)));
    };
}
/* \let\x\y, where the paper has not defined \y: \x is what \y is here or in KaTeX. */
function same_as(all, m) {
    return all[m.body] || function (ctx) {
        if (!ctx.isDefined(m.body))
            throw refusal('unknown command', m.body);
        var built_in = ctx.macros.builtins[m.body];
        if (built_in)
            return typeof built_in === 'function' ? built_in(ctx) : built_in;
        return { tokens: kept(ctx, m.body, ''), numArgs: 0 };
    };
}
/* KaTeX's own macros, such as \varDelta for \mathit{\Delta}, mean its own \Delta, although the paper has
 * another: which of them name a command. */
var naming = {};
function index_built_in() {
    var built_in = probe.macros.builtins;
    Object.keys(built_in).forEach(function (name) {
        var body = built_in[name];
        (typeof body === 'string' ? body.match(/\\[a-zA-Z@]+/g) || [] : []).forEach(function (x) {
            naming[x] = (own(naming, x) || []).concat(name);
        });
    });
}
function keep_built_in(all, redefined) {
    (own(naming, redefined) || []).forEach(function (name) {
        var body = probe.macros.builtins[name];
        if (all[name])
            return;
        all[name] = function (ctx) {
            var arguments_of = (body.match(/#\d/g) || []).sort().pop();
            var args = take(ctx, new Array(arguments_of ? +arguments_of.charAt(1) + 1 : 1).join('m'), false, name);
            return result(substitute(lex(ctx, body), args));
        };
    });
    if (own(probe.macros.builtins, redefined) !== undefined)
        all['\\eqloom@' + redefined.slice(1)] = probe.macros.builtins[redefined];
}
function define_macros(all, macros) {
    theirs = {};
    macros.forEach(function (m) {
        theirs[m.name] = m;
    });
    macros.forEach(function (m) {
        m.body = at_signs(all, m.body);
        m.end = at_signs(all, m.end);
    });
    var made = {};
    macros.forEach(function (m) {
        /* \left and \right are redefined for spaces alone */
        if (m.name.charAt(0) === '\\' && !/^\\(begin|end|left|right)$/.test(m.name))
            made[m.name] = m['let'] ? same_as(all, m) : macro(m);
    });
    for (var name in made) {
        keep_built_in(all, name);
        all[name] = made[name];
    }
}
/* An environment of the paper: what its \begin and its \end stand for. */
function their_environment(ctx, m) {
    var args = take(ctx, m.spec, false, m.name);
    var before = substitute(lex_theirs(ctx, m.body), args), behind = substitute(lex_theirs(ctx, m.end), args);
    return /b/.test(m.spec.replace(/\{[^{}]*\}/g, '')) ? [before.concat(behind), null] : [before, behind];
}
