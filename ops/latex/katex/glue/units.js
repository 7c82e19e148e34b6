/* The package siunitx: numbers, units, and both. Options that change only how a number or a unit is
 * set are left out; those that change its digits are refused. Units of the document
 * (\DeclareSIUnit) come as macros. */
var UNIT = {
    ampere: 'A', candela: 'cd', kelvin: 'K', kilogram: 'kg', metre: 'm', meter: 'm', mole: 'mol', second: 's',
    becquerel: 'Bq', degreeCelsius: '{}^{\\circ}\\mathrm{C}', celsius: '{}^{\\circ}\\mathrm{C}', coulomb: 'C',
    farad: 'F', gray: 'Gy', hertz: 'Hz', henry: 'H', joule: 'J', lumen: 'lm', katal: 'kat', lux: 'lx',
    newton: 'N', ohm: '\\Omega', pascal: 'Pa', radian: 'rad', siemens: 'S', sievert: 'Sv', steradian: 'sr',
    tesla: 'T', volt: 'V', watt: 'W', weber: 'Wb', astronomicalunit: 'au', bel: 'B', dalton: 'Da', day: 'd',
    decibel: 'dB', degree: '{}^{\\circ}', electronvolt: 'eV', hectare: 'ha', hour: 'h', litre: 'L', liter: 'L',
    arcminute: '{}^{\\prime}', minute: 'min', arcsecond: '{}^{\\prime\\prime}', neper: 'Np', tonne: 't', gram: 'g',
    percent: '\\%', atomicmassunit: 'u', bar: 'bar', angstrom: '\\text{\\AA}', barn: 'b', knot: 'kn',
    mmHg: 'mmHg', nauticalmile: 'M', bit: 'bit', byte: 'B', clight: 'c_0', hbar: '\\hbar',
    electronmass: 'm_{\\mathrm{e}}', elementarycharge: 'e', erg: 'erg', dyne: 'dyn', gauss: 'G', parsec: 'pc',
    year: 'a', eV: 'eV', GeV: 'GeV', MeV: 'MeV', keV: 'keV', TeV: 'TeV', meV: 'meV'
};
var PREFIX = { quecto: 'q', ronto: 'r', yocto: 'y', zepto: 'z', atto: 'a', femto: 'f', pico: 'p', nano: 'n',
    micro: '\\mu', milli: 'm', centi: 'c', deci: 'd', deca: 'da', deka: 'da', hecto: 'h', kilo: 'k', mega: 'M',
    giga: 'G', tera: 'T', peta: 'P', exa: 'E', zetta: 'Z', yotta: 'Y', ronna: 'R', quetta: 'Q', kibi: 'Ki',
    mebi: 'Mi', gibi: 'Gi', tebi: 'Ti', pebi: 'Pi', exbi: 'Ei', zebi: 'Zi', yobi: 'Yi' };
/* \km, \kg, \MHz, ...: a prefix and a unit in one. */
var SHORT = { fg: 'fg', pg: 'pg', ng: 'ng', ug: '\\mu g', mg: 'mg', g: 'g', kg: 'kg', amu: 'u', pm: 'pm', nm: 'nm',
    um: '\\mu m', mm: 'mm', cm: 'cm', dm: 'dm', m: 'm', km: 'km', 'as': 'as', fs: 'fs', ps: 'ps', ns: 'ns',
    us: '\\mu s', ms: 'ms', s: 's', fmol: 'fmol', pmol: 'pmol', nmol: 'nmol', umol: '\\mu mol', mmol: 'mmol',
    mol: 'mol', kmol: 'kmol', pA: 'pA', nA: 'nA', uA: '\\mu A', mA: 'mA', A: 'A', kA: 'kA', ul: '\\mu l', ml: 'ml',
    l: 'l', hl: 'hl', uL: '\\mu L', mL: 'mL', L: 'L', hL: 'hL', mHz: 'mHz', Hz: 'Hz', kHz: 'kHz', MHz: 'MHz',
    GHz: 'GHz', THz: 'THz', mN: 'mN', N: 'N', kN: 'kN', MN: 'MN', Pa: 'Pa', kPa: 'kPa', MPa: 'MPa', GPa: 'GPa',
    mohm: 'm\\Omega', kohm: 'k\\Omega', Mohm: 'M\\Omega', pV: 'pV', nV: 'nV', uV: '\\mu V', mV: 'mV', V: 'V', kV: 'kV',
    uW: '\\mu W', mW: 'mW', W: 'W', kW: 'kW', MW: 'MW', GW: 'GW', J: 'J', kJ: 'kJ', MJ: 'MJ', GJ: 'GJ', meV: 'meV',
    keV: 'keV', MeV: 'MeV', GeV: 'GeV', TeV: 'TeV', kWh: 'kW\\,h', F: 'F', fF: 'fF', pF: 'pF', nF: 'nF', uF: '\\mu F',
    K: 'K', dB: 'dB', T: 'T', H: 'H', fH: 'fH', pH: 'pH', nH: 'nH', mH: 'mH', uH: '\\mu H', C: 'C', nC: 'nC',
    uC: '\\mu C', mC: 'mC', nW: 'nW', uJ: '\\mu J', mJ: 'mJ' };

