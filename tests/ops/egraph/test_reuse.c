/* Reuse by proof, the property: whenever an earlier saturation is said to stand under edited rules,
 * a run from scratch gives the very same record. Random rule sets, terms, budgets and edits; the
 * seed is printed and may be given in EQLOOM_TEST_SEED. */
#include "tests/ops/egraph/help_edits.h"
#include "tests/ops/egraph/help_reuse.h"

enum { TRIALS = CASES(3000, 600), EDITS = 4, TERMS = 3 };

/* ---- the property ---- */

struct tally {
    int asked, stood, by_pattern, by_signature, could, together;
    int stood_after[EDIT_KINDS];
};

static void count(struct tally *t, const struct asked *asked, enum edit kind)
{
    const struct reuse_answer *answer = &asked->answer;
    t->asked++;
    t->could += asked->same;
    t->stood += answer->stands;
    t->stood_after[kind] += answer->stands;
    t->by_pattern += answer->stands && answer->by_pattern > 0;
    t->by_signature += answer->stands && answer->by_signature > 0;
}

/* One edit, asked of each run, and of all by their traces united, as blocks are: the first ones,
 * then these and the others. */
static void ask_all(struct tally *t, struct arena *a, const struct change *c,
                    struct action_result *made, const struct buf *text,
                    const struct saturate_options *o, enum edit kind)
{
    struct err e = {0};
    struct span traces[TERMS], united;
    struct reuse_answer answer;
    bool each = true;
    for (size_t i = 0; i < TERMS; i++) {
        struct asked asked = ask(a, c, &made[i], text[i].data, o);
        traces[i] = made[i].trace;
        each &= asked.answer.stands;
        count(t, &asked, kind);
    }
    assert_int_equal(reuse_unite(&united, a, traces, 2, &e), OK);
    traces[1] = united;
    assert_int_equal(reuse_unite(&united, a, traces + 1, TERMS - 1, &e), OK);
    assert_int_equal(reuse_decide(&answer, a, united, c->change, &e), OK);
    t->together += answer.stands;
    if (answer.stands && !each)
        fail_msg("%s ...: said to stand together, and do not each", text[0].data);
}

static struct saturate_options random_options(struct rng *r)
{
    return (struct saturate_options){
        .iterations = 1 + (uint32_t)rng_below(r, 6),
        .max_nodes = 20 + (uint32_t)rng_below(r, 400),
        .max_matches = rng_below(r, 4) ? 0 : 1 + rng_below(r, 100),
        .match_limit = 1 + (uint32_t)rng_below(r, 30),
        .ban_length = (uint32_t)rng_below(r, 4),
    };
}

static void run_trial(struct tally *t, struct rng *r, bool large)
{
    struct arena a = {0};
    struct set s = {0};
    struct buf text[TERMS] = {0};
    struct action_result made[TERMS];
    struct change c;
    struct saturate_options o = random_options(r);
    bool failed = false;
    /* of few rules all may rest at a time; of none, none is ever searched for */
    for (uint64_t n = rng_below(r, large ? SET_MAX - 4 : 4); n > 0; n--)
        add_rule(&s, any_rule(r), r);
    compile_rules(&c.before, &a, rules_of_set(&a, &s));
    for (size_t i = 0; i < TERMS; i++) {
        random_term(&text[i], r, &words, 1 + (unsigned)rng_below(r, 4));
        made[i] = make(&a, &c.before, text[i].data, &o);
        failed |= made[i].failed;
    }
    for (int k = 0; k < EDITS && !failed; k++) {
        struct set edited = s;
        enum edit kind = edit_set(&edited, &a, r);
        for (uint64_t n = rng_below(r, 3); n > 0; n--)
            edit_set(&edited, &a, r);
        compile_rules(&c.now, &a, rules_of_set(&a, &edited));
        c.change = change_between(&c.before, &c.now, &a);
        ask_all(t, &a, &c, made, text, &o, kind);
        reuse_change_free(c.change);
        release(&c.now);
    }
    release(&c.before);
    for (size_t i = 0; i < TERMS; i++)
        buf_free(&text[i]);
    arena_free(&a);
}

TEST(what_stands_is_the_same)
{
    struct rng r = rng_new(test_seed(1), 0);
    struct tally t = {0};
    for (int trial = 0; trial < TRIALS; trial++)
        run_trial(&t, &r, trial % 2 == 0);
    print_message(
        "%d asked, %d stood (%d with rules refuted by their patterns, %d by signature), %d "
        "together; %d would have been the same\n",
        t.asked, t.stood, t.by_pattern, t.by_signature, t.together, t.could);
    assert_true(t.by_pattern > t.asked / 50 && t.by_signature > t.asked / 50);
    assert_true(t.together > 0 && t.could > t.stood);
    for (int k = 0; k < EDIT_KINDS; k++)
        assert_true(t.stood_after[k] > 0);
}
