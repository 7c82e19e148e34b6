/* What katex.c calls, eqloom_mathml, and what KaTeX is told about a text. */
var LIMIT = { expand: 2000, tokens: 50000, length: 10000, depth: 200 };

/* What KaTeX uses of later editions of the language than Duktape's. */
Array.prototype.fill = Array.prototype.fill || function (value) {
    for (var i = 0; i < this.length; i++)
        this[i] = value;
    return this;
};

/* Which commands KaTeX has itself. */
var probe;
theirs = {};
katex.renderToString('\\eqloomprobe', { macros: { '\\eqloomprobe': function (ctx) {
    probe = ctx;
    return '';
} } });
/* KaTeX counts expansions. Each may double what the one before gave, so tokens are counted, too. */
var expander = Object.getPrototypeOf(probe), push_tokens = expander.pushTokens, pushed;
expander.pushTokens = function (tokens) {
    pushed += tokens.length;
    if (pushed > LIMIT.tokens)
        throw refusal('too many expansions', 'more than ' + LIMIT.tokens + ' tokens');
    return push_tokens.call(this, tokens);
};

/* Names that KaTeX has of MediaWiki: in a document, a macro that is missing. */
var NOT_LATEX = ('\\darr \\dArr \\Darr \\lang \\rang \\uarr \\uArr \\Uarr \\alef \\alefsym \\bull \\clubs \\diamonds ' +
    '\\exist \\harr \\hArr \\Harr \\hearts \\image \\infin \\isin \\larr \\lArr \\Larr \\lrarr \\lrArr \\Lrarr ' +
    '\\plusmn \\rarr \\rArr \\Rarr \\real \\sdot \\sect \\spades \\sub \\sube \\supe \\thetasym \\weierp \\blue ' +
    '\\orange \\pink \\red \\green \\gray \\purple').split(' ');
/* The commands of a document that loads these packages; null if nothing is known of a document. */
var tables = {};
function commands_with(packages) {
    var key = packages ? packages.join(' ') : '?', all = {}, extra = {}, name;
    if (Object.prototype.hasOwnProperty.call(tables, key))
        return tables[key];
    function loads(x) {
        return !!packages && packages.indexOf(x) >= 0;
    }
    physics(extra);
    if (!loads('physics'))
        ONLY_PHYSICS.forEach(function (x) { delete extra[x]; });
    for (name in extra)
        if (loads('physics') || (!probe.isDefined(name) && (!packages || NOT_ONLY_PHYSICS.indexOf(name) >= 0)))
            all[name] = extra[name];
    if (packages)
        NOT_LATEX.filter(function (x) { return !all[x]; }).forEach(function (x) {
            all[x] = function () { throw refusal('unknown command', x); };
        });
    define_conditionals(all);
    define_symbols(all);
    define_commands(all);
    define_proofs(all);
    siunitx(all);
    if (loads('physics')) {
        several(all, '\\qty \\quantity', quantity);
    } else if (!loads('siunitx')) {
        several(all, '\\qty', either_quantity);
    }
    if (!loads('physics') && !loads('braket'))
        all['\\braket'] = either_braket;
    for (name in PACKAGES)
        if (loads(name))
            PACKAGES[name](all);
    return tables[key] = all;
}
function settings(macros, packages) {
    var all = {}, table = commands_with(packages), name;
    for (name in table)
        all[name] = table[name];
    open = [];
    proofs = { stack: [], left: null, right: null, line: true };
    pushed = ifs = 0;
    negate = false;
    define_macros(all, macros);
    return { displayMode: true, output: 'mathml', strict: 'ignore', trust: false, throwOnError: true,
        maxExpand: LIMIT.expand, maxSize: 100, macros: all };
}

/* "reason\ndetail" of a refusal. The reasons are what reports count. */
var REASONS = [
    [/Undefined control sequence/, 'unknown command'], [/No such environment/, 'unknown environment'],
    [/Too many expansions/, 'too many expansions'], [/nested too deeply|call stack|C stack|recursion/,
        'nested too deeply'], [/alloc|memory|out of/, 'too large'], [/too long/, 'too large']
];
function refuse(error) {
    var message = String(error && error.message || error), reason = error && error.reason || 'LaTeX error';
    for (var i = 0; i < REASONS.length && reason === 'LaTeX error'; i++)
        if (REASONS[i][0].test(message))
            reason = REASONS[i][1];
    message = message.replace(/^KaTeX parse error: /, '').replace(/\u0332/g, '');
    message = message.replace(/^Undefined control sequence: |^No such environment: /, '');
    if (/^unknown/.test(reason))
        message = message.replace(/ at position \d+:[\s\S]*$/, '');
    return reason + '\n' + message.slice(0, 200);
}
function render(latex, macros, packages) {
    var s = settings(macros, packages);
    return katex.renderToString(at_signs(s.macros, latex), s);
}
eqloom_mathml = function (latex, environment, macros, packages) {
    try {
        if (latex.length > LIMIT.length)
            throw new RangeError('too long');
        if (environment && /^[A-Za-z]+\*?$/.test(environment))
            latex = '\\begin{' + environment + '}' + latex + '\\end{' + environment + '}';
        var html = render(latex, macros || [], packages);
        var from = html.indexOf('<math'), inner = html.indexOf('<semantics>');
        var to = html.lastIndexOf('<annotation');
        if (proofs.stack.length)
            throw refusal('LaTeX error', 'a proof tree that is not displayed');
        /* KaTeX gives a table's frame its sides turned by a quarter */
        return html.slice(from, inner) + html.slice(inner + 11, to).replace(
            /<menclose notation="([a-z ]+)"><mtable/g, function (all, sides) {
                return all.replace(sides, sides.split(' ').map(function (x) {
                    return { top: 'left', left: 'top', bottom: 'right', right: 'bottom' }[x] || x;
                }).join(' '));
            }) + '</math>';
    } catch (error) {
        return refuse(error);
    }
};

define_environments();
index_built_in();