function own(table, key) {
    return Object.prototype.hasOwnProperty.call(table, key) ? table[key] : undefined;
}
function upright(text) {
    return /^[A-Za-z]+$/.test(text) ? '\\mathrm{' + text + '}' : text.replace(/[A-Za-z]+/g, function (w, at, all) {
        return /[\\{]$/.test(all.slice(0, at)) ? w : '\\mathrm{' + w + '}';
    });
}
/* "kg.m/s^2", as typed. */
function literal_unit(text) {
    return text.replace(/[a-zA-Z]+|\.|~/g, function (w, at, all) {
        return w === '.' || w === '~' ? '\\,' : all.charAt(at - 1) === '\\' ? w : '\\mathrm{' + w + '}';
    });
}
function unit(ctx, tokens) {
    var out = [], prefix = '', power = '', over = false, i;
    function braces() {
        var at = { i: i + 1 }, text = name_of(bare(group_tokens(tokens, at)));
        i = at.i - 1;
        return text;
    }
    function add(text) {
        var sign = over ? '-' : '', raised = (power || (over ? '1' : ''));
        out.push(text + (raised ? '^{' + (sign + raised).replace('--', '') + '}' : ''));
        prefix = power = '';
        over = false;
    }
    if (!tokens.some(function (t) { return /^\\[a-zA-Z]/.test(t.text); }))
        return literal_unit(text_of(tokens));
    for (i = 0; i < tokens.length; i++) {
        var name = tokens[i].text.replace(/^\\/, ''), m = theirs_of('\\' + name);
        if (out.length > 100 || tokens.length > 1000)
            throw refusal('unknown form', 'a unit of more than 100 parts');
        if (tokens[i].text === ' ' || tokens[i].text === '~' || tokens[i].text === '.' || name === ',')
            continue;
        if (tokens[i].text.charAt(0) !== '\\' || name.length === 0)
            throw refusal('unknown form', 'a unit with ' + tokens[i].text);
        if (own(PREFIX, name) !== undefined && i + 1 < tokens.length)
            prefix = PREFIX[name] + (/^\\/.test(PREFIX[name]) ? ' ' : '');
        else if (name === 'per')
            over = true;
        else if (name === 'square' || name === 'cubic')
            power = name === 'square' ? '2' : '3';
        else if (name === 'raiseto')
            power = braces();
        else if (name === 'squared' || name === 'cubed' || name === 'tothe') {
            if (!out.length)
                throw refusal('unknown form', 'a unit that begins with \\' + name);
            var n = name === 'squared' ? '2' : name === 'cubed' ? '3' : braces(), last = out.pop();
            out.push(/\^\{-1\}$/.test(last) ? last.replace(/\^\{-1\}$/, '^{-' + n + '}') : last + '^{' + n + '}');
        } else if (name === 'of') {
            out.push(out.pop() + '_{\\mathrm{' + braces() + '}}');
        } else if (name === 'highlight' || name === 'cancel') {
            if (name === 'highlight')
                braces();
        } else if (m && m.spec === '' && !m.delimiters) {
            tokens = tokens.slice(0, i).concat(lex_theirs(ctx, m.body), tokens.slice(i + 1));
            if (!/\\[a-zA-Z]/.test(m.body)) {
                var width = lex_theirs(ctx, m.body).length;
                add(prefix + literal_unit(m.body));
                i += width - 1;
            } else {
                i--;
            }
        } else if (own(UNIT, name) !== undefined || own(SHORT, name) !== undefined) {
            add(upright(prefix + (own(UNIT, name) || SHORT[name])));
        } else {
            throw refusal('unknown command', '\\' + name + ' as a unit');
        }
    }
    return out.join('\\,');
}
/* 1.23e-4, 1+-2, 1(2), 3 x 4, 1+2i */
function number(tokens) {
    var text = name_of(tokens).replace(/\s+/g, '').replace(/\\pm/g, '+-').replace(/\\times/g, 'x')
        .replace(/~|\\,/g, '');
    return text.split(/x/).map(function (part) {
        var p = /^([-+<>]|\\(?:le|ge|ll|gg|sim|approx)(?![a-z]))?(\d*[.,]?\d*)(\((\d+(?:[.,]\d+)?)\))?(\+-(\d*[.,]?\d*))?(?:[eEdD]([-+]?\d+))?([ij])?$/
            .exec(part);
        if (!p || (p[2] === '' && p[7] === undefined && !p[8]) || part === '') {
            if (/^[-+]?\d*[.,]?\d*[-+]\d*[.,]?\d*[ij]$/.test(part))
                return part.replace(/,/g, '.').replace(/[ij]$/, '\\mathrm{i}');
            throw refusal('unknown form', '\\num{' + text_of(tokens) + '}');
        }
        var mantissa = p[2].replace(',', '.').replace(/^\./, '0.').replace(/\.$/, '');
        var out = (p[1] === '+' ? '' : p[1] || '') + mantissa;
        if (p[1] && /^\\/.test(p[1]))
            out = p[1] + ' ' + mantissa;
        if (p[3])
            out += '(' + p[4].replace(',', '.') + ')';
        if (p[5])
            out = (p[7] !== undefined ? '(' : '') + out + '\\pm ' + p[6].replace(',', '.') + (p[7] !== undefined ? ')' : '');
        if (p[7] !== undefined)
            out += (mantissa ? '\\times ' : '') + '{10}^{' + p[7].replace(/^\+/, '') + '}';
        return out + (p[8] ? '\\mathrm{i}' : '');
    }).join('\\times ');
}
var SETTING = new RegExp('^(per-mode|per-symbol|fraction-function|group-.*|number-unit-.*|inter-unit-product|' +
    'detect-.*|mode|color|exponent-product|range-.*|list-.*|product-.*|separate-uncertainty.*|' +
    'uncertainty-mode|qualifier-.*|sticky-per|bracket-.*|allow-.*|reset-.*|unit-.*|number-(mode|color)|' +
    'propagate-.*|text-.*|tight-spacing|output-.*|free-standing-units|space-before-unit|use-xspace|' +
    'multi-part-units|quotient-mode|angle-.*|number-angle-product)$');
function settings_only(ctx, name) {
    var given_options = optional(ctx);
    keys(given_options || []).forEach(function (x) {
        if (!SETTING.test(x.key))
            throw refusal('unknown form', name + '[' + x.key + ']');
    });
}
function in_mode(ctx, text) {
    return result(in_math(ctx, lex(ctx, '{' + text + '}')));
}
function plain_unit(ctx, name) {
    if (next(ctx) === '[') { /* \unit[3]{m} of the package units */
        var first = ctx.popToken(), value = delimited(ctx, '[', ']');
        if (/^[-+\d.,]/.test(name_of(value)))
            return in_mode(ctx, text_of(value) + '\\,' + literal_unit(text_of(argument(ctx))));
        ctx.pushTokens([first].concat(value, lex(ctx, ']')).reverse());
    }
    settings_only(ctx, name);
    return in_mode(ctx, unit(ctx, argument(ctx)));
}
function plain_number(ctx, name) {
    settings_only(ctx, name);
    return in_mode(ctx, number(argument(ctx)));
}
function with_unit(value, u) {
    return value + (/^\{\}\^/.test(u) || u === '' ? '' : '\\,') + u;
}
function number_and_unit(ctx, name) {
    settings_only(ctx, name);
    var value = number(argument(ctx));
    if (next(ctx) === '[')
        throw refusal('unknown form', name + ' with a unit before the number');
    return in_mode(ctx, with_unit(value, unit(ctx, argument(ctx))));
}
function listed(separator, with_units, between) {
    return function (ctx, name) {
        settings_only(ctx, name);
        var items = separator ? split(argument(ctx), [separator]) : [argument(ctx), argument(ctx)];
        var u = with_units ? unit(ctx, argument(ctx)) : null;
        return in_mode(ctx, items.map(function (x, i) {
            var shown = u === null ? number(x) : with_unit(number(x), u);
            return (i === 0 ? '' : separator === ';' && i < items.length - 1 ? ',\\ ' : between) + shown;
        }).join(''));
    };
}
function angle_of_degrees(ctx) {
    settings_only(ctx, '\\ang');
    var parts = split(argument(ctx), [';']), signs = ['{}^{\\circ}', '{}^{\\prime}', '{}^{\\prime\\prime}'];
    if (parts.length > 3)
        throw refusal('unknown form', '\\ang');
    return in_mode(ctx, parts.map(function (x, i) {
        return trimmed(x).length ? number(x) + signs[i] : '';
    }).join(''));
}
/* \qty of siunitx has a unit, that of physics a delimiter, or one brace alone. */
function either_quantity(ctx) {
    if (next(ctx) !== '{')
        return quantity(ctx);
    var first = ctx.consumeArg().tokens.reverse();
    if (next(ctx) !== '{')
        return result(fenced(ctx, [], '\\{', first, '\\}'));
    return in_mode(ctx, with_unit(number(first), unit(ctx, argument(ctx))));
}
function siunitx(all) {
    several(all, '\\num \\numproduct \\complexnum \\tablenum', plain_number);
    several(all, '\\si \\unit', plain_unit);
    several(all, '\\SI \\qty \\complexqty', number_and_unit);
    several(all, '\\ang', angle_of_degrees);
    several(all, '\\numlist', listed(';', false, '\\text{ and }'));
    several(all, '\\numrange', listed('', false, '\\text{ to }'));
    several(all, '\\SIlist \\qtylist', listed(';', true, '\\text{ and }'));
    several(all, '\\SIrange \\qtyrange', listed('', true, '\\text{ to }'));
    several(all, '\\qtyproduct', listed('x', true, '\\times '));
    several(all, '\\unitfrac', row('omm', '\\IfValueTF{#1}{#1\\,}{}\\mathrm{#2}/\\mathrm{#3}', '\\unitfrac'));
}
