/* Proof trees: bussproofs, whose conclusions stand on a stack, and the inferences of proof.sty and
 * mathpartir. The name of a rule stands beside its line. */
var proofs; /* {stack, left, right, bare}: what is derived, and how the next line is */
function sequent(ctx) {
    var t, out = [];
    ctx.consumeSpaces();
    ctx.popToken();
    while ((t = ctx.popToken()).text !== '$' && t.text !== 'EOF')
        if (t.text !== '\\fCenter')
            out.push(t);
    return out;
}
function in_text(ctx) {
    return wrap(ctx, '\\text{', argument(ctx), '}');
}
function fraction(ctx, above, below, left, right, line) {
    var out = lex(ctx, line === false ? '\\genfrac{}{}{0pt}{0}{' : '\\dfrac{').concat(above, lex(ctx, '}{'), below,
        lex(ctx, '}'));
    if (left && left.length)
        out = wrap(ctx, '{\\scriptstyle ', left, '}\\;').concat(out);
    return right && right.length ? out.concat(wrap(ctx, '\\;{\\scriptstyle ', right, '}')) : out;
}
function inference(n, read) {
    return function (ctx) {
        var conclusion = read(ctx), stack = proofs.stack;
        if (stack.length < n)
            throw refusal('LaTeX error', 'a proof tree lacks premises');
        var premises = join(ctx, stack.splice(stack.length - n, n), '\\quad ');
        stack.push(n ? fraction(ctx, premises, conclusion, proofs.left, proofs.right, proofs.line) : conclusion);
        proofs.left = proofs.right = null;
        proofs.line = true;
        return result([]);
    };
}
function display_proof() {
    var all = [];
    proofs.stack.forEach(function (p) { all = all.concat(p); });
    proofs.stack = [];
    return result(all);
}
function rule_label(side) {
    return function (ctx) {
        proofs[side] = in_text(ctx);
        return result([]);
    };
}
/* \infer[label]{conclusion}{premise & premise}; a star or = changes the line. */
function proof_infer(ctx) {
    var a = take(ctx, 'st=omm', true, '\\infer'), label = given(a[2]) ? a[2] : null;
    return result(fraction(ctx, join(ctx, split(a[4], ['&']), '\\quad '), a[3], null, label));
}
function deduce(ctx) {
    var a = take(ctx, 'omm', true, '\\deduce');
    return result(fraction(ctx, join(ctx, split(a[2], ['&']), '\\quad '), a[1], null, null, false));
}
/* \inferrule[name]{premises \\ premises}{conclusion}; \inferrule* has its names as left=, right=. */
function inferrule(ctx) {
    var a = take(ctx, 'somm', true, '\\inferrule'), left = null, right = null;
    function premises(tokens) { /* \\ begins a premise, \\\\ a line */
        var lines = [[]];
        split(tokens, ['\\\\', '\\and']).forEach(function (x) {
            if (trimmed(x).length)
                lines[lines.length - 1].push(trimmed(x));
            else if (lines[lines.length - 1].length)
                lines.push([]);
        });
        lines = lines.filter(function (x) { return x.length; }).map(function (x) {
            return join(ctx, x, '\\quad ');
        });
        return lines.length < 2 ? lines[0] || [] : wrap(ctx, '\\begin{gathered}', join(ctx, lines, '\\\\'),
            '\\end{gathered}');
    }
    if (given(a[1]) && starred(a[0]))
        keys(a[1]).forEach(function (x) {
            var text = x.value ? wrap(ctx, '\\text{', x.value, '}') : null;
            if (/^(left|lab|Left|Lab|LeftLabel)$/.test(x.key))
                left = text;
            else if (/^(right|Right|RightLabel)$/.test(x.key))
                right = text;
            else if (!/^(width|leftskip|rightskip|vdots|vcenter|narrower|sep|flushleft|center|myfraction)$/.test(x.key))
                throw refusal('unknown form', '\\inferrule*[' + x.key + ']');
        });
    else if (given(a[1]))
        left = wrap(ctx, '\\text{', a[1], '}');
    return result(fraction(ctx, premises(a[2]), premises(a[3]), left, right));
}

function define_proofs(all) {
    ['Axiom', 'UnaryInf', 'BinaryInf', 'TrinaryInf', 'QuaternaryInf', 'QuinaryInf'].forEach(function (name, n) {
        all['\\' + name] = inference(n, sequent);
        all['\\' + name + 'C'] = inference(n, in_text);
    });
    all['\\Deduce'] = all['\\UnaryInf'];
    all['\\DeduceC'] = all['\\UnaryInfC'];
    all['\\AXC'] = all['\\AxiomC'];
    all['\\UIC'] = all['\\UnaryInfC'];
    all['\\BIC'] = all['\\BinaryInfC'];
    all['\\TIC'] = all['\\TrinaryInfC'];
    all['\\QIC'] = all['\\QuaternaryInfC'];
    all['\\RightLabel'] = all['\\RL'] = rule_label('right');
    all['\\LeftLabel'] = all['\\LL'] = rule_label('left');
    all['\\noLine'] = function () {
        proofs.line = false;
        return result([]);
    };
    ['alwaysNoLine', 'doubleLine', 'dashedLine', 'singleLine', 'solidLine', 'bottomAlignProof', 'centerAlignProof',
        'normalAlignProof', 'defaultHypSeparation', 'fCenter'].forEach(function (name) {
        all['\\' + name] = function () { return result([]); };
    });
    all['\\DisplayProof'] = all['\\DP'] = display_proof;
    all['\\infer'] = proof_infer;
    all['\\deduce'] = deduce;
    all['\\inferrule'] = all['\\inferrule*'] = inferrule;
}
