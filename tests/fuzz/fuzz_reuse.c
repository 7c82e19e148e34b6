/* reuse_decide on notes of saturation that are damaged or anything at all: it may say that a result
 * stands or not, but reads nothing that is not there. Input: 'R' and the bytes of a note; else
 * pairs of an offset (two bytes) and a mask for the note of a real run. */
#include "tests/fuzz/fuzz.h"

#include "ops/egraph/reuse/saturation_reuse.h"

#include <assert.h>
#include <string.h>

static const char text[] = "group g\n"
                           "double: sin(2 * ?a) -> 2 * sin(?a) * cos(?a)\n"
                           "swap: ?a * ?b -> ?b * ?a\n"
                           "zero: ?a + 0 -> ?a\n";

struct subject {
    struct arena arena;
    struct rules rules;
    struct ruleset *compiled;
    struct reuse_rules *reuse;
    const Eqloom__Rule **records;
    struct span trace;
};

static void make_records(struct subject *s)
{
    s->records = arena_array(&s->arena, const Eqloom__Rule *, s->rules.n);
    for (size_t i = 0; i < s->rules.n; i++) {
        Eqloom__Rule *m = arena_new(&s->arena, Eqloom__Rule);
        rule_to_message(m, &s->arena, &s->rules, &s->rules.rules[i]);
        s->records[i] = m;
    }
}

static void saturate(struct subject *s)
{
    struct expr x;
    struct saturate_result r;
    struct saturate_options o = {
        .iterations = 3, .max_nodes = 100, .match_limit = 1000, .ban_length = 5};
    struct egraph *g = egraph_new(s->rules.lang);
    enum err_code code = expr_from_prefix(&x, &s->arena, s->rules.lang, "* sin * 2 x + y 3", NULL);
    egraph_add_expr(g, &x);
    code = code ? code : egraph_saturate(&r, g, s->compiled, &o, &s->arena, NULL);
    assert(!code);
    code = reuse_trace(&s->trace, &s->arena, s->reuse, &r, g, NULL);
    assert(!code && s->trace.data);
    egraph_free(g);
}

static struct subject *subject(void)
{
    static struct subject s;
    if (s.compiled)
        return &s;
    struct source_text source = {.name = "fuzz", .text = text, .len = strlen(text)};
    s.rules.lang = &lang_calculus;
    enum err_code code = rules_parse(&s.rules, &s.arena, &source, NULL);
    assert(!code);
    rules_sort(&s.rules);
    s.compiled = ruleset_new(&s.rules);
    make_records(&s);
    s.reuse = reuse_rules_new(&s.rules, s.compiled, s.records, EQLOOM__BASIS__PROOF);
    saturate(&s);
    return &s;
}

static struct span note_of(struct arena *a, const struct subject *s, const uint8_t *data,
                           size_t size)
{
    if (size && data[0] == 'R')
        return span_of(data + 1, size - 1);
    uint8_t *note = arena_memdup(a, s->trace.data, s->trace.len);
    for (size_t i = 1; i + 2 < size; i += 3)
        note[(data[i] | (size_t)data[i + 1] << 8) % s->trace.len] ^= data[i + 2];
    return span_of(note, s->trace.len);
}

FUZZ(reuse)
{
    struct subject *s = subject();
    static const uint64_t added[] = {2, 0};
    const Eqloom__Rule *gone[] = {s->records[1]};
    struct reuse_change *change = reuse_change_new(s->reuse, added, size % 3, gone, size / 3 % 2);
    struct span note = note_of(a, s, data, size), united;
    struct reuse_answer answer;
    if (!reuse_decide(&answer, a, note, change, NULL) && answer.stands)
        assert(answer.by_pattern + answer.by_signature <= size % 3);
    /* The same together with a sound one: what stands then, stands by either. */
    struct span both[] = {s->trace, note};
    struct reuse_answer together, alone;
    if (!reuse_unite(&united, a, both, 2, NULL) &&
        !reuse_decide(&together, a, united, change, NULL) && together.stands)
        assert(!reuse_decide(&alone, a, s->trace, change, NULL) && alone.stands);
    reuse_change_free(change);
}
