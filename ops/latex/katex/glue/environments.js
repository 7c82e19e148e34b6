/* Displays and environments that KaTeX has under another name, in another form or not at all. Each
 * row: what \begin takes (tokens.js), what \begin and \end stand for, names. */
var ENVIRONMENTS = [
    ['', '', '', 'equation displaymath math dmath subequations dgroup small center ' +
        'footnotesize scriptsize normalsize'],
    ['m', '', '', 'spreadlines'],
    ['', '\\begin{gathered}', '\\end{gathered}', 'gather dmultline mathpar multline'],
    ['!o', '\\begin{gathered}', '\\end{gathered}', 'gathered lgathered rgathered'],
    ['!o!o', '\\begin{gathered}', '\\end{gathered}', 'multlined'],
    ['', '\\begin{aligned}', '\\end{aligned}', 'align flalign split'],
    ['!o', '\\begin{aligned}', '\\end{aligned}', 'aligned'],
    ['m', '\\begin{aligned}', '\\end{aligned}', 'alignat xalignat xxalignat flalignat'],
    ['!om', '\\begin{aligned}', '\\end{aligned}', 'alignedat'],
    ['om', '\\begin{aligned}', '\\end{aligned}', 'IEEEeqnarray'],
    ['oom', '\\begin{aligned}', '\\end{aligned}', 'IEEEeqnarraybox'],
    ['', '\\begin{array}{rcl}', '\\end{array}', 'eqnarray subeqnarray'],
    ['!o', '\\begin{matrix}', '\\end{matrix}', 'NiceMatrix'],
    ['!o', '\\begin{pmatrix}', '\\end{pmatrix}', 'pNiceMatrix'],
    ['!o', '\\begin{bmatrix}', '\\end{bmatrix}', 'bNiceMatrix'],
    ['!o', '\\begin{Bmatrix}', '\\end{Bmatrix}', 'BNiceMatrix'],
    ['!o', '\\begin{vmatrix}', '\\end{vmatrix}', 'vNiceMatrix'],
    ['!o', '\\begin{Vmatrix}', '\\end{Vmatrix}', 'VNiceMatrix'],
    ['O{c}', '\\begin{smallmatrix}', '\\end{smallmatrix}', 'smallmatrix*'],
    ['m', '\\begin{subarray}{#1}', '\\end{subarray}', 'crampedsubarray'],
    ['O{c}', '\\left\\{\\begin{smallmatrix}', '\\end{smallmatrix}\\right\\}', 'Bsmallmatrix'],
    ['O{c}', '\\left(\\begin{smallmatrix}', '\\end{smallmatrix}\\right)', 'psmallmatrix'],
    ['O{c}', '\\left[\\begin{smallmatrix}', '\\end{smallmatrix}\\right]', 'bsmallmatrix'],
    ['O{c}', '\\left|\\begin{smallmatrix}', '\\end{smallmatrix}\\right|', 'vsmallmatrix'],
    ['O{c}', '\\left\\|\\begin{smallmatrix}', '\\end{smallmatrix}\\right\\|', 'Vsmallmatrix']
];
var environments = {};

function begin_end(spec, begin, end) {
    return function (ctx, name) {
        var args = take(ctx, spec, true, '\\begin{' + name + '}');
        return [substitute(native(ctx, begin), args), native(ctx, end)];
    };
}
/* KaTeX's own environments: their \begin and \end do not come here again. */
function native(ctx, text) {
    return lex(ctx, text).map(function (t) {
        if (t.text === '\\begin' || t.text === '\\end')
            t.noexpand = true;
        return t;
    });
}
/* An environment that reads all of itself. */
function whole(spec, make) {
    return function (ctx, name) {
        var args = take(ctx, spec, true, '\\begin{' + name + '}');
        return [make(ctx, args, body(ctx, name), name), null];
    };
}

