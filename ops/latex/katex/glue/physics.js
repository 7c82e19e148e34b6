/* The packages physics and braket. The forms are those of their manuals: \qty(x), \abs*{x},
 * \dv[n]{f}{x}, \dv{x}(f), \bra{a}\ket{b}. What the two define differently is decided by the package
 * that the document loads, or by the form, or else refused. */
var SIZES = '\\big \\Big \\bigg \\Bigg'.split(' ');

/* The delimiters around a text: as large as it, by default or as stated before the brace; a star
 * keeps them small. */
function fenced(ctx, before, left, inner, right) {
    var how = name_of(before), l = '\\left', r = '\\right';
    if (how === '*')
        l = r = '';
    else if (SIZES.indexOf(how) >= 0)
        l = how + 'l', r = how + 'r';
    else if (how)
        throw refusal('unknown form', how);
    return lex(ctx, l + left + ' ').concat(inner, lex(ctx, r + right + ' '));
}
/* The star or the size before an argument. */
function size_before(ctx) {
    return SIZES.indexOf(next(ctx)) >= 0 || next(ctx) === '*' ? [ctx.popToken()] : [];
}
function fence(left, right, before) {
    return function (ctx, name) {
        var size = size_before(ctx), a = take(ctx, 'm', true, name);
        return result(lex(ctx, before || '').concat(fenced(ctx, size, left, a[0], right)));
    };
}
var PAIRS = { '(': ['(', ')'], '[': ['[', ']'], '|': ['|', '|'], '{': ['\\{', '\\}'] };
/* What follows an operator: (x), [x] or {x}, with delimiters of this size, or as large as it; or null. */
function operand(ctx, opens, size) {
    var c = next(ctx), pair = PAIRS[c];
    if (!pair || opens.indexOf(c) < 0)
        return null;
    var inner = c === '{' ? argument(ctx) : (ctx.popToken(), delimited(ctx, c, pair[1]));
    return fenced(ctx, size || [], pair[0], inner, pair[1]);
}
function quantity(ctx) {
    var size = next(ctx) === '*' ? [] : size_before(ctx), c = next(ctx), out = operand(ctx, '([{|', size);
    if (!out)
        throw refusal('unknown form', '\\qty' + c);
    return result(out);
}
function upright_name(ctx, text) {
    return /^\\[a-z]+$/i.test(text) ? kept(ctx, text, '') : lex(ctx, '\\operatorname{' + text + '}');
}
/* \sin, \sin(x), \sin[2](x); without parentheses [2] is no power. */
function trigonometric(text) {
    return function (ctx) {
        var power = optional(ctx), out = upright_name(ctx, text), inner = operand(ctx, '(');
        if (power)
            out = out.concat(inner ? wrap(ctx, '^{', power, '}') : wrap(ctx, '[', power, ']'));
        return result(out.concat(inner || []));
    };
}
/* \Tr, \Tr(x), \Tr[x], \Tr{x}: those of `opens` with delimiters */
function operator(text, opens) {
    return function (ctx) {
        return result(upright_name(ctx, text).concat(operand(ctx, opens) || []));
    };
}
/* \grad, \grad{x}, \grad(x), \grad[x] */
function nabla(text) {
    return function (ctx) {
        if (next(ctx) === '{')
            return result(wrap(ctx, text + '{', argument(ctx), '}'));
        return result(lex(ctx, text).concat(operand(ctx, '([') || []));
    };
}
/* \dd, \dd{x}, \dd[3]{x}, \dd(x) */
function differential(d) {
    return function (ctx) {
        var power = optional(ctx), out = lex(ctx, d);
        if (power)
            out = out.concat(wrap(ctx, '^{', power, '}'));
        if (next(ctx) === '{')
            return result(lex(ctx, '\\,').concat(out, wrap(ctx, '{', argument(ctx), '}')));
        return result(out.concat(operand(ctx, '(') || []));
    };
}
/* \dv{x}, \dv{f}{x}, \dv[n]{f}{x}, \dv{x}(f), a star for a fraction in the line; `mixed`: \pdv{f}{x}{y}. As
 * in the package, (f) behind both f and x is not set, and two variables are of order 2. */
