/* Diagrams of xy and tikz-cd as matrices of their objects and arrows. */
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
/* The group or single token at `at`, behind which that moves. */
function group_tokens(tokens, at) {
    while (at.i < tokens.length && tokens[at.i].text === ' ')
        at.i++;
    for (var depth = 0, from = at.i; at.i < tokens.length;) {
        var c = tokens[at.i++].text;
        depth += c === '{' ? 1 : c === '}' ? -1 : 0;
        if (depth <= 0)
            break;
    }
    return tokens.slice(from, at.i);
}
function group_at(tokens, at) {
    return text_of(group_tokens(tokens, at));
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
    return wrap(ctx, '\\begin{matrix}', lex_theirs(ctx, out), '\\end{matrix}');
}
function xymatrix(ctx) {
    var style = [];
    while (next(ctx) !== '{' && next(ctx) !== 'EOF')
        style.push(ctx.popToken());
    return result(diagram(ctx, argument(ctx)));
}
