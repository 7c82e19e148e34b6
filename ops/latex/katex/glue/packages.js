/* Packages whose commands mean something else elsewhere: only where the document loads them. */
function variables(ctx, d, tokens) { /* x, y -> d x d y, with their number */
    var items = split(tokens, [',']);
    return { n: items.length, tokens: items.reduce(function (all, x) {
        return all.concat(lex(ctx, all.length ? '\\,' + d : d), trimmed(x));
    }, []) };
}
function quotient(ctx, above, below) {
    return result(lex(ctx, '\\frac').concat(wrap(ctx, '{', above, '}'), wrap(ctx, '{', below, '}')));
}
/* \od[2]{f}{x} of commath, \diff[2]{f}{x} of esdiff and diffcoeff */
function plain_derivative(d) {
    return function (ctx, name) {
        var a = take(ctx, 'omm', true, name), power = given(a[0]) ? wrap(ctx, '^{', a[0], '}') : [];
        return quotient(ctx, lex(ctx, d).concat(power, a[1]), lex(ctx, d).concat(a[2], power));
    };
}
/* \pdv{f}{x,y} of derivative: the order is the number of variables. */
function listed_derivative(d) {
    return function (ctx, name) {
        var a = take(ctx, 'mm', true, name), x = variables(ctx, d, a[1]);
        return quotient(ctx, lex(ctx, d + (x.n > 1 ? '^{' + x.n + '}' : '')).concat(a[0]), x.tokens);
    };
}
function mixed_derivative(ctx) { /* \md{f}{6}{x}{2}{y}{3} of commath */
    var a = take(ctx, 'mmmmmm', true, '\\md');
    return quotient(ctx, wrap(ctx, '\\partial^{', a[1], '}').concat(a[0]),
        wrap(ctx, '\\partial ', a[2], '^{').concat(a[3], lex(ctx, '}\\partial '), a[4], wrap(ctx, '^{', a[5], '}')));
}
function commath(all) {
    several(all, '\\od', plain_derivative('\\mathrm{d}'));
    several(all, '\\pd', plain_derivative('\\partial '));
    several(all, '\\md', mixed_derivative);
    several(all, '\\del', delimiters_of_size('(', ')'));
    several(all, '\\sbr', delimiters_of_size('[', ']'));
    several(all, '\\cbr \\set', delimiters_of_size('\\{', '\\}'));
    several(all, '\\abs \\envert', delimiters_of_size('\\vert', '\\vert'));
    several(all, '\\norm \\enVert', delimiters_of_size('\\Vert', '\\Vert'));
    several(all, '\\intoo', delimiters_of_size('(', ')'));
    several(all, '\\intcc', delimiters_of_size('[', ']'));
    several(all, '\\intoc', delimiters_of_size('(', ']'));
    several(all, '\\intco', delimiters_of_size('[', ')'));
}
/* commath's \abs[2]{x}: the size is a number, 0 to 4. */
function delimiters_of_size(left, right) {
    return function (ctx, name) {
        var a = take(ctx, 'om', true, name), size = given(a[0]) ? name_of(a[0]) : '';
        if (size && !/^[0-4]$/.test(size))
            throw refusal('unknown form', name + '[' + size + ']');
        return result(fenced(ctx, lex(ctx, size === '0' ? '*' : size ? SIZES[+size - 1] : ''), left, a[1], right));
    };
}
var PACKAGES = {
    commath: commath,
    esdiff: function (all) {
        several(all, '\\diff', plain_derivative('\\mathrm{d}'));
        several(all, '\\diffp', plain_derivative('\\partial '));
    },
    diffcoeff: function (all) {
        several(all, '\\diff', plain_derivative('\\mathrm{d}'));
        several(all, '\\diffp', plain_derivative('\\partial '));
    },
    derivative: function (all) {
        several(all, '\\odv', listed_derivative('\\mathrm{d}'));
        several(all, '\\pdv', listed_derivative('\\partial '));
    }
};
