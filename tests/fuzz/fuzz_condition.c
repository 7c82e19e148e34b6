/* Conditions of queries: whatever the text, a condition that can be asked of a message or one error
 * with a place. */
#include "checkpoint.pb-c.h"
#include "cluster.pb-c.h"
#include "engine/cli/condition.h"
#include "report.pb-c.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const char *text, const ProtobufCMessage *m)
{
    struct arena a = {0};
    struct err e = {0};
    struct condition c;
    struct condition_facts facts = {.op = "extract", .time_ns = 1, .size = 4096};
    if (!condition_parse(&c, &a, text, m->descriptor, &e)) {
        condition_matches(&c, m, &facts);
        if (!condition_shown(&a, &c, m, &facts))
            __builtin_trap();
    } else if (!e.message[0]) {
        __builtin_trap();
    }
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    Eqloom__Expr seed = EQLOOM__EXPR__INIT;
    seed.prefix = "+ sin x 1";
    Eqloom__Member member = EQLOOM__MEMBER__INIT, *members[] = {&member};
    Eqloom__Cluster cluster = EQLOOM__CLUSTER__INIT;
    cluster.seed = &seed;
    cluster.members = members;
    cluster.n_members = 1;
    Eqloom__Value value = EQLOOM__VALUE__INIT, *values[] = {&value};
    value.name = "mrr";
    Eqloom__Report report = EQLOOM__REPORT__INIT;
    report.values = values;
    report.n_values = 1;
    Eqloom__Checkpoint checkpoint = EQLOOM__CHECKPOINT__INIT;
    ask(text, &cluster.base);
    ask(text, &report.base);
    ask(text, &checkpoint.base);
    free(text);
    return 0;
}