function derivative(d, mixed) {
    return function (ctx, name) {
        var a = take(ctx, mixed ? 'somggd()' : 'somgd()', true, name), power = given(a[1]) ? a[1] : [];
        var many = power.length ? wrap(ctx, '^{', power, '}') : [], above, below, last = a[a.length - 1];
        var D = lex(ctx, d);
        if (mixed && given(a[4])) {
            above = D.concat(lex(ctx, '^{2}'), a[2]);
            below = D.concat(a[3], D, a[4]);
        } else {
            above = D.concat(many, given(a[3]) ? a[2] : []);
            below = D.concat(given(a[3]) ? a[3] : a[2], many);
        }
        above = wrap(ctx, '{', above, '}');
        below = wrap(ctx, '{', below, '}');
        var out = starred(a[0]) ? above.concat(lex(ctx, '/'), below)
            : lex(ctx, '\\frac').concat(above, below);
        return result(out.concat(given(last) && !given(a[3]) ? fenced(ctx, [], '(', last, ')') : []));
    };
}
function evaluated(ctx) {
    var small = taken(ctx, '*'), c = next(ctx), left = '.', inner;
    if (c === '{') {
        inner = argument(ctx);
    } else if (c === '[' || c === '(') {
        left = ctx.popToken().text;
        inner = delimited(ctx, left, '|');
    } else {
        inner = [];
    }
    return result(fenced(ctx, small ? lex(ctx, '*') : [], small && left === '.' ? '' : left, inner, '|'));
}

/* ---- Dirac's notation ---- */
function angle(ctx, small, left, inner, right) {
    return fenced(ctx, small ? lex(ctx, '*') : [], left, inner, right);
}
function bar(ctx, small) {
    return lex(ctx, small ? '\\vert ' : '\\middle\\vert ');
}
/* \ket{a}, \bra{a}, \bra{a}\ket{b} */
function ket(ctx, name) {
    var a = take(ctx, 'sm', true, name);
    return result(angle(ctx, starred(a[0]), '\\vert', a[1], '\\rangle'));
}
function bra(ctx) {
    var small = taken(ctx, '*'), left = argument(ctx), right;
    if (next(ctx) === '\\ket') {
        ctx.popToken();
        small = taken(ctx, '*') || small;
        right = argument(ctx);
    } else {
        return result(angle(ctx, small, '\\langle', left, '\\vert'));
    }
    return result(angle(ctx, small, '\\langle', left.concat(bar(ctx, small), right), '\\rangle'));
}
function inner_product(ctx, name) {
    var a = take(ctx, 'smg', true, name), small = starred(a[0]), right = given(a[2]) ? a[2] : a[1];
    return result(angle(ctx, small, '\\langle', a[1].concat(bar(ctx, small), right), '\\rangle'));
}
function outer_product(ctx, name) {
    var a = take(ctx, 'smg', true, name), small = starred(a[0]), right = given(a[2]) ? a[2] : a[1];
    return result(angle(ctx, small, '\\vert', a[1], '\\rangle').concat(
        angle(ctx, small, '\\langle', right, '\\vert')));
}
function expectation(ctx, name) {
    var a = take(ctx, 'ssmg', true, name), small = starred(a[0]), inner = a[2];
    if (given(a[3]))
        inner = a[3].concat(bar(ctx, small), a[2], bar(ctx, small), a[3]);
    return result(angle(ctx, small, '\\langle', inner, '\\rangle'));
}
function matrix_element(ctx, name) {
    var a = take(ctx, 'ssmmm', true, name), small = starred(a[0]);
    return result(angle(ctx, small, '\\langle', a[2].concat(bar(ctx, small), a[3], bar(ctx, small), a[4]),
        '\\rangle'));
}
/* \braket where no package is known: the forms that both packages set alike. */
function either_braket(ctx) {
    var first = argument(ctx);
    if (next(ctx) === '{')
        return result(angle(ctx, false, '\\langle', first.concat(bar(ctx), argument(ctx)), '\\rangle'));
    if (!first.some(function (t) { return t.text === '|' || t.text === '\\vert'; }))
        throw refusal('ambiguous command', '\\braket');
    return result(angle(ctx, true, '\\langle', first, '\\rangle'));
}

