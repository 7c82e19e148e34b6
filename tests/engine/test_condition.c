/* Conditions of queries: what they say of messages, and where they are refused. */
#include "cluster.pb-c.h"
#include "engine/cli/condition.h"
#include "report.pb-c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    Eqloom__Cluster cluster;
    Eqloom__Expr seed;
    Eqloom__Member members[3], *member_list[3];
    uint8_t id[32];
    Eqloom__Report report;
    Eqloom__Value values[3], *value_list[3];
};

static const struct condition_facts facts = {
    .op = "train", .time_ns = 1795312800000000000, .size = 3000};

static void make(struct fixture *f)
{
    static const char *const prefixes[] = {"+ sin x 1", "+ asin x 1", "* 2 cosh x"};
    static const char *const names[] = {"mrr", "a b.mrr", "mrr"};
    memset(f, 0, sizeof *f);
    eqloom__cluster__init(&f->cluster);
    eqloom__expr__init(&f->seed);
    eqloom__report__init(&f->report);
    f->seed.prefix = (char *)prefixes[0];
    f->cluster.seed = &f->seed;
    f->id[0] = 0x62;
    f->id[1] = 0xe0;
    f->cluster.egraph_id = (ProtobufCBinaryData){32, f->id};
    f->cluster.terms = "12345678901234567890";
    for (int i = 0; i < 3; i++) {
        eqloom__member__init(&f->members[i]);
        f->members[i].prefix = (char *)prefixes[i];
        f->members[i].tokens = 4;
        f->members[i].standing = i ? EQLOOM__STANDING__AGREES : EQLOOM__STANDING__PROVED;
        f->member_list[i] = &f->members[i];
        eqloom__value__init(&f->values[i]);
        f->values[i].name = (char *)names[i];
        f->values[i].value = 0.25 * (i + 1);
        f->value_list[i] = &f->values[i];
    }
    f->cluster.members = f->member_list;
    f->cluster.n_members = 3;
    f->report.title = "A report, of sorts";
    f->report.values = f->value_list;
    f->report.n_values = 3;
}

static bool holds(const ProtobufCMessage *m, const char *text)
{
    struct arena a = {0};
    struct err e = {0};
    struct condition c;
    if (condition_parse(&c, &a, text, m->descriptor, &e))
        fail_msg("%s: %s", text, e.message);
    bool yes = condition_matches(&c, m, &facts);
    arena_free(&a);
    return yes;
}

