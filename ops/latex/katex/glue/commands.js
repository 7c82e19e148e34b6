/* Commands of LaTeX, amsmath and common packages that KaTeX lacks or that carry no mathematics. Each
 * row: what a command takes (tokens.js), what it stands for, names. A command in another form than
 * described is refused. */
var COMMANDS = [
    /* what is about the page */
    ['', '', '\\nonumber \\notag \\noindent \\centering \\qedhere \\xspace \\hfill \\hfil \\par ' +
        '\\protect \\smallskip \\medskip \\bigskip \\break \\nobreak \\null \\qed \\vfill ' +
        '\\unboldmath \\indent \\leavevmode \\unskip \\ignorespaces \\raggedright \\normalfont \\upshape ' +
        '\\sc \\sl \\em \\bfseries \\itshape \\IEEEyesnumber \\IEEEnonumber \\IEEEyessubnumber ' +
        '\\IEEEnosubnumber \\IEEEeqnarraynumspace \\yesnumber \\raggedleft \\slshape \\scshape \\mdseries ' +
        '\\rmfamily \\sffamily \\ttfamily \\footnotesize \\normalcolor \\selectfont \\operator@font ' +
        '\\@eqncr \\qedsymbol \\hfilneg \\hss \\vss \\nointerlineskip \\offinterlineskip \\crcr \\/ ' +
        '\\empty \\@empty \\SwapAboveDisplaySkip \\MTFlushSpaceAbove \\Hy@raisedlink ' +
        '\\MTFlushSpaceBelow \\IEEEstrut \\singlespacing \\ensurestackMath ' +
        '\\displaywidth \\phantomsection \\lineno \\nolinenumbers \\compact'],
    ['o', '', '\\displaybreak \\linebreak \\pagebreak \\nopagebreak \\nolinebreak \\allowdisplaybreaks ' +
        '\\allowbreak \\pause \\footnotemark'],
    ['m', '', '\\label \\index \\glossary \\thispagestyle \\vadjust \\stepcounter \\refstepcounter ' +
        '\\noeqref \\usetagform \\mathtoolsset \\noalign \\bibliographystyle \\arrayrulecolor \\pushQED \\sisetup'],
    ['om', '', '\\usebeamercolor \\color \\footnote \\footnotetext \\todo \\marginpar \\rowcolor \\columncolor \\cellcolor \\fontfamily'],
    ['sm', '', '\\tag \\vspace'],
    ['mmm', '', '\\definecolor'], ['mm', '', '\\colorlet'],
    ['mm', '', '\\setlength \\addtolength \\setcounter \\addtocounter \\settowidth \\fontsize ' +
        ' \\numberwithin'],
    ['#d', '', '\\vskip'],
    ['som', '(\\text{?})', '\\eqref \\refeq \\cref \\Cref'],
    ['som', '\\text{?}', '\\ref \\pageref \\autoref \\nameref \\vref'],
    ['soom', '[\\text{?}]', '\\cite \\citep \\citet \\citealt \\autocite \\parencite \\textcite \\citeauthor ' +
        '\\citeyear \\citealp \\footcite'],
    ['omm', '{#3}', '\\textcolor \\href'],
    ['om', '{#2}', '\\hyperref'],
    ['mm', '{#2}', '\\hypertarget \\hyperlink'],
    ['mm', '#1', '\\texorpdfstring \\pdftooltip'],
    ['D<>{}m', '#2', '\\onslide \\only \\uncover \\visible \\alert \\action'],
    ['m', '#1', ' \\highlight \\hl \\mathsmaller \\mathlarger \\lefteqn'],
    ['om', '#2', '\\tcboxmath \\tcbhighmath'],
    /* rows and lines of tables */
    ['', '\\hline ', '\\toprule \\midrule \\bottomrule \\firsthline \\lasthline'],
    ['m', '', '\\cline \\cdashline'],
    ['D(){}m', '', '\\cmidrule'],
    ['o', '', '\\addlinespace'],
    /* text */
    ['m', '\\text{#1}', '\\mbox \\textsc \\textsl \\emph \\textgreek \\shadowbox \\ovalbox \\doublebox \\uline \\textnormal ' +
        '\\textmd \\textup \\textlatin \\textrussian'],
    ['m', '\\text{#1}\\\\', '\\intertext \\shortintertext'],
    ['#bm', '\\text{#2}', '\\hbox'],
    ['D(){}oom', '\\text{#4}', '\\makebox \\framebox'],
    ['ooomm', '\\text{#5}', '\\parbox'],
    ['mm', '\\text{#2}', '\\foreignlanguage'],
    ['mooom', '\\text{#5}', '\\raisebox'],
    ['mom', '\\text{#3}', '\\scalebox'],
    ['smmm', '\\text{#4}', '\\resizebox'],
    ['m', '\\mathrm{#1}', '\\mathup \\upmath'],
    ['omm', '\\text{#3}', '\\colorbox'],
    ['ommm', '\\text{#4}', '\\fcolorbox'],
    ['oom', '#3', '\\mathmakebox'],
    ['m', '#1', '\\mathmbox \\detokenize \\unexpanded'],
    ['O{}m', '{#1#2}', '\\cramped'],
    ['m', '\\substack{#1}', '\\crampedsubstack'],
    /* letters */
    ['m', '\\mathbb{#1}', '\\mathbbm \\mathds \\mathbbmss \\mathbbmtt \\Bbb \\mathbbb'],
    ['m', '\\boldsymbol{#1}', '\\mathbold \\mathbfit \\bmath \\mbs'],
    ['m', '\\mathbf{\\mathsf{#1}}', '\\mathbfsf'],
    ['m', '\\mathsf{#1}', '\\mathsfit'],
    ['m', '\\mathscr{#1}', '\\mathpzc \\mathcalligra'],
    ['m', '\\mathcal{#1}', '\\EuScript'],
    ['', '\\mathrm{d}', '\\dif'], ['', '\\mathrm{D}', '\\Dif'],
    ['', '\\mathbb{1}', '\\bbone \\mathbbone'],
    ['m', '\\not{#1}', '\\slashed \\centernot'],
    ['', '/', '\\slash'],
    ['', '\\varvdots ', '\\vdots ⋮'],
    ['', '\\cdots ', '\\dotfill'],
    ['o', '\\cdots ', '\\hdots'],
    ['m', '\\vdots ', '\\vdotswithin'],
    ['sm', '\\IfBooleanTF{#1}{\\vdots &}{&\\vdots }\\\\', '\\shortvdotswithin'],
    ['', '\\vcentcolon\\mathrel{-}', '\\colondash'], ['', '\\dblcolon\\mathrel{-}', '\\Colondash'],
    ['', '\\mathrel{-}\\vcentcolon ', '\\dashcolon'], ['', '\\mathrel{-}\\dblcolon ', '\\Dashcolon'],
    ['', '\\approx\\dblcolon ', '\\Approxcolon'], ['', '\\sim\\dblcolon ', '\\Simcolon'],
    ['', '\\not\\uparrow ', '\\nuparrow'], ['', '\\not\\downarrow ', '\\ndownarrow'],
    /* mathtools has changed these four since KaTeX took them over */
    ['', '\\coloneqq ', '\\coloneq'], ['', '\\Coloneqq ', '\\Coloneq'],
    ['', '\\eqqcolon ', '\\eqcolon'], ['', '\\Eqqcolon ', '\\Eqcolon'],
    /* fractions, roots, scripts */
    ['omm', '{{#2}/{#3}}', '\\nicefrac \\sfrac \\xfrac'],
    ['mm', '{#1}/{#2}', '\\faktor'],
    ['mm', '\\overset{#1}{#2}', '\\accentset'],
    ['mm', '\\underset{#1}{#2}', '\\underaccent'],
    ['mm', '\\overset{#1}{\\cancel{#2}}', '\\cancelto'],
    ['mm', '#1\\textstyle{#2}', '\\mathpalette'],
    ['mmm', '{\\vphantom{#3}}^{#1}_{#2}{#3}', '\\prescript'],
    ['O{}m', '#2', '\\smashoperator'],
    ['mm', '\\begin{array}{l}#1\\\\#2\\end{array}', '\\splitfrac \\splitdfrac'],
    ['oom', '\\mathop{\\overset{\\text{⎴}}{#3}}\\limits ', '\\overbracket'],
    ['oom', '\\mathop{\\underset{\\text{⎵}}{#3}}\\limits ', '\\underbracket'],
    ['m', '\\mathop{\\overset{\\text{⏜}}{#1}}\\limits ', '\\overparen'],
    ['m', '\\mathop{\\underset{\\text{⏝}}{#1}}\\limits ', '\\underparen'],
    ['mmm', '\\overset{#1}{\\underset{#2}{#3}}', '\\overunderset'],
    ['m', '\\overset{\\cdot\\cdot\\cdot}{#1}', '\\dddot'],
    ['m', '\\overset{\\cdot\\cdot\\cdot\\cdot}{#1}', '\\ddddot'],
    ['m', '\\underset{\\sim}{#1}', '\\undertilde'],
    ['m', '\\overline{#1}', '\\widebar'],
    ['m', '\\overrightarrow{#1}', '\\vv'],
    ['om', '#2', '\\shoveleft \\shoveright'],
    ['m', '#1', '\\Aboxed \\oldstylenums \\mathdefault'],
    ['m', '', '\\raisetag \\uproot \\leftroot'],
    ['om', '', '\\xmathstrut'],
    ['', '', '\\adjustlimits \\nonscript \\strut'],
    ['omm', '\\underset{#3}{#2}', '\\stackunder'],
    ['omm', '\\overset{#3}{#2}', '\\stackon'],
    ['O{}m', '\\xrightarrow[#1]{#2}', '\\xlongrightarrow'],
    ['O{}m', '\\xleftarrow[#1]{#2}', '\\xlongleftarrow'],
    ['O{}m', '\\xRightarrow[#1]{#2}', '\\xLongrightarrow'],
    ['O{}m', '\\xLeftarrow[#1]{#2}', '\\xLongleftarrow'],
    ['O{}m', '\\xleftrightarrow[#1]{#2}', '\\xlongleftrightarrow'],
    ['O{}m', '\\xLeftrightarrow[#1]{#2}', '\\xLongleftrightarrow'],
    ['', '^', '\\sp'], ['', '_', '\\sb'],
    ['m', '\\text{“#1”}', '\\enquote \\textquote'],
    /* unicode-math and isomath */
    ['m', '\\mathbf{#1}', '\\symbf \\symbfup'],
    ['m', '\\boldsymbol{#1}', '\\symbfit \\vectorsym \\matrixsym'],
    ['m', '\\boldsymbol{\\mathsf{#1}}', '\\tensorsym'],
    ['m', '\\mathrm{#1}', '\\symup \\symrm'],
    ['m', '\\mathit{#1}', '\\symit'],
    ['m', '\\mathsf{#1}', '\\symsf'],
    ['m', '\\mathtt{#1}', '\\symtt'],
    ['m', '\\mathcal{#1}', '\\symcal'],
    ['m', '\\mathscr{#1}', '\\symscr'],
    ['m', '\\mathbb{#1}', '\\symbb'],
    ['m', '\\mathfrak{#1}', '\\symfrak'],
    ['m', '\\boldsymbol{\\mathcal{#1}}', '\\symbfcal \\mathbfcal'],
    ['m', '\\boldsymbol{\\mathscr{#1}}', '\\symbfscr \\mathbfscr'],
    ['m', '\\boldsymbol{\\mathfrak{#1}}', '\\symbffrak \\mathbffrak'],
    /* plain TeX's tables */
    ['m', '\\begin{matrix}#1\\end{matrix}', '\\matrix'],
    ['m', '\\begin{pmatrix}#1\\end{pmatrix}', '\\pmatrix'],
    ['m', '\\begin{bmatrix}#1\\end{bmatrix}', '\\bmatrix'],
    ['m', '\\begin{cases}#1\\end{cases}', '\\cases'],
    ['m', '\\begin{gathered}#1\\end{gathered}', '\\displaylines'],
    ['m', '\\begin{aligned}#1\\end{aligned}', '\\eqalign \\eqalignno \\leqalignno'],
    ['o', '', '\\MoveEqLeft'],
    /* delimiters */
    ['', '\\lbrack\\!\\lbrack ', '\\lBrack'], ['', '\\rbrack\\!\\rbrack ', '\\rBrack'],
    ['', '', '\\delimsize'],
    ['', '\\left', '\\mleft'], ['', '\\right', '\\mright'],
    ['', '\\vert ', '\\arrowvert'], ['', '\\Vert ', '\\Arrowvert'],
    ['', '\\!', '\\joinrel'], ['', '\\mathrel{-}', '\\relbar'], ['', '\\mathrel{=}', '\\Relbar'],
    ['sO{\\Updownarrow}', '#2 ', '\\ArrowBetweenLines'],
    ['', '\\quad ', '\\and \\And'],
    ['', '1', '\\arraystretch \\baselinestretch'],
    ['', '', '\\theequation \\m@th \\popQED \\hole']
];