/* ---- matrices ---- */
/* \mqty(x), \mqty*(x), \mqty[x], \mqty{x}, \mqty|x|, and those of one delimiter, \pmqty{x} */
function matrix(small, kind) {
    return function (ctx, name) {
        var rounded = kind === undefined && taken(ctx, '*'), c = next(ctx), in_braces = c === '{';
        var letter = kind === undefined ? { '(': 'p', '[': 'b', '|': 'v', '{': '' }[c] : kind;
        if (letter === undefined || (kind !== undefined && !in_braces) || (rounded && c !== '('))
            throw refusal('unknown form', name + (rounded ? '*' : c));
        var inner = in_braces ? argument(ctx) : (ctx.popToken(), delimited(ctx, c, PAIRS[c][1]));
        rounded = rounded || letter === 'P';
        letter = (rounded ? '' : letter) + small + 'matrix}';
        return result(wrap(ctx, (rounded ? '\\left\\lgroup' : '') + '\\begin{' + letter, inner,
            '\\end{' + letter + (rounded ? '\\right\\rgroup ' : '')));
    };
}
function count(ctx, tokens, name) {
    var n = +name_of(tokens);
    if (!(n >= 1 && n <= 20))
        throw refusal('unknown form', name + '{' + text_of(tokens) + '}');
    return n;
}
function entries(ctx, rows, columns, entry) {
    var out = [];
    for (var i = 0; i < rows; i++)
        for (var k = 0; k < columns; k++)
            out = out.concat(i && !k ? lex(ctx, '\\\\') : k ? lex(ctx, '&') : [], entry(i, k));
    return result(out);
}
function identity(ctx) {
    var n = count(ctx, argument(ctx), '\\imat');
    return entries(ctx, n, n, function (i, k) { return lex(ctx, i === k ? '1' : '0'); });
}
function zeros(ctx) {
    var a = take(ctx, 'mg', true, '\\zmat'), n = count(ctx, a[0], '\\zmat');
    var m = given(a[1]) ? count(ctx, a[1], '\\zmat') : n;
    return entries(ctx, n, m, function () { return lex(ctx, '0'); });
}
function repeated(ctx) {
    var a = take(ctx, 'smmm', true, '\\xmat'), n = count(ctx, a[2], '\\xmat'), m = count(ctx, a[3], '\\xmat');
    return entries(ctx, n, m, function (i, k) {
        var at = (n > 1 ? i + 1 : '') + '' + (m > 1 ? k + 1 : '');
        return starred(a[0]) ? a[1].concat(lex(ctx, '_{' + at + '}')) : a[1];
    });
}
function diagonal(anti) {
    return function (ctx) {
        var a = take(ctx, 'O{}m', true, '\\dmat'), items = split(a[1], [',']), n = items.length;
        items = items.map(function (x) { /* a block is a matrix of its own */
            x = bare(trimmed(x));
            return x.some(function (t) { return t.text === '&' || t.text === '\\\\'; })
                ? wrap(ctx, '\\begin{matrix}', x, '\\end{matrix}') : x;
        });
        if (n > 8)
            throw refusal('unknown form', '\\dmat of more than 8');
        return entries(ctx, n, n, function (i, k) { return (anti ? n - 1 - i : i) === k ? items[i] : a[0]; });
    };
}
var PAULI = ['1&0\\\\0&1', '0&1\\\\1&0', '0&-i\\\\i&0', '1&0\\\\0&-1'];
function pauli(ctx) {
    var n = { '0': 0, '1': 1, x: 1, '2': 2, y: 2, '3': 3, z: 3 }[name_of(argument(ctx))];
    if (n === undefined)
        throw refusal('unknown form', '\\pmat');
    return result(lex(ctx, PAULI[n]));
}

