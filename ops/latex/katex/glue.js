/* What stands between katex.c and KaTeX, in KaTeX's own terms: a paper's macros and environments as
 * KaTeX macros, commands of LaTeX that carry no mathematics (labels, tags, colours), displays that
 * KaTeX has under another name, and diagrams as matrices of their objects and arrows. Loaded after
 * katex.min.js into the same heap; `eqloom_mathml` is what katex.c calls. */
'use strict';
var eqloom_mathml;
(function () {
    var LIMIT = { expand: 2000, tokens: 50000, length: 10000, depth: 200 };

    /* What KaTeX uses of later editions of the language than Duktape's. */
    Array.prototype.fill = Array.prototype.fill || function (value) {
        for (var i = 0; i < this.length; i++)
            this[i] = value;
        return this;
    };

    /* ---- tokens: arrays in reading order; KaTeX keeps them reversed ---- */
    function lex(ctx, text) {
        var lexer = new ctx.lexer.constructor(text, ctx.settings), out = [], t = lexer.lex();
        for (; t.text !== 'EOF'; t = lexer.lex())
            out.push(t);
        return out;
    }
    function result(tokens) {
        return { tokens: tokens.slice().reverse(), numArgs: 0 };
    }
    function argument(ctx) {
        return ctx.consumeArg().tokens.reverse();
    }
    function next(ctx) {
        ctx.consumeSpaces();
        return ctx.future().text;
    }
    function optional(ctx) {
        if (next(ctx) !== '[')
            return null;
        ctx.popToken();
        return ctx.consumeArg([']']).tokens.reverse();
    }
    function star(ctx) {
        if (next(ctx) === '*')
            ctx.popToken();
    }
    function text_of(tokens) {
        return tokens.map(function (t) {
            return /^\\[a-zA-Z@]+$/.test(t.text) ? t.text + ' ' : t.text;
        }).join('');
    }
    function substitute(body, args) {
        var out = [];
        for (var i = 0; i < body.length; i++) {
            var n = body[i].text === '#' && i + 1 < body.length ? body[i + 1].text : '';
            if (n === '#') {
                out.push(body[++i]);
            } else if (/^[1-9]$/.test(n) && args[n - 1]) {
                out.push.apply(out, args[n - 1]);
                i++;
            } else {
                out.push(body[i]);
            }
        }
        return out;
    }
    function wrap(ctx, before, tokens, after) {
        return lex(ctx, before).concat(tokens, lex(ctx, after));
    }

    /* ---- macros of the paper ---- */
    function delimiters_of(ctx, text) {
        var out = [[]];
        lex(ctx, text).forEach(function (t, i, all) {
            if (t.text === '#')
                return;
            if (i > 0 && all[i - 1].text === '#')
                out.push([]);
            else
                out[out.length - 1].push(t.text);
        });
        return out;
    }
    function take_arguments(ctx, m) {
        var args = [], first = 0;
        if (m.optional) {
            args.push(optional(ctx) || lex(ctx, m.initial));
            first = 1;
        }
        for (; first < m.arguments; first++)
            args.push(argument(ctx));
        return args;
    }
    function macro(m) {
        return function (ctx) {
            if (m.delimiters) {
                var d = delimiters_of(ctx, m.delimiters);
                return { tokens: lex(ctx, m.body).reverse(), numArgs: d.length - 1, delimiters: d };
            }
            return result(substitute(lex(ctx, m.body), take_arguments(ctx, m)));
        };
    }

    /* ---- displays and environments under other names ---- */
    function renamed(begin, end) {
        return function (ctx) { return [lex(ctx, begin), lex(ctx, end)]; };
    }
    function with_argument(begin, end) {
        return function (ctx) {
            optional(ctx);
            argument(ctx);
            optional(ctx);
            return [lex(ctx, begin), lex(ctx, end)];
        };
    }
    var plain = renamed('', ''), rows = renamed('\\begin{gathered}', '\\end{gathered}');
    var aligned = renamed('\\begin{aligned}', '\\end{aligned}');
    var columns = with_argument('\\begin{aligned}', '\\end{aligned}');
    var environments = {
        equation: plain, displaymath: plain, math: plain, dmath: plain, subequations: plain,
        dgroup: plain, empheq: with_argument('', ''), gather: rows, multline: rows, mathpar: rows,
        multlined: rows, lgathered: rows, align: aligned, flalign: aligned, split: aligned,
        dmultline: rows, center: plain, array: null, minipage: with_argument('', ''), small: plain,
        alignat: columns, xalignat: columns, xxalignat: columns, alignedat: columns,
        IEEEeqnarray: columns, IEEEeqnarraybox: columns, tabular: null,
        eqnarray: renamed('\\begin{array}{rcl}', '\\end{array}'),
        numcases: function (ctx) {
            return [wrap(ctx, '', argument(ctx), '\\begin{cases}'), lex(ctx, '\\end{cases}')];
        },
        tabularx: function (ctx) {
            argument(ctx);
            return [lex(ctx, '\\begin{array}'), lex(ctx, '\\end{array}')];
        }
    };
    /* KaTeX takes a column's letter, a line and @{}: of all else the letter stays. */
    function column_letters(text) {
        var depth = 0, out = '';
        text = text.replace(/\*\{(\d)\}\{([^{}]*)\}/g, function (all, n, what) {
            return new Array(+n + 1).join(what);
        });
        for (var i = 0; i < text.length; i++) {
            var c = text.charAt(i);
            depth += c === '{' ? 1 : c === '}' ? -1 : 0;
            if (depth === 0 && /[lcrpmbXLCR|]/.test(c))
                out += /[pmbXL]/.test(c) ? 'l' : c.toLowerCase();
        }
        return out || 'l';
    }
    environments.array = environments.tabular = function (ctx) {
        optional(ctx);
        var letters = column_letters(text_of(argument(ctx)));
        return [kept(ctx, '\\begin', '{array}{' + letters + '}'), kept(ctx, '\\end', '{array}')];
    };

    /* A command that is to reach KaTeX as it is, although there is a macro of this name. */
    function kept(ctx, command, rest) {
        var t = lex(ctx, command)[0];
        t.noexpand = true;
        return [t].concat(lex(ctx, rest));
    }

    /* ---- diagrams ---- */
    var ARROWS = { r: '\\rightarrow', l: '\\leftarrow', u: '\\uparrow', d: '\\downarrow',
        ur: '\\nearrow', dr: '\\searrow', ul: '\\nwarrow', dl: '\\swarrow', '': '\\circlearrowright' };
    function arrow(direction, above, below) {
        var x = (direction.match(/r/g) || []).length - (direction.match(/l/g) || []).length;
        var y = (direction.match(/u/g) || []).length - (direction.match(/d/g) || []).length;
        var sign = ARROWS[(y > 0 ? 'u' : y < 0 ? 'd' : '') + (x > 0 ? 'r' : x < 0 ? 'l' : '')];
        if (above)
            sign = '\\overset{' + above + '}{' + sign + '}';
        return below ? '\\underset{' + below + '}{' + sign + '}' : sign;
    }
    /* The tokens from `at` on, of which the group or single token there is taken. */
    function group_at(tokens, at) {
        var depth = 0, from = at.i;
        while (at.i < tokens.length && tokens[at.i].text === ' ')
            from = ++at.i;
        do {
            var c = at.i < tokens.length ? tokens[at.i++].text : '}';
            depth += c === '{' ? 1 : c === '}' ? -1 : 0;
        } while (depth > 0 && at.i < tokens.length);
        return text_of(tokens.slice(from, at.i));
    }
    function skip_to(tokens, at, close) {
        for (var depth = 0; at.i < tokens.length; at.i++) {
            var c = tokens[at.i].text;
            if (c === close && depth === 0)
                break;
            depth += c === '{' ? 1 : c === '}' ? -1 : 0;
        }
        at.i++;
    }
    var CLOSE = { '<': '>', '(': ')', '/': '/', '[': ']', '\'': '\'' };
    function skip_style(tokens, at) { /* behind @ */
        var c = at.i < tokens.length ? tokens[at.i].text : '';
        while (/^[!?^_*+=\d-]$/.test(c) && ++at.i < tokens.length)
            c = tokens[at.i].text;
        if (c === '{')
            group_at(tokens, at);
        else if (CLOSE[c] && at.i++ < tokens.length)
            skip_to(tokens, at, CLOSE[c]);
        else
            at.i++;
    }
    function xy_arrow(tokens, at) {
        var direction = '', labels = { '^': '', '_': '' };
        while (at.i < tokens.length) {
            var c = tokens[at.i].text;
            if (c === ' ') {
                at.i++;
            } else if (c === '@') {
                at.i++;
                skip_style(tokens, at);
            } else if (c === '[') {
                var from = ++at.i;
                skip_to(tokens, at, ']');
                direction += text_of(tokens.slice(from, at.i - 1));
            } else if (c === '^' || c === '_' || c === '|') {
                at.i++;
                while (at.i < tokens.length && /^[-<>!\s]$/.test(tokens[at.i].text))
                    at.i++;
                if (at.i < tokens.length && tokens[at.i].text === '(')
                    skip_to(tokens, at, ')');
                var label = group_at(tokens, at);
                labels[c === '_' ? '_' : '^'] += label;
            } else {
                break;
            }
        }
        return arrow(direction, labels['^'], labels._);
    }
    /* \arrow[rd, "f"', hook] and \arrow{rd}{f} */
    function cd_arrow(tokens, at, direction) {
        var above = '', below = '';
        while (at.i < tokens.length && /^[\[{ ]$/.test(tokens[at.i].text)) {
            var from = at.i + 1, open = tokens[at.i].text;
            if (open === ' ') {
                at.i++;
                continue;
            }
            if (open === '{') {
                var label = group_at(tokens, at);
                if (/^\{[rlud]+\}$/.test(label) && !direction)
                    direction = label;
                else
                    above += label;
                continue;
            }
            at.i++;
            skip_to(tokens, at, ']');
            var text = text_of(tokens.slice(from, at.i - 1));
            text = text.replace(/"((?:[^"{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)"\s*('?)/g,
                function (all, what, prime) {
                    if (prime)
                        below += '{' + what + '}';
                    else
                        above += '{' + what + '}';
                    return '';
                });
            (text.match(/(^|,)\s*[rlud]+\s*(?=,|$)/g) || []).forEach(function (d) {
                direction += d;
            });
        }
        return arrow(direction, above, below);
    }
    function diagram(ctx, tokens) {
        var out = '', at = { i: 0 };
        while (at.i < tokens.length) {
            var c = tokens[at.i++].text;
            if (c === '\\ar@') { /* KaTeX takes @ for a letter */
                skip_style(tokens, at);
                out += ' ' + xy_arrow(tokens, at) + ' ';
            } else if (c === '\\ar' || c === '\\arrow') {
                var cd = c === '\\arrow' || (at.i < tokens.length && tokens[at.i].text === '[' &&
                    /[",=]/.test(text_of(tokens.slice(at.i, at.i + 12))));
                out += ' ' + (cd ? cd_arrow(tokens, at, '') : xy_arrow(tokens, at)) + ' ';
            } else if (/^\\[rlud]{1,2}ar$/.test(c)) {
                out += ' ' + cd_arrow(tokens, at, c.slice(1, -2)) + ' ';
            } else if (c === '@') {
                skip_style(tokens, at);
            } else if (c === '*' && at.i < tokens.length && /^[+=\-{]$/.test(tokens[at.i].text)) {
                while (/^[+=-]$/.test(tokens[at.i].text) && at.i + 1 < tokens.length)
                    at.i++;
            } else {
                out += text_of([tokens[at.i - 1]]);
            }
        }
        return wrap(ctx, '\\begin{matrix}', lex(ctx, out), '\\end{matrix}');
    }
    function xymatrix(ctx) {
        var style = [];
        while (next(ctx) !== '{' && next(ctx) !== 'EOF')
            style.push(ctx.popToken());
        return result(diagram(ctx, argument(ctx)));
    }
    environments.tikzcd = function (ctx) {
        var tokens = [], text = '';
        optional(ctx);
        while (ctx.future().text !== 'EOF') {
            tokens.push(ctx.popToken());
            if (tokens[tokens.length - 1].text === '}') {
                text = text_of(tokens.slice(-9));
                if (/\\end \{tikzcd\}$/.test(text))
                    break;
            }
        }
        return [diagram(ctx, tokens.slice(0, -9)), []];
    };

    /* ---- commands ---- */
    /* What each stands for, after its arguments: 's' a star, 'o' optional, 'm' an argument. */
    function command(spec, body) {
        return function (ctx) {
            var args = [];
            for (var i = 0; i < spec.length; i++) {
                if (spec.charAt(i) === 's')
                    star(ctx);
                else if (spec.charAt(i) === 'o')
                    optional(ctx);
                else
                    args.push(argument(ctx));
            }
            return result(substitute(lex(ctx, body), args));
        };
    }
    var COMMANDS = [
        ['m', '', '\\label \\vspace \\cite \\footnote \\intertext \\shortintertext \\index ' +
            '\\pagebreak \\linebreak \\hypertarget \\phantomsection \\todo ' +
            '\\thispagestyle \\eqlabel \\vadjust \\marginpar \\displaybreak \\stepcounter \\Alabel'],
        ['om', '', '\\citep \\citet \\citealt \\footnotemark \\autocite \\parencite \\textcite'],
        ['sm', '', '\\tag \\vspace'],
        ['sm', '?', '\\ref \\eqref \\cref \\Cref \\autoref \\pageref \\hyperref'],
        ['o', '', '\\displaybreak \\linebreak \\pagebreak \\allowdisplaybreaks \\nolinebreak'],
        ['om', '', '\\color \\footnote \\label \\cite \\todo'],
        ['omm', '#2', '\\textcolor \\colorbox \\cellcolor \\href \\hyperlink'],
        ['', '', '\\nonumber \\notag \\noindent \\centering \\qedhere \\xspace \\hfill \\hfil \\par ' +
            '\\protect \\relax \\smallskip \\medskip \\bigskip \\newline \\break \\nobreak \\null ' +
            '\\allowbreak \\qed \\vfill \\boldmath \\unboldmath \\nopagebreak \\indent \\strut ' +
            '\\leavevmode \\noalign \\bgroup \\egroup \\unskip \\ignorespaces \\raggedright ' +
            '\\penalty \\normalfont \\upshape \\sc \\sl \\em \\bfseries \\itshape \\IEEEyesnumber ' +
            '\\IEEEnonumber \\IEEEeqnarraynumspace \\yesnumber \\eqno \\leqno \\everymath ' +
            '\\footnotesize \\raggedleft \\slshape \\scshape \\mdseries \\rmfamily \\tableau'],
        ['m', '#1', '\\ensuremath \\uppercase \\lowercase \\mathstrut \\underbar \\emph \\uline ' +
            '\\boxedeq \\Aboxed \\hl \\mathsfit \\vbox \\gate \\lstick \\rstick \\ghost ' +
            '\\highlight \\mathsmaller \\mathlarger \\only \\visible \\alert \\uncover \\onslide'],
        ['m', '\\text{#1}', '\\textsc \\textsl \\textnormal \\textmd \\mbox \\texttt \\textsf ' +
            '\\textup \\emph \\textgreek \\makebox \\framebox \\shadowbox'],
        ['om', '\\text{#1}', '\\parbox'],
        ['m', '\\mathbb{#1}', '\\mathbbm \\mathds \\mathbbmss \\Bbb \\mathbold'],
        ['m', '\\mathbf{#1}', '\\mathbfit \\mathbfsf \\vect'],
        ['m', '\\mathscr{#1}', '\\mathpzc \\mathcalligra'],
        ['mm', '{{#1}/{#2}}', '\\nicefrac \\sfrac \\xfrac \\flatfrac'],
        ['mm', '#2', '\\scalebox \\raisebox \\texorpdfstring \\foreignlanguage \\adjustbox'],
        ['mmsom', '\\left#1#3\\right#2', '\\eqloompaired'],
        ['mmm', '#3', '\\resizebox \\multicolumn \\multirow \\cline'],
        ['m', '\\begin{matrix}#1\\end{matrix}', '\\matrix'],
        ['m', '\\begin{pmatrix}#1\\end{pmatrix}', '\\pmatrix'],
        ['m', '\\begin{bmatrix}#1\\end{bmatrix}', '\\bmatrix'],
        ['m', '\\begin{cases}#1\\end{cases}', '\\cases'],
        ['m', '\\begin{gathered}#1\\end{gathered}', '\\displaylines \\shortstack'],
        ['m', '\\begin{aligned}#1\\end{aligned}', '\\eqalign \\eqalignno \\leqalignno'],
        ['somm', '\\frac{\\begin{gathered}#1\\end{gathered}}{\\begin{gathered}#2\\end{gathered}}',
            '\\inferrule \\infer'],
        ['', '\\quad ', '\\and \\And'], ['m', '\\slash{#1}', '\\slashed'],
        ['', '\\,', '\\enspace \\thinspace'], ['', '\\cdots ', '\\hdots \\dotfill'],
        ['', '\\mathrm{d}', '\\dif \\diff'], ['', '\\mathbb{1}', '\\bbone \\mathbbone'],
        ['', '\\llbracket ', '\\lBrack'], ['', '\\rrbracket ', '\\rBrack'],
        ['om', '{#1}', '\\num'], ['om', '\\mathrm{unit}', '\\si \\unit'],
        ['omm', '#1\\,\\mathrm{unit}', '\\SI \\qty'],
        ['mmm', '#2', '\\ifthenelse'], ['mm', '', '\\settowidth'], ['m', '\\mathcal{#1}', '\\EuScript'],
        ['', '', '\\bottomAlignProof'], ['o', '', '\\pause \\footnotemark'], ['om', '#1', '\\tcboxmath'],
        ['m', '\\mathrm{d}{#1}', '\\dd'], ['mm', '\\frac{d#1}{d#2}', '\\dv'],
        ['mm', '\\frac{\\partial#1}{\\partial#2}', '\\pdv'],
        ['m', '\\mathbf{#1}', '\\vb \\vu \\va \\bvec'], ['m', '\\left\\|#1\\right\\|', '\\norm'],
        ['m', '\\left|#1\\right|', '\\abs'], ['m', '\\left\\langle#1\\right\\rangle', '\\expval \\ev'],
        ['', '\\nabla ', '\\grad \\laplacian'], ['', '\\operatorname{tr}', '\\Tr \\tr'],
        ['mm', '\\overset{#1}{#2}', '\\accentset'], ['mm', '\\underset{#1}{#2}', '\\underaccent'],
        ['m', '\\vdots ', '\\vdotswithin'], ['', '\\vert ', '\\vrule'],
        ['', '', '\\operator@font \\theequation \\@eqncr \\qw \\cw \\qwa \\cwa \\noLine ' +
            '\\avoidbreak \\crcr \\openup \\singlespacing \\qedsymbol'],
        ['m', '', '\\RightLabel \\LeftLabel \\qwx \\cwx \\RL \\LL \\alabel \\fontsize'],
        ['m', '\\bullet ', '\\ctrl \\control'], ['', '\\oplus ', '\\targ'],
        ['', '\\boxed{M}', '\\meter'], ['mm', '\\boxed{#2}', '\\multigate'],
        ['m', '\\boxed{#1}', '\\measure'],
        ['', '', '\\hfilneg \\hss \\vss \\nointerlineskip \\offinterlineskip']
    ];
    /* An optional argument of xparse that is absent is empty here. */
    function choice(absent) {
        return function (ctx) {
            var x = argument(ctx), yes = argument(ctx), no = argument(ctx);
            return result((x.length === 0) === absent ? yes : no);
        };
    }
    /* Assignments of lengths: \arraycolsep=1.4pt, \raise1ex. */
    function length(ctx) {
        while (/^[=\s\d.,a-z-]$/.test(ctx.future().text))
            ctx.popToken();
        if (/^\\(baselineskip|textwidth|linewidth|parskip|jot)$/.test(ctx.future().text))
            ctx.popToken();
        return result([]);
    }
    /* bussproofs: what has been derived stands on a stack. */
    function sequent(ctx) {
        var t, out = [];
        ctx.consumeSpaces();
        ctx.popToken();
        while ((t = ctx.popToken()).text !== '$' && t.text !== 'EOF')
            if (t.text !== '\\fCenter')
                out.push(t);
        return out;
    }
    function inference(n, read) {
        return function (ctx) {
            var conclusion = read(ctx), premises = [];
            proofs.splice(Math.max(0, proofs.length - n), n).forEach(function (p, i) {
                premises = premises.concat(i ? lex(ctx, '\\quad ') : [], p);
            });
            proofs.push(n ? wrap(ctx, '\\dfrac{', premises, '}{').concat(conclusion, lex(ctx, '}'))
                : conclusion);
            return result([]);
        };
    }
    function in_text(ctx) {
        return wrap(ctx, '\\text{', argument(ctx), '}');
    }
    function display_proof() {
        var all = [];
        proofs.forEach(function (p) { all = all.concat(p); });
        proofs = [];
        return result(all);
    }
    /* Where both a spec with 'o' or 's' and one without are listed, the later counts. */
    var commands = {
        '\\xymatrix': xymatrix,
        '\\Qcircuit': xymatrix,
        '\\root': function (ctx) {
            return { tokens: lex(ctx, '\\sqrt[#1]{#2}').reverse(), numArgs: 2,
                delimiters: [[], ['\\of'], []] };
        },
        '\\ifmmode': function (ctx) {
            var depth = 0, kept_on = true, out = [], t;
            while ((t = ctx.popToken()).text !== 'EOF' && !(t.text === '\\fi' && depth === 0)) {
                depth += /^\\if/.test(t.text) && t.text !== '\\iff' ? 1 : t.text === '\\fi' ? -1 : 0;
                if (t.text === '\\else' && depth === 0)
                    kept_on = false;
                else if (kept_on)
                    out.push(t);
            }
            return result(out);
        },
        '\\IfValueTF': choice(false),
        '\\IfNoValueTF': choice(true),
        '\\begin': function (ctx) {
            return environment(ctx, '\\begin', 0);
        },
        '\\end': function (ctx) {
            return environment(ctx, '\\end', 1);
        },
        '\\slash': function (ctx) {
            return result(wrap(ctx, '\\not{', argument(ctx), '}'));
        },
        '\\rule': function (ctx) {
            optional(ctx);
            argument(ctx);
            argument(ctx);
            return result(lex(ctx, '\\square'));
        }
    };
    COMMANDS.forEach(function (row) {
        row[2].split(' ').forEach(function (name) {
            if (name)
                commands[name] = command(row[0], row[1]);
        });
    });

    ['Axiom', 'UnaryInf', 'BinaryInf', 'TrinaryInf', 'QuaternaryInf'].forEach(function (name, n) {
        commands['\\' + name] = inference(n, sequent);
        commands['\\' + name + 'C'] = inference(n, in_text);
    });
    commands['\\Deduce'] = commands['\\UnaryInf'];
    commands['\\DeduceC'] = commands['\\UnaryInfC'];
    ['@', '@C', '@R', '@M', '@L', '@W', '@H'].forEach(function (at) {
        commands['\\xymatrix' + at] = xymatrix; /* KaTeX takes @ for a letter */
    });
    commands['\\DisplayProof'] = display_proof;
    commands['\\AXC'] = commands['\\AxiomC'];
    commands['\\UIC'] = commands['\\UnaryInfC'];
    commands['\\BIC'] = commands['\\BinaryInfC'];
    ['arraycolsep', 'postdisplaypenalty', 'predisplaypenalty', 'baselineskip', 'raise', 'lower', 'jot',
        'abovedisplayskip', 'lineskiplimit', 'belowdisplayskip', 'lineskip', 'tabcolsep', 'interdisplaylinepenalty',
        'vskip', 'thinmuskip', 'medmuskip', 'thickmuskip', 'moveright', 'openup'].forEach(
        function (name) { commands['\\' + name] = length; });

    /* What \begin chose says what \end stands for. What an environment of the paper opens is on top
     * of it until its own end closes that. */
    var open, theirs, proofs;
    function environment(ctx, which, side) {
        var name = text_of(argument(ctx)).replace(/\s+/g, ''), bare = name.replace(/\*$/, '');
        var made = Object.prototype.hasOwnProperty.call(theirs, name) ? theirs[name]
            : Object.prototype.hasOwnProperty.call(environments, bare) ? environments[bare] : null;
        for (var i = open.length - 1; side === 1 && i >= 0; i--)
            if (open[i].name === name)
                return result(open.splice(i, 1)[0].end);
        if (side === 1 || !made)
            return result(kept(ctx, which, '{' + name + '}'));
        if (open.length > LIMIT.depth)
            throw new RangeError('nested too deeply');
        var both = made(ctx);
        if (bare !== 'tikzcd')
            open.push({ name: name, end: both[1] });
        return result(both[0]);
    }

    function define(macros) {
        var all = {}, name;
        for (name in commands)
            all[name] = commands[name];
        open = [];
        proofs = [];
        pushed = 0;
        theirs = {};
        (macros || []).forEach(function (m) {
            if (m.name.charAt(0) !== '\\') {
                theirs[m.name] = function (ctx) {
                    var args = take_arguments(ctx, m);
                    return [substitute(lex(ctx, m.body), args), substitute(lex(ctx, m.end), args)];
                };
            } else if (m.name !== '\\begin' && m.name !== '\\end') {
                all[m.name] = macro(m);
            }
        });
        return all;
    }
    function settings(macros) {
        return { displayMode: true, output: 'mathml', strict: 'ignore', trust: false,
            throwOnError: true, maxExpand: LIMIT.expand, maxSize: 100, macros: define(macros) };
    }

    /* "reason\ndetail" of a refusal. The reasons are what reports count. */
    var REASONS = [
        [/Undefined control sequence/, 'unknown command'], [/No such environment/, 'unknown environment'],
        [/Too many expansions/, 'too many expansions'], [/nested too deeply|call stack|C stack|recursion/,
            'nested too deeply'], [/alloc|memory|out of/, 'too large'], [/too long/, 'too large']
    ];
    function refuse(error) {
        var message = String(error && error.message || error), reason = 'LaTeX error';
        for (var i = 0; i < REASONS.length && reason === 'LaTeX error'; i++)
            if (REASONS[i][0].test(message))
                reason = REASONS[i][1];
        message = message.replace(/^KaTeX parse error: /, '').replace(/\u0332/g, '');
        if (/^unknown/.test(reason))
            message = message.replace(/ at position \d+:[\s\S]*$/, '');
        return reason + '\n' + message.slice(0, 200);
    }
    /* Which commands KaTeX has itself. */
    var probe;
    katex.renderToString('\\eqloomprobe', { macros: { '\\eqloomprobe': function (ctx) {
        probe = ctx;
        return '';
    } } });
    /* KaTeX counts expansions. Each may double what the one before gave, so tokens are counted, too. */
    var expander = Object.getPrototypeOf(probe), push_tokens = expander.pushTokens, pushed;
    expander.pushTokens = function (tokens) {
        pushed += tokens.length;
        if (pushed > LIMIT.tokens)
            throw new katex.ParseError('Too many expansions: more than ' + LIMIT.tokens + ' tokens');
        return push_tokens.call(this, tokens);
    };
    function is_new(m) {
        return !probe.isDefined(m.name);
    }
    /* Once more without the paper's definitions of what KaTeX has, if it does not work with them:
     * they often reach into LaTeX (\renewcommand{\left}{...}). */
    function render(latex, macros) {
        try {
            return katex.renderToString(latex, settings(macros));
        } catch (error) {
            var rest = (macros || []).filter(is_new);
            if (rest.length === (macros || []).length)
                throw error;
            return katex.renderToString(latex, settings(rest));
        }
    }
    eqloom_mathml = function (latex, environment, macros) {
        try {
            if (latex.length > LIMIT.length)
                throw new RangeError('too long');
            if (environment && /^[A-Za-z]+\*?$/.test(environment))
                latex = '\\begin{' + environment + '}' + latex + '\\end{' + environment + '}';
            var html = render(latex, macros);
            var from = html.indexOf('<math'), inner = html.indexOf('<semantics>');
            var to = html.lastIndexOf('<annotation');
            return html.slice(from, inner) + html.slice(inner + 11, to) + '</math>';
        } catch (error) {
            return refuse(error);
        }
    };
}());