/* ---- those that a row cannot say ---- */
function row(spec, text, name) {
    return function (ctx) {
        return result(substitute(lex(ctx, text), take(ctx, spec, true, name)));
    };
}
/* TeX's assignments of lengths: \arraycolsep=1.4pt. */
function assignment(ctx) {
    taken(ctx, '=');
    glue(ctx);
    return result([]);
}
/* Spaces: those whose size is in a register are left out. */
function space(ctx) {
    if (next(ctx) === '{') /* as KaTeX's own macros have it */
        return result(kept(ctx, '\\kern', '{' + text_of(argument(ctx)) + '}'));
    var size = glue(ctx);
    return result(size ? kept(ctx, '\\kern', size + ' ') : []);
}
function hspace(ctx) {
    taken(ctx, '*');
    var size = /^\s*([-+]?[\d.]+)\s*(pt|em|ex|mu|mm|cm|in|bp|pc|dd|cc|sp|px)\b/.exec(text_of(argument(ctx)));
    return result(size ? kept(ctx, '\\kern', size[1] + size[2] + ' ') : []);
}
/* A rule without width or height keeps lines apart; others are seen. */
function rule(ctx) {
    var args = take(ctx, 'omm', true, '\\rule');
    if (/^[-+]?0*\.?0*[a-z]/.test(name_of(args[1])) || /^[-+]?0*\.?0*[a-z]/.test(name_of(args[2])))
        return result([]);
    return result(kept(ctx, '\\rule', '{' + name_of(args[1]) + '}{' + name_of(args[2]) + '}'));
}
function raised(ctx) { /* \raise1ex\hbox{x} */
    glue(ctx);
    return result([]);
}
function multicolumn(ctx) {
    var a = take(ctx, 'mmm', true, '\\multicolumn'), n = +name_of(a[0]);
    if (!(n >= 1 && n < 100))
        throw refusal('unknown form', '\\multicolumn');
    return result(wrap(ctx, '{', a[2], '}' + new Array(n).join('&')));
}
function multirow(ctx) {
    return result(take(ctx, 'omomom', true, '\\multirow')[5]);
}
function in_math(ctx, tokens) {
    return ctx.mode === 'text' ? wrap(ctx, '$', tokens, '$') : tokens;
}
/* In text: makes the formulas bold that follow in the group. */
function boldmath(ctx) {
    var out = [], depth = 0, inside = false;
    if (ctx.mode !== 'text')
        throw refusal('unknown form', '\\boldmath');
    while (ctx.future().text !== 'EOF' && (depth > 0 || ctx.future().text !== '}')) {
        var t = ctx.popToken();
        depth += t.text === '{' ? 1 : t.text === '}' ? -1 : 0;
        if (t.text === '$') {
            inside = !inside;
            out = out.concat(lex(ctx, inside ? '$\\boldsymbol{' : '}$'));
        } else {
            out.push(t);
        }
    }
    return result(out);
}
/* \big{(} is \big( */
function sized(name) {
    return function (ctx) {
        return result(kept(ctx, name, '').concat(trimmed(take(ctx, 'm', false, name)[0])));
    };
}
/* \mathllap[\scriptstyle]{x}: KaTeX's own has no option */
function lapped(name) {
    return function (ctx) {
        var a = take(ctx, 'O{}m', true, name);
        return result(kept(ctx, name, '{').concat(a[0], a[1], lex(ctx, '}')));
    };
}
/* \DeclarePairedDelimiter: star, size, what is before, both delimiters, what is between and behind. */
function paired(ctx) {
    var a = take(ctx, 'mmmmmmm', false, ''), size = name_of(a[1]);
    var middle = starred(a[0]) ? '\\middle' : given(a[1]) ? size : '';
    var inner = a[5].reduce(function (all, t) {
        return all.concat(t.text === '\\delimsize' ? lex(ctx, middle) : [t]);
    }, []);
    var left = starred(a[0]) ? '\\left' : given(a[1]) ? size + 'l' : '';
    var right = starred(a[0]) ? '\\right' : given(a[1]) ? size + 'r' : '';
    return result(a[2].concat(lex(ctx, left), trimmed(a[3]), inner, lex(ctx, right), trimmed(a[4]), a[6]));
}
function hdotsfor(ctx) {
    var n = +name_of(take(ctx, 'om', true, '\\hdotsfor')[1]);
    if (!(n >= 1 && n < 100))
        throw refusal('unknown form', '\\hdotsfor');
    return result(lex(ctx, '\\dots' + new Array(n).join('&\\dots ')));
}
/* Letters alone change their case; names of commands do not. */
function letter_case(method) {
    return function (ctx) {
        return result(argument(ctx).reduce(function (all, t) {
            return all.concat(/^\\/.test(t.text) ? [t] : lex(ctx, t.text[method]()));
        }, []));
    };
}
function shortstack(ctx) {
    taken(ctx, '*');
    optional(ctx);
    return result(array(ctx, columns_of(ctx, lex(ctx, 'c')), argument(ctx), true));
}
/* \sideset{_a^b}{_c^d}\prod: what stands at both sides of the operator. */
function sideset(ctx) {
    var a = take(ctx, 'mm', true, '\\sideset'), operator_token = argument(ctx);
    return result(wrap(ctx, '{\\vphantom{', operator_token, '}}').concat(a[0], lex(ctx, '\\mathop{{'),
        operator_token, lex(ctx, '}'), a[1], lex(ctx, '}\\limits ')));
}
function script(sign) { /* of text */
    return function (ctx) {
        return result(in_math(ctx, wrap(ctx, '{}' + sign + '{\\text{', argument(ctx), '}}')));
    };
}
function csname(ctx) {
    var name = '\\';
    while (ctx.future().text !== '\\endcsname') {
        var t = ctx.expandNextToken().text;
        if (t === 'EOF' || /^\\/.test(t))
            throw refusal('unknown form', '\\csname');
        name += t;
    }
    var made = ctx.popToken();
    made.text = name; /* one name, also with digits in it */
    return result([made]);
}
function buildrel() {
    return { tokens: lex(probe, '\\overset{#1}{#2}').reverse(), numArgs: 2, delimiters: [[], ['\\over'], []] };
}
/* A rule of stated size is a drawing, unless it has no width: a strut. */
function vrule(ctx) {
    for (var width = '', stated = false, size = true; size;) {
        size = ['height', 'width', 'depth'].filter(function (x) { return word(ctx, x); })[0];
        var length = size ? glue(ctx) : '';
        width = size === 'width' ? length : width;
        stated = stated || !!size;
    }
    if (stated && /^-?0*\.?0*[a-z]/.test(width))
        return result([]);
    if (stated)
        throw refusal('picture', '\\vrule');
    return result(lex(ctx, ctx.mode === 'text' ? '|' : '\\vert '));
}
function root(ctx) {
    return { tokens: lex(ctx, '\\sqrt[#1]{#2}').reverse(), numArgs: 2, delimiters: [[], ['\\of'], []] };
}
/* \tensor{T}{^a_b} and \indices{^a_b}: each index at its own place. */
function indices(ctx, tokens) {
    var out = [], at = { i: 0 };
    tokens = trimmed(tokens);
    while (at.i < tokens.length) {
        var c = tokens[at.i].text;
        if (c === '^' || c === '_') {
            at.i++;
            out = out.concat(lex(ctx, '{}' + c), group_tokens(tokens, at));
        } else if (c === '*' || c === ' ') {
            at.i++;
        } else {
            throw refusal('unknown form', '\\indices{' + text_of(tokens) + '}');
        }
    }
    return out;
}
/* What KaTeX would set as an error, and what turns or draws. */
var REFUSED = ('\\includegraphics \\rotatebox \\reflectbox \\tikz \\setbox \\box \\copy \\halign \\valign ' +
    '\\ooalign \\vbox \\vtop \\htmlClass \\htmlId \\htmlStyle \\htmlData \\url \\Qcircuit \\xygraph \\xy ' +
    '\\young \\yng \\ydiagram \\Tree \\psset \\adjustbox \\polygon \\chemfig \\schemestart').split(' ');