/* ---- tables ---- */
var PHYSICS_ROWS = [
    ['sm', '\\IfBooleanTF{#1}{\\boldsymbol{#2}}{\\mathbf{#2}}', '\\vb \\vectorbold'],
    ['sm', '\\vec{\\IfBooleanTF{#1}{\\boldsymbol{#2}}{\\mathbf{#2}}}', '\\va \\vectorarrow'],
    ['sm', '\\hat{\\IfBooleanTF{#1}{\\boldsymbol{#2}}{\\mathbf{#2}}}', '\\vu \\vectorunit'],
    ['', '\\boldsymbol{\\cdot}', '\\vdot \\dotproduct'],
    ['', '\\boldsymbol{\\times}', '\\cross \\cp \\crossproduct'],
    ['sm', '\\IfBooleanTF{#1}{}{\\quad}\\text{#2}\\quad ', '\\qq \\qqtext'],
    ['', ',\\quad ', '\\qc \\qcomma'],
    ['s', '\\IfBooleanTF{#1}{}{\\quad}\\text{c.c.}\\quad ', '\\qcc'],
    ['mm', '{#1}/{#2}', '\\flatfrac'],
    ['G{}', '\\mathcal{P}#1', '\\pv \\principalvalue'],
    ['G{}', '\\mathrm{P.V.}#1', '\\PV'],
    ['m', '\\left\\langle 0\\middle\\vert #1\\middle\\vert 0\\right\\rangle ', '\\vev'],
    ['', '\\boldsymbol{\\nabla}', '\\vnabla'],
    ['', '\\mathrm{d}', '\\diffd'],
    ['', '\\mathcal{E}', '\\varE'],
    ['', '\\mathcal{O}', '\\ordersymbol'],
    ['', '(', '\\lparen'], ['', ')', '\\rparen'],
    ['', '\\div ', '\\divisionsymbol'],
    ['', '0&1\\\\1&0', '\\paulixmatrix'],
    ['', '0&-i\\\\i&0', '\\pauliymatrix'],
    ['', '1&0\\\\0&-1', '\\paulizmatrix']
];
var PHYSICS_WORDS = 'if then else otherwise unless given using assume since let for all even odd integer ' +
    'and or as in';
/* Each: what is set, the command that takes an argument, the one that does not. */
var PHYSICS_TRIGONOMETRY = ['\\sin sin sine', '\\cos cos cosine', '\\tan tan tangent', '\\csc csc cosecant',
    '\\sec sec secant', '\\cot cot cotangent', '\\arcsin arcsin arcsine', '\\arccos arccos arccosine',
    '\\arctan arctan arctangent', 'arccsc arccsc arccosecant', 'arcsec arcsec arcsecant',
    'arccot arccot arccotangent', 'asin asin asine', 'acos acos acosine', 'atan atan atangent',
    'acsc acsc acosecant', 'asec asec asecant', 'acot acot acotangent', '\\sinh sinh hypsine',
    '\\cosh cosh hypcosine', '\\tanh tanh hyptangent', 'csch csch hypcosecant', 'sech sech hypsecant',
    '\\coth coth hypcotangent', '\\log log logarithm', '\\ln ln naturallogarithm'];
var PHYSICS_OPERATORS = ['\\exp exp exponential', '\\det det determinant', '\\Pr Pr Probability', 'tr tr trace',
    'Tr Tr Trace', 'Res Res Residue'];

