/* Symbols of fonts that KaTeX lacks: each kind of atom with pairs of a name and a character. */
var SYMBOLS = {
    mathop: 'fint ⨍ sqint ⨖ varoiint ∯ ointctrclockwise ∳ varointclockwise ∲ ointclockwise ∱ ' +
        'iiiint ⨌ idotsint ∫⋯∫ bigtimes ⨉ bigsqcap ⨅ bigboxplus ⊞ bigparr ⅋ bigwith & biginterleave ⫼',
    mathbin: 'fatsemi ⨾ sslash ⫽ parr ⅋ bindnasrepma ⅋ with & varotimes ⊗ varoplus ⊕ varodot ⊙ ' +
        'obar ⌽ merge ⨀ interleave ⫴ nplus ⩁ boxbar ◫ boxslash ⧄ boxbslash ⧅ boxcircle ⧇ boxbox ⧈ ' +
        'ogreaterthan ⧁ olessthan ⧀ medcirc ⚬ medbullet ⚫ smallsquare ▫',
    mathrel: 'eqqcolon ≕ mapsfrom ↤ Mapsto ⤇ Mapsfrom ⤆ longmapsfrom ⟻ Longmapsto ⟾ Longmapsfrom ⟽ ' +
        'leftarrowtriangle ⇽ rightarrowtriangle ⇾ leftrightarrowtriangle ⇿ shortrightarrow → shortleftarrow ← ' +
        'shortuparrow ↑ shortdownarrow ↓ inplus ⨭ niplus ⨮ subsetplus ⪿ supsetplus ⫀ trianglelefteqslant ⊴ ' +
        'trianglerighteqslant ⊵ lightning ↯ rightarrowtail ↣ nrightarrowtail ↛ ' +
        'nequiv ≢ napprox ≉ nsimeq ≄ nsubset ⊄ nsupset ⊅ nin ∉ notni ∌ owns ∋ nprecsim ⋨ nsuccsim ⋩ ' +
        'varpropto ∝ leadsto ⇝ rightsquigarrow ⇝ longrightsquigarrow ⟿ multimapinv ⟜ multimapboth ⧟ Perp ⫫ ' +
        'upmodels ⫫ dashrightarrow ⇢ dashleftarrow ⇠ circeq ≗ ' +
        'corresponds ≙ hateq ≙ wasytherefore ∴ models ⊨ strictif ⥽ strictfi ⥼ looparrowright ↬ ' +
        'curlyveeuparrow ⋎ lhook ↩ nsqsubseteq ⋢ nsqsupseteq ⋣ nmodels ⊭ coh ⌢ incoh ⌣ sincoh ⌣ scoh ⌢ ' +
        'longleftharpoondown ⥞ dasharrow ⇢',
    mathinner: 'iddots ⋰ adots ⋰ Ldots … Cdots ⋯ Vdots ⋮ Ddots ⋱ Iddots ⋰',
    mathord: 'varnothing ∅ cent ¢ textcent ¢ celsius ℃ micro µ ohm Ω perthousand ‰ L Ł l ł guillemotleft « guillemotright » upalpha α upbeta β upgamma γ updelta δ upepsilon ϵ upvarepsilon ε upzeta ζ upeta η ' +
        'uptheta θ upvartheta ϑ upiota ι upkappa κ uplambda λ upmu μ upnu ν upxi ξ uppi π upvarpi ϖ uprho ρ ' +
        'upsigma σ upvarsigma ς uptau τ upupsilon υ upphi ϕ upvarphi φ upchi χ uppsi ψ upomega ω ' +
        'Upgamma Γ Updelta Δ Uptheta Θ Uplambda Λ Upxi Ξ Uppi Π Upsigma Σ Upphi Φ Uppsi Ψ Upomega Ω ' +
        'alphaup α betaup β gammaup γ deltaup δ epsilonup ϵ muup μ piup π sigmaup σ ' +
        'astrosun ☉ Sun ☉ Earth ⊕ Moon ☽ Mercury ☿ Venus ♀ Mars ♂ Jupiter ♃ Saturn ♄ Uranus ♅ Neptune ♆ ' +
        'male ♂ female ♀ mars ♂ venus ♀ smiley ☺ frownie ☹ blacksmiley ☻ danger ☡ checkmark ✓ XSolidBrush ✗ ' +
        'diameter ⌀ invdiameter ⍉ varhash # Bracevert ⎪ bracevert ⎪ hexagon ⬡ pentagon ⬠ octagon ⯃ ' +
        'Square □ CheckedBox ☑ XBox ☒ Circle ○ CIRCLE ● Lightning ↯ ' +
        'textdegree ° degree ° textmu µ texteuro € euro € textperthousand ‰ permil ‰ textohm Ω ' +
        'textbullet • textrightarrow → textleftarrow ← texttimes × textdiv ÷ textpm ± ' +
        'eighthnote ♪ twonotes ♫ phone ☎ HandRight ☞ ' +
        'mho ℧ Finv Ⅎ Game ⅁ beth ℶ gimel ℷ daleth ℸ hslash ℏ lambdabar ƛ lambdaslash ƛ partialslash ∂̸ ' +
        'increment ∆ qoppa ϙ sampi ϡ stigma ϛ digamma ϝ Koppa Ϟ koppa ϟ'
};
/* The characters of \ding that papers use. */
var DING = { 51: '✓', 52: '✔', 53: '✕', 54: '✖', 55: '✗', 56: '✘', 70: '✦', 72: '★', 73: '☆', 108: '●', 109: '❍',
    110: '■', 111: '❏', 115: '▲', 116: '▼', 117: '◆', 118: '❖', 172: '①', 173: '②', 174: '③', 175: '④', 176: '⑤',
    177: '⑥', 178: '⑦', 179: '⑧', 180: '⑨', 181: '⑩', 182: '❶', 183: '❷', 184: '❸', 185: '❹', 186: '❺', 187: '❻',
    188: '❼', 189: '❽', 190: '❾', 191: '❿', 192: '➀', 193: '➁', 194: '➂', 195: '➃', 196: '➄', 202: '➊', 203: '➋',
    204: '➌', 205: '➍', 206: '➎', 212: '➔', 220: '➜', 221: '➝', 222: '➞', 232: '➨', 233: '➩' };

function define_symbols(all) {
    for (var kind in SYMBOLS) {
        var words = SYMBOLS[kind].split(' ');
        for (var i = 0; i + 1 < words.length; i += 2)
            if (!probe.isDefined('\\' + words[i]))
                all['\\' + words[i]] = row('', '\\' + kind + '{\\text{' + words[i + 1].replace(/[&#]/, '\\$&') + '}}', words[i]);
    }
    all['\\ding'] = function (ctx) {
        var c = own(DING, name_of(argument(ctx)));
        if (!c)
            throw refusal('unknown form', '\\ding');
        return result(lex(ctx, '\\text{' + c + '}'));
    };
}