function define_commands(all) {
    COMMANDS.forEach(function (line) {
        line[2].split(' ').forEach(function (name) {
            all[name] = row(line[0], line[1], name);
        });
    });
    REFUSED.forEach(function (name) {
        all[name] = function () { throw refusal('picture', name); };
    });
    ['arraycolsep', 'postdisplaypenalty', 'predisplaypenalty', 'baselineskip', 'jot', 'abovedisplayskip',
        'lineskiplimit', 'belowdisplayskip', 'lineskip', 'tabcolsep', 'interdisplaylinepenalty', 'parskip',
        'thinmuskip', 'medmuskip', 'thickmuskip', 'abovedisplayshortskip', 'belowdisplayshortskip', 'parindent',
        'mathsurround', 'nulldelimiterspace', 'delimitershortfall', 'multlinegap', 'mathindent', 'penalty',
        'delimiterfactor', 'binoppenalty', 'relpenalty', 'fboxsep', 'fboxrule',
        'arrayrulewidth', 'extrarowheight', 'LTleft', 'tabskip'].forEach(function (name) {
        all['\\' + name] = name.indexOf('penalty') >= 0 || name === 'delimiterfactor' ? number_assignment
            : assignment;
    });
    ['kern', 'hskip', 'mkern', 'mskip'].forEach(function (name) { all['\\' + name] = space; });
    ['raise', 'lower', 'moveright', 'moveleft', 'openup'].forEach(function (name) { all['\\' + name] = raised; });
    all['\\hspace'] = hspace;
    all['\\rule'] = rule;
    all['\\root'] = root;
    all['\\multicolumn'] = multicolumn;
    all['\\multirow'] = multirow;
    all['\\eqloompaired'] = paired;
    all['\\mathchoice'] = function (ctx) { /* KaTeX's own takes no blanks between */
        return result(take(ctx, 'mmmm', true, '\\mathchoice').reduce(function (out, x) {
            return out.concat(wrap(ctx, '{', x, '}'));
        }, kept(ctx, '\\mathchoice', '')));
    };
    all['\\boldmath'] = boldmath;
    'big Big bigg Bigg'.split(' ').forEach(function (size) {
        ['', 'l', 'm', 'r'].forEach(function (side) {
            all['\\' + size + side] = sized('\\' + size + side);
        });
    });
    ['llap', 'rlap', 'clap'].forEach(function (side) {
        all['\\math' + side] = all['\\cramped' + side] = lapped('\\math' + side);
    });
    all['\\vrule'] = vrule;
    all['\\sideset'] = sideset;
    all['\\textsuperscript'] = script('^');
    all['\\textsubscript'] = script('_');
    all['\\csname'] = csname;
    all['\\buildrel'] = buildrel;
    all['\\mspace'] = hspace;
    all['\\makecell'] = all['\\thead'] = shortstack;
    all['\\eqno'] = all['\\leqno'] = function (ctx) { /* the number of the equation follows */
        while (ctx.future().text !== 'EOF' && ctx.future().text !== '\\end')
            ctx.popToken();
        return result([]);
    };
    all['\\hdotsfor'] = hdotsfor;
    all['\\uppercase'] = all['\\MakeUppercase'] = letter_case('toUpperCase');
    all['\\lowercase'] = all['\\MakeLowercase'] = letter_case('toLowerCase');
    all['\\shortstack'] = shortstack;
    all['\\ensuremath'] = function (ctx) { return result(in_math(ctx, argument(ctx))); };
    all['\\indices'] = function (ctx) { return result(indices(ctx, argument(ctx))); };
    all['\\tensor'] = function (ctx) {
        var a = take(ctx, 'sO{}mm', true, '\\tensor');
        return result(indices(ctx, a[1]).concat(wrap(ctx, '{', a[2], '}'), indices(ctx, a[3])));
    };
    all[NOVALUE] = function () { throw refusal('unknown form', 'an argument that is not there is used'); };
    all['\\begin'] = begin;
    all['\\end'] = end;
    all['\\xymatrix'] = xymatrix;
}
function number_assignment(ctx) {
    taken(ctx, '=');
    if (isNaN(integer(ctx)))
        throw refusal('unknown form', 'a number is expected');
    return result([]);
}