function several(all, names, make) {
    names.split(' ').forEach(function (name) {
        all[name] = function (ctx) { return make(ctx, name); };
    });
}
function physics(all) {
    PHYSICS_ROWS.forEach(function (line) {
        line[2].split(' ').forEach(function (name) { all[name] = row(line[0], line[1], name); });
    });
    PHYSICS_WORDS.split(' ').forEach(function (w) {
        all['\\q' + w] = row('s', '\\IfBooleanTF{#1}{}{\\quad}\\text{' + w + '}\\quad ', '\\q' + w);
    });
    function two_names(make, opens) {
        return function (line) {
            var words = line.split(' ');
            all['\\' + words[1]] = make(words[0], opens);
            all['\\' + words[2]] = operator(words[0], '');
        };
    }
    PHYSICS_TRIGONOMETRY.forEach(two_names(trigonometric));
    PHYSICS_OPERATORS.forEach(two_names(operator, '([{'));
    all['\\Re'] = operator('Re', '{');
    all['\\Im'] = operator('Im', '{');
    all['\\real'] = operator('\\Re', '');
    all['\\imaginary'] = operator('\\Im', '');
    all['\\rank'] = operator('rank', '');
    all['\\erf'] = operator('erf', '');
    several(all, '\\qty \\quantity', quantity);
    several(all, '\\pqty', fence('(', ')'));
    several(all, '\\bqty', fence('[', ']'));
    several(all, '\\Bqty', fence('\\{', '\\}'));
    several(all, '\\vqty \\abs \\absolutevalue', fence('\\vert', '\\vert'));
    several(all, '\\norm', fence('\\Vert', '\\Vert'));
    several(all, '\\order', fence('(', ')', '\\mathcal{O}'));
    several(all, '\\eval \\evaluated', evaluated);
    several(all, '\\comm \\commutator', commutator('[', ']'));
    several(all, '\\acomm \\acommutator \\anticommutator \\pb \\poissonbracket', commutator('\\{', '\\}'));
    several(all, '\\grad \\gradient', nabla('\\boldsymbol{\\nabla}'));
    several(all, '\\div \\divergence', nabla('\\boldsymbol{\\nabla}\\boldsymbol{\\cdot}'));
    several(all, '\\curl', nabla('\\boldsymbol{\\nabla}\\boldsymbol{\\times}'));
    several(all, '\\laplacian', nabla('\\nabla^2'));
    several(all, '\\dd \\differential', differential('\\mathrm{d}'));
    several(all, '\\var \\variation', differential('\\delta '));
    several(all, '\\dv \\derivative', derivative('\\mathrm{d}', false));
    several(all, '\\pdv \\pderivative \\partialderivative', derivative('\\partial ', true));
    several(all, '\\fdv \\fderivative \\functionalderivative', derivative('\\delta ', false));
    several(all, '\\ket', ket);
    several(all, '\\bra', bra);
    several(all, '\\braket \\ip \\innerproduct', inner_product);
    several(all, '\\ketbra \\dyad \\op \\outerproduct', outer_product);
    several(all, '\\ev \\expval \\expectationvalue', expectation);
    several(all, '\\mel \\matrixel \\matrixelement', matrix_element);
    several(all, '\\mqty \\matrixquantity', matrix(''));
    several(all, '\\smqty \\smallmatrixquantity', matrix('small'));
    several(all, '\\pmqty', matrix('', 'p'));
    several(all, '\\Pmqty', matrix('', 'P'));
    several(all, '\\sPmqty', matrix('small', 'P'));
    several(all, '\\bmqty', matrix('', 'b'));
    several(all, '\\vmqty \\mdet \\matrixdeterminant', matrix('', 'v'));
    several(all, '\\spmqty', matrix('small', 'p'));
    several(all, '\\sbmqty', matrix('small', 'b'));
    several(all, '\\svmqty \\smdet \\smallmatrixdeterminant', matrix('small', 'v'));
    several(all, '\\imat \\identitymatrix', identity);
    several(all, '\\zmat \\zeromatrix', zeros);
    several(all, '\\xmat \\xmatrix', repeated);
    several(all, '\\dmat \\diagonalmatrix', diagonal(false));
    several(all, '\\admat \\antidiagonalmatrix', diagonal(true));
    several(all, '\\pmat \\paulimatrix', pauli);
}
function commutator(left, right) {
    return function (ctx, name) {
        var size = size_before(ctx), a = take(ctx, 'mm', true, name);
        return result(fenced(ctx, size, left, a[0].concat(lex(ctx, ','), a[1]), right));
    };
}
/* What is said so elsewhere, too: also in a document that does not load physics. */
var NOT_ONLY_PHYSICS = ('\\abs \\norm \\tr \\Tr \\rank \\erf \\dd \\dv \\pdv \\grad \\curl \\laplacian \\comm ' +
    '\\expval \\ketbra \\flatfrac').split(' ');
/* What physics says otherwise than LaTeX, or braket: only where the document loads it. */
var ONLY_PHYSICS = ('\\div \\Re \\Im \\real \\sin \\cos \\tan \\csc \\sec \\cot \\arcsin \\arccos \\arctan \\sinh ' +
    '\\cosh \\tanh \\coth \\exp \\log \\ln \\det \\Pr \\ket \\bra \\braket \\qty \\quantity \\Res \\var \\op ' +
    '\\ip \\pb \\order \\cross').split(' ');