static void test_holds(void **state)
{
    struct fixture f;
    make(&f);
    const ProtobufCMessage *c = &f.cluster.base, *r = &f.report.base;
    static const char *const yes[] = {"members=3",
                                      "members>2",
                                      "members>=3",
                                      "members!=4",
                                      "members",
                                      " members < 4 ",
                                      "seed.prefix~sin",
                                      "seed.prefix~\"sin x\"",
                                      "seed.prefix!~asin",
                                      "seed.prefix~*in",
                                      "seed.prefix=\"+ sin x 1\"",
                                      "seed.prefix",
                                      "members.prefix~asin",
                                      "members.prefix~cos*",
                                      "members.standing=AGREES",
                                      "members.standing=proved",
                                      "members.tokens<=4",
                                      "terms>1e19",
                                      "egraph_id=62e0",
                                      "egraph_id=62E0",
                                      "egraph_id!=62e1",
                                      "unsound=false",
                                      "seed.variables=0",
                                      "max_tokens=0.0",
                                      "members>3 or members=3",
                                      "unsound or members or max_tokens",
                                      "seed.prefix~cos or seed.prefix~\"or\" or terms>1 ",
                                      "@op=train",
                                      "@op!=embed",
                                      "@op~tr*",
                                      "@size>2.5K",
                                      "@size=3000",
                                      "@size<1M or unsound",
                                      "@time>2026-11-01",
                                      "@time<2027-01-01T12:30",
                                      "@time>=2000-02-29 23:59:59"};
    static const char *const no[] = {"members>3",
                                     "members<3",
                                     "seed.prefix~asin",
                                     "seed.prefix~si",
                                     "seed.prefix!~sin",
                                     "members.prefix~cos",
                                     "members.standing=REFUTED",
                                     "members.tokens>4",
                                     "unsound",
                                     "max_tokens",
                                     "seed.language",
                                     "seed.variables",
                                     "egraph_id=62e1",
                                     "seed.prefix~xx*",
                                     "members>3 or unsound",
                                     "@op=embed",
                                     "@size>1G",
                                     "@time<2026-11-01"};
    static const char *const report_yes[] = {
        "values.mrr=0.75", "values.\"a b.mrr\"<=.5", "values.\"a b\".mrr=0.5", "values>2",
        "title~sorts",     "values.value=0.25",      "values.name=\"a b.mrr\""};
    static const char *const report_no[] = {"values.mrr=0.25", "values.none>0", "values.none",
                                            "values.none!=1", "title~sort"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!holds(c, yes[i]))
            fail_msg("does not hold: %s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (holds(c, no[i]))
            fail_msg("holds: %s", no[i]);
    for (size_t i = 0; i < sizeof report_yes / sizeof *report_yes; i++)
        if (!holds(r, report_yes[i]))
            fail_msg("does not hold: %s", report_yes[i]);
    for (size_t i = 0; i < sizeof report_no / sizeof *report_no; i++)
        if (holds(r, report_no[i]))
            fail_msg("holds: %s", report_no[i]);
}

static void refused(const char *text, int column, const char *message, const char *hint)
{
    struct arena a = {0};
    struct err e = {0};
    struct condition c;
    assert_int_equal(condition_parse(&c, &a, text, &eqloom__cluster__descriptor, &e), ERR_INPUT);
    if (e.column != column || !strstr(e.message, message) || !strstr(e.hint, hint))
        fail_msg("%s: column %d: %s (%s)", text, e.column, e.message, e.hint);
    arena_free(&a);
}

static void test_refusals(void **state)
{
    refused("", 1, "begins with a field's name", "");
    refused("=3", 1, "field's name", "");
    refused("members.", 9, "field's name is missing", "");
    refused("membrs>3", 1, "no field 'membrs'", "'members'");
    refused("members.prefx~x", 9, "no field 'prefx'", "'prefix'");
    refused("zzzzzzzz", 1, "no field", "fields are seed, egraph_id");
    refused("members 3", 9, "operator is missing", "!~");
    refused("members>", 9, "value is missing", "");
    refused("members>many", 9, "only numbers", "");
    refused("members>nan", 9, "only numbers", "");
    refused("seed~x", 1, "name one of its fields, like seed.prefix", "");
    refused("terms.x=1", 7, "'terms' has no fields", "");
    refused("seed.prefix=\"x", 13, "never closed", "");
    refused("seed.prefix=\"x\" y", 17, "nothing but 'or' can follow", "");
    refused("members>3 or", 13, "begins with a field's name", "");
    refused("members>3 or membrs=1", 14, "no field 'membrs'", "'members'");
    refused("members>or x", 9, "value is missing", "");
    refused("members=3 or seed~x", 14, "name one of its fields", "");
    refused("@ops=train", 1, "there is no '@ops'", "@size");
    refused("@op", 4, "compared with something", "");
    refused("@op or unsound", 4, "compared with something", "");
    refused("@op.x=1", 5, "has no fields", "");
    refused("@op<train", 5, "no op is less", "");
    refused("@time=2026-11-22", 7, "with < <= > >=", "@time");
    refused("@time>yesterday", 7, "'yesterday' is no time", "@time");
    refused("@time>2026-06-31", 7, "is no time", "@time");
    refused("@size>big", 7, "'big' is no size", "1.5M");
    refused("@size>1X", 7, "is no size", "");
    refused("@size~1", 7, "holds no words", "");
    refused("a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=1", 33, "more than 16", "");
}

static void test_shown(void **state)
{
    struct fixture f;
    struct arena a = {0};
    struct condition c;
    make(&f);
    const ProtobufCMessage *m = &f.cluster.base;
    assert_int_equal(condition_parse(&c, &a, "members>1", m->descriptor, NULL), OK);
    assert_string_equal(condition_shown(&a, &c, m, &facts), "3");
    assert_int_equal(condition_parse(&c, &a, "members.prefix~cosh", m->descriptor, NULL), OK);
    assert_string_equal(condition_shown(&a, &c, m, &facts), "* 2 cosh x");
    assert_string_equal(c.path, "members.prefix");
    f.cluster.seed = NULL;
    assert_int_equal(condition_parse(&c, &a, "seed.prefix~x", m->descriptor, NULL), OK);
    assert_string_equal(condition_shown(&a, &c, m, &facts), "");
    assert_false(condition_matches(&c, m, &facts));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holds),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