/* ---- rows and cells ---- */
var LINES = /^\\(hline|toprule|midrule|bottomrule|hdashline|firsthline|lasthline)$/;
var PARTIAL_LINES = /^\\(cline|cmidrule|cdashline|specialrule|addlinespace|noalign|rowcolor)$/;
/* Takes lines and what belongs to them from the beginning of a row; [lines, the rest]. */
function row_lines(tokens) {
    var at = { i: 0 }, lines = '';
    for (;;) {
        while (at.i < tokens.length && tokens[at.i].text === ' ')
            at.i++;
        var c = at.i < tokens.length ? tokens[at.i].text : '';
        if (LINES.test(c)) {
            lines += c === '\\hdashline' ? '\\hdashline ' : '\\hline ';
            at.i++;
        } else if (PARTIAL_LINES.test(c)) { /* a line below some cells is not drawn */
            for (at.i++; at.i < tokens.length && /^[(\[{ ]$/.test(tokens[at.i].text);) {
                if (tokens[at.i].text === '(')
                    skip_to(tokens, at, ')');
                else if (tokens[at.i].text === '[')
                    skip_to(tokens, at, ']');
                else
                    group_at(tokens, at);
                if (c === '\\addlinespace' && tokens[at.i - 1].text === ']')
                    break;
            }
        } else {
            return [lines, tokens.slice(at.i)];
        }
    }
}
/* Each cell as change(cell, column) makes it. The bracket behind \\ stays there. */
function rows_of(ctx, tokens, change) {
    return split(tokens, ['\\\\', '\\cr', '\\tabularnewline']).map(function (row, n) {
        var gap = [], taken_lines, at = { i: 0 };
        while (n > 0 && at.i < row.length && /^[*\s]$/.test(row[at.i].text))
            at.i++;
        if (n > 0 && at.i < row.length && row[at.i].text === '[') {
            at.i++;
            skip_to(row, at, ']');
            gap = row.slice(0, at.i);
            row = row.slice(at.i);
        }
        taken_lines = row_lines(row);
        row = taken_lines[1];
        var cells = split(row, ['&']).map(function (cell, i, all) {
            return all.length === 1 && trimmed(cell).length === 0 ? [] : change(cell, i);
        });
        return gap.length || n ? lex(ctx, '\\\\').concat(gap, lex(ctx, taken_lines[0]), join(ctx, cells, '&'))
            : lex(ctx, taken_lines[0]).concat(join(ctx, cells, '&'));
    }).reduce(function (all, row) { return all.concat(row); }, []);
}
/* The tokens of \multicolumn{2}{c}{x} if a cell begins so, with as many cells as it spans; or null. */
function span_of(ctx, cell, text) {
    var t = trimmed(cell), at = { i: 1 };
    if (!t.length || t[0].text !== '\\multicolumn')
        return null;
    var n = +name_of(bare(group_tokens(t, at)));
    group_tokens(t, at);
    var what = bare(group_tokens(t, at));
    if (!(n >= 1 && n < 100))
        throw refusal('unknown form', '\\multicolumn');
    return (text ? wrap(ctx, '\\text{', what, '}') : what).concat(t.slice(at.i),
        lex(ctx, new Array(n).join('&')));
}
/* The columns of an array: each a letter, with what stands before and behind its cells. Returns
 * {letters, before: [tokens], behind: [tokens]}. */
function columns_of(ctx, tokens) {
    var out = { letters: '', before: [], behind: [] }, waiting = [], n = 0, at = { i: 0 };
    while (at.i < tokens.length) {
        var c = tokens[at.i++].text;
        if (c === '*') {
            var times = +group_at(tokens, at).replace(/[{}]/g, ''), what = bare(group_tokens(tokens, at));
            if (!(times >= 0 && times <= 100) || tokens.length > 1000)
                throw refusal('unknown form', 'columns of an array');
            var more = [];
            while (times-- > 0)
                more = more.concat(what);
            tokens = more.concat(tokens.slice(at.i));
            at.i = 0;
        } else if (c === '|' || c === ':' || c === ';' || c === '"') {
            if (c === ';')
                group_tokens(tokens, at);
            out.letters += '|';
        } else if (c === '>' || c === '<' || c === '@' || c === '!') {
            var text = seen(bare(group_tokens(tokens, at)));
            if (c === '>')
                waiting = waiting.concat(text);
            else if (n && (c === '<' || text.length))
                out.behind[n - 1] = out.behind[n - 1].concat(text);
            else
                waiting = waiting.concat(text);
        } else if (/^[lcrLCRXTSJPpmbwWD]$/.test(c)) {
            if (/^[wW]$/.test(c))
                c = trimmed(bare(group_tokens(tokens, at))).map(function (t) { return t.text; }).join('') || 'l';
            for (var groups = /^[pmbP]$/.test(c) || /^[wW]$/.test(tokens[at.i - 1].text) ? 1 : c === 'D' ? 3 : 0;
                groups > 0; groups--)
                group_tokens(tokens, at);
            if (c === 'S' && at.i < tokens.length && tokens[at.i].text === '[')
                at.i++, skip_to(tokens, at, ']');
            out.letters += /^[lcr]$/i.test(c) ? c.toLowerCase() : c === 'S' || c === 'D' ? 'c' : 'l';
            out.before.push(waiting);
            out.behind.push([]);
            waiting = [];
            n++;
        } else if (c !== ' ') {
            throw refusal('unknown form', 'column ' + c + ' of an array');
        }
    }
    out.letters = out.letters || 'l';
    return out;
}
/* Without what only sets spaces and styles. */
function seen(tokens) {
    var out = [], at = { i: 0 };
    while (at.i < tokens.length) {
        var c = tokens[at.i].text;
        if (/^\\(hspace|hskip|kern|vspace)$/.test(c)) {
            at.i++;
            if (c === '\\hspace' || c === '\\vspace') {
                if (tokens[at.i] && tokens[at.i].text === '*')
                    at.i++;
                group_tokens(tokens, at);
            } else {
                while (at.i < tokens.length && /^([-\d.a-z ]|\\[a-z@]+)$/.test(tokens[at.i].text))
                    at.i++;
            }
        } else if (/^(\s|\\(displaystyle|textstyle|scriptstyle|centering|arraybackslash|raggedright|raggedleft|extracolsep|fill|quad|qquad|enspace|[,;:! ]))$/.test(c)) {
            at.i++;
            if (c === '\\extracolsep')
                group_tokens(tokens, at);
        } else {
            out.push(tokens[at.i++]);
        }
    }
    return out;
}
function array(ctx, c, content, text) {
    function change(cell, i) {
        var inner = (c.before[i] || []).concat(cell, c.behind[i] || []);
        return span_of(ctx, cell, text) || (text ? wrap(ctx, '\\text{', inner, '}') : inner);
    }
    return kept(ctx, '\\begin', '{array}{' + c.letters + '}').concat(rows_of(ctx, content, change),
        kept(ctx, '\\end', '{array}'));
}
/* Only cells that are text or to which the columns add something have to be read here. */
function tabular(spec, text) {
    return function (ctx, name) {
        var args = take(ctx, spec, true, '\\begin{' + name + '}'), c = columns_of(ctx, args[args.length - 1]);
        var added = c.before.concat(c.behind).some(function (x) { return x.length > 0; });
        return text || added ? [array(ctx, c, body(ctx, name), text), null]
            : [kept(ctx, '\\begin', '{array}{' + c.letters + '}'), kept(ctx, '\\end', '{array}')];
    };
}
/* Cells of which the second is text: numcases of cases.sty, cases* of mathtools. */
function cases(ctx, content, before, open, close) {
    var rows = rows_of(ctx, content, function (cell, i) {
        return i === 1 ? wrap(ctx, '\\text{', cell, '}') : cell;
    });
    return before.concat(lex(ctx, open), lex(ctx, '\\begin{array}{ll}'), rows,
        lex(ctx, '\\end{array}' + close));
}

/* \begin{empheq}[left=\empheqlbrace, box=\fbox]{align}: what is around it is shown where it is
 * delimiters or text; frames are left out. */
function empheq(ctx) {
    var options = optional(ctx) || [], inner = name_of(argument(ctx)).replace(/=.*$/, ''), left = [];
    var right = [], big = false;
    keys(options).forEach(function (x) {
        if (x.key === 'left' || x.key === 'right') {
            x.value.forEach(function (t) {
                var found = /^\\empheq(big)?([lr])(brace|brack|angle|paren|vert|Vert|floor|ceil)$/.exec(t.text);
                var into = x.key === 'left' ? left : right;
                if (found) {
                    var brace = '\\' + (/vert/i.test(found[3]) ? '' : found[2]) + found[3];
                    big = true;
                    into.push.apply(into, lex(ctx, (x.key === 'left' ? '\\left' : '\\right') + brace + ' '));
                } else {
                    into.push(t);
                }
            });
        } else if (!/^(box|innerbox|marginbox|overload2?)$/.test(x.key)) {
            throw refusal('unknown form', '\\begin{empheq}[' + x.key + ']');
        }
    });
    var has_left = left.some(function (t) { return t.text === '\\left'; });
    var has_right = right.some(function (t) { return t.text === '\\right'; });
    if (big && !has_left)
        left.push.apply(left, lex(ctx, '\\left.'));
    if (big && !has_right)
        right = lex(ctx, '\\right.').concat(right);
    return [left.concat(lex(ctx, '\\begin{' + inner + '}')), lex(ctx, '\\end{' + inner + '}').concat(right)];
}

function define_environments() {
    ENVIRONMENTS.forEach(function (row) {
        row[3].split(' ').forEach(function (name) {
            environments[name] = begin_end(row[0], row[1], row[2]);
        });
    });
    environments.array = tabular('om', false);
    environments.tabular = tabular('om', true);
    environments['tabular*'] = environments.tabularx = tabular('mom', true);
    environments.minipage = whole('ooom', function (ctx, a, content) {
        return wrap(ctx, '\\text{', trimmed(content), '}');
    });
    environments.empheq = empheq;
    environments.numcases = environments.subnumcases = whole('m', function (ctx, a, content) {
        return cases(ctx, content, a[0], '\\left\\{', '\\right.');
    });
    environments['cases*'] = environments['dcases*'] = whole('', function (ctx, a, content) {
        return cases(ctx, content, [], '\\left\\{', '\\right.');
    });
    environments['rcases*'] = environments['drcases*'] = whole('', function (ctx, a, content) {
        return cases(ctx, content, [], '\\left.', '\\right\\}');
    });
    environments.tikzcd = whole('o', function (ctx, a, content) { return diagram(ctx, content); });
    PICTURES.forEach(function (name) {
        environments[name] = function () { throw refusal('picture', '\\begin{' + name + '}'); };
    });
}
var PICTURES = ['tikzpicture', 'pspicture', 'picture', 'asy', 'tikz', 'circuitikz', 'forest', 'xy',
    'feynmandiagram', 'quantikz', 'dynkinDiagram', 'psmatrix', 'overpic', 'pgfpicture', 'diagram'];

/* ---- \begin and \end: what \begin chose says what \end stands for. What an environment of the
 * paper opens is on top of it until its own end closes that. ---- */
var open;
function environment_of(name) {
    var bare_name = name.replace(/\*$/, ''), own = Object.prototype.hasOwnProperty;
    return own.call(environments, name) ? environments[name]
        : own.call(environments, bare_name) ? environments[bare_name] : null;
}
function begin(ctx) {
    var name = name_of(argument(ctx)), m = theirs_of(name), made = environment_of(name), both;
    if (!m && !made)
        return result(kept(ctx, '\\begin', '{' + name + '}'));
    if (open.length > LIMIT.depth)
        throw new RangeError('nested too deeply');
    both = m ? their_environment(ctx, m) : made(ctx, name);
    if (both[1])
        open.push({ name: name, end: both[1] });
    return result(both[0]);
}
function end(ctx) {
    var name = name_of(argument(ctx));
    for (var i = open.length - 1; i >= 0; i--)
        if (open[i].name === name)
            return result(open.splice(i, 1)[0].end);
    return result(kept(ctx, '\\end', '{' + name + '}'));
}
