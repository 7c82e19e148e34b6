/* LaTeX as KaTeX's parse tree, for the reader of expressions. It knows KaTeX's own commands alone,
 * and what KaTeX would render with a warning is refused. "loc" of a node is its place in the text,
 * [begin, end]: of a macro's nodes that of the macro, so that a refusal can name what was typed.
 * Loaded after katex.min.js into a heap of its own; katex.c calls `eqloom_tree`. */
'use strict';
var eqloom_tree;
(function () {
    var LIMIT = { expand: 2000, tokens: 50000, length: 10000 };

    /* What KaTeX uses of later editions of the language than Duktape's. */
    Array.prototype.fill = Array.prototype.fill || function (value) {
        for (var i = 0; i < this.length; i++)
            this[i] = value;
        return this;
    };

    /* ---- commands of a display that are no part of its mathematics ---- */
    function number(ctx) {
        if (ctx.future().text === '*')
            ctx.popToken();
        ctx.consumeArg();
        return '';
    }
    function refused(ctx) {
        throw new katex.ParseError('this command cannot be read', { loc: ctx.place });
    }
    var MACROS = { '\\label': number, '\\tag': number, '\\nonumber': '', '\\notag': '',
        '\u00b7': '\\cdot ', /* punctuation to KaTeX */
        /* what takes the next token, and a set's braces */
        '\\let': refused, '\\futurelet': refused, '\\set': refused,
        '\\Set': refused };

    function settings() {
        var macros = {}, name;
        for (name in MACROS)
            macros[name] = MACROS[name];
        return { output: 'mathml', trust: false, maxExpand: LIMIT.expand, maxSize: 100,
            macros: macros, strict: function (code, message, token) {
                throw new katex.ParseError(code === 'commentAtEnd' ? 'a % begins a comment here'
                    : message, token);
            } };
    }

    /* KaTeX keeps its parser and its expander of macros to itself. The parser is seen as it sets its
     * member `gullet`, the expander as it calls a macro. */
    function prototypes() {
        var parser, expander, ours = settings();
        ours.macros['\\eqloomprobe'] = function (ctx) {
            expander = Object.getPrototypeOf(ctx);
            return '';
        };
        Object.defineProperty(Object.prototype, 'gullet', { configurable: true, set: function (x) {
            parser = Object.getPrototypeOf(this);
            Object.defineProperty(this, 'gullet', { value: x, writable: true });
        } });
        katex.__parse('\\eqloomprobe', ours);
        delete Object.prototype.gullet;
        return { parser: parser, expander: expander };
    }
    var of = prototypes(), parser = of.parser, expander = of.expander;

    /* ---- macros: their tokens have the place of the macro, and are counted ---- */
    var expand_once = expander.expandOnce, push_tokens = expander.pushTokens, pushed;
    expander.expandOnce = function (expandable) {
        var outer = this.place, result;
        this.place = this.future().loc;
        result = expand_once.call(this, expandable);
        this.place = outer;
        return result;
    };
    expander.pushTokens = function (tokens) {
        var place = this.place, lexer = this.lexer;
        pushed += tokens.length;
        if (pushed > LIMIT.tokens)
            throw new katex.ParseError('Too many expansions: more than ' + LIMIT.tokens + ' tokens');
        tokens.forEach(function (t) {
            if (place && (!t.loc || t.loc.lexer !== lexer))
                t.loc = place;
        });
        return push_tokens.call(this, tokens);
    };

    /* ---- places: KaTeX gives them to symbols and groups, but not to what a command makes ---- */
    var consume = parser.consume, parse_group = parser.parseGroup;
    var handle_infix = parser.handleInfixNodes;
    parser.consume = function () {
        if (this.nextToken && this.nextToken.loc)
            this.consumed = this.nextToken.loc.end;
        consume.call(this);
    };
    parser.parseGroup = function (name, stop) {
        var first = this.fetch().loc, node = parse_group.call(this, name, stop);
        if (node && !node.loc && first)
            node.loc = { lexer: first.lexer, start: first.start, end: this.consumed };
        return node;
    };
    parser.handleInfixNodes = function (body) { /* a \over b */
        var infix = body.filter(function (node) { return node.type === 'infix'; })[0];
        var made = handle_infix.call(this, body);
        if (infix)
            made[0].loc = infix.loc;
        return made;
    };

    /* "!position\nreason\ndetail" of a refusal. */
    var REASONS = [
        [/Undefined control sequence/, 'unknown command'],
        [/No such environment/, 'unknown environment'],
        [/Too many expansions/, 'too many expansions'],
        [/nested too deeply|call stack|C stack|recursion/, 'nested too deeply'],
        [/alloc|memory|out of|too long/, 'too large']
    ];
    function refusal(error) {
        var message = String(error && error.message || error), reason = 'LaTeX error';
        for (var i = 0; i < REASONS.length && reason === 'LaTeX error'; i++)
            if (REASONS[i][0].test(message))
                reason = REASONS[i][1];
        message = message.replace(/^KaTeX parse error: /, '').replace(/\u0332/g, '')
            .replace(/^Undefined control sequence: |^No such environment: /, '')
            .replace(/ at (position \d+|end of input):[\s\S]*$/, '');
        return '!' + (error && error.position >= 0 ? error.position : 0) + '\n' + reason + '\n' +
            message.slice(0, 200);
    }

    eqloom_tree = function (latex) {
        try {
            if (latex.length > LIMIT.length)
                throw new RangeError('too long');
            pushed = 0;
            return JSON.stringify(katex.__parse(latex, settings()), function (key, value) {
                if (key === 'loc' && value)
                    return value.lexer && value.lexer.input === latex ? [value.start, value.end]
                        : undefined;
                return key === 'mode' ? undefined : value;
            });
        } catch (error) {
            return refusal(error);
        }
    };
}());
