/* The shipped rules: all operators, no producers of junk among those that are on. That every one is
 * certified and proved is test_tool.c's. */
#include "base/map.h"
#include "base/os.h"
#include "ops/expr/own/operator_files.h"
#include "tests/ops/library.h"

TEST_IN_ARENA(each_language_has_rules)
{
    assert_true(library_rules(a, &lang_calculus).n >= 800);
    assert_true(library_rules(a, &lang_boolean).n >= 50);
    assert_true(library_rules(a, &lang_polynomial).n >= 30);
}

TEST_IN_ARENA(all_operators_occur)
{
    struct rules rules = library_rules(a, &lang_calculus);
    struct err e = {0};
    assert_int_equal(rules_select(&rules, NULL, 0, NULL, 0, &e), OK);
    bool left[X_DECLARED] = {0}, right[X_DECLARED] = {0};
    for (size_t i = 0; i < rules.n; i++) {
        for (uint32_t k = 0; k < rules.rules[i].lhs.n; k++)
            left[rules.rules[i].lhs.nodes[k].op] = true;
        for (uint32_t k = 0; k < rules.rules[i].rhs.n; k++)
            right[rules.rules[i].rhs.nodes[k].op] = true;
    }
    for (int op = X_ADD; op < X_DECLARED; op++)
        if (!left[op] || !right[op])
            fail_msg("no rule has %s on its %s side", lang_calculus.ops[op].name,
                     left[op] ? "right" : "left");
}

/* A rule whose left side is a leaf matches everything, or every 0: only groups that are off. */
TEST_IN_ARENA(rules_that_are_on_make_no_junk)
{
    struct rules rules = library_rules(a, &lang_calculus);
    size_t off = 0;
    for (size_t i = 0; i < rules.n; i++) {
        const struct rule *r = &rules.rules[i];
        off += r->off;
        if (r->off != (strncmp(r->group, "junk.", 5) == 0))
            fail_msg("%s/%s: off or not", r->group, r->name);
        if (!r->off && r->lhs.n == 1)
            fail_msg("%s/%s matches every term", r->group, r->name);
        if (expr_equal(&r->lhs, &r->rhs))
            fail_msg("%s/%s says nothing", r->group, r->name);
    }
    assert_true(off > 0 && off < rules.n / 10);
}

/* x in prefix tokens, its variables numbered as they occur (names[0..*n), growing). */
static void add_key(struct buf *out, const struct expr *x, const char **names, size_t *n)
{
    for (uint32_t i = 0; i < x->n; i++) {
        const struct expr_node *node = &x->nodes[i];
        size_t v = 0;
        while (node->op == X_VAR && v < *n && strcmp(names[v], node->leaf) != 0)
            v++;
        if (node->op == X_VAR && v == *n)
            names[(*n)++] = node->leaf;
        if (node->op == X_VAR)
            buf_printf(out, " ?%zu", v);
        else
            buf_printf(out, " %s", node->leaf ? node->leaf : x->lang->ops[node->op].name);
    }
}

/* The same for rules that differ by the names of variables alone. */
static char *rule_key(struct arena *a, const struct rule *r)
{
    const char *names[64];
    size_t n = 0;
    struct buf b = {0};
    add_key(&b, &r->lhs, names, &n);
    buf_puts(&b, " ->");
    add_key(&b, &r->rhs, names, &n);
    for (size_t i = 0; i < r->n_conditions; i++) {
        buf_printf(&b, ", %s", rule_predicate_name(r->conditions[i].predicate));
        for (unsigned k = 0; k < r->conditions[i].n_args; k++)
            add_key(&b, &r->conditions[i].args[k], names, &n);
    }
    return buf_text(&b, a);
}

TEST_IN_ARENA(no_rule_is_given_twice)
{
    struct rules rules = library_rules(a, &lang_calculus);
    struct name_map seen = {0};
    for (size_t i = 0; i < rules.n; i++) {
        const struct rule *r = &rules.rules[i];
        bool added;
        uint64_t *first = name_map_put(&seen, rule_key(a, r), i, &added);
        if (!added)
            fail_msg("%s/%s is %s/%s", r->group, r->name, rules.rules[*first].group,
                     rules.rules[*first].name);
    }
    name_map_free(&seen);
}

/* ---- docs/rules.md ---- */

static size_t family_length(const struct rule *r)
{
    return strcspn(r->group, ".");
}

/* A line for each family: its groups, each with the number of its rules. */
static void write_table(struct buf *out, const struct rules *rules)
{
    for (size_t i = 0, next; i < rules->n; i = next) {
        const struct rule *first = &rules->rules[i];
        size_t length = family_length(first);
        struct buf groups = {0};
        for (next = i; next < rules->n;) {
            const char *group = rules->rules[next].group;
            size_t begin = next;
            assert_non_null(strchr(group, '.')); /* families are what stands before it */
            if (family_length(&rules->rules[next]) != length ||
                memcmp(group, first->group, length) != 0)
                break;
            while (next < rules->n && strcmp(rules->rules[next].group, group) == 0)
                next++;
            buf_printf(&groups, "%s`%s` %zu", groups.len ? ", " : "", group + length + 1,
                       next - begin);
        }
        buf_printf(out, "| `%.*s` | %zu | ", (int)length, first->group, next - i);
        buf_add(out, groups.data, groups.len);
        buf_puts(out, " |\n");
        buf_free(&groups);
    }
}

TEST_IN_ARENA(the_documented_counts_are_true)
{
    static const char begin[] = "EQLOOM_UPDATE_GOLDEN=1 -->\n", end[] = "<!-- end -->";
    struct buf table = {0};
    struct err e = {0};
    struct span text;
    buf_puts(&table, "| family | rules | groups |\n|---|---|---|\n");
    const struct language *lang = &lang_calculus;
    assert_int_equal(operators_shipped(&lang, a, &e), OK);
    struct rules calculus = library_rules(a, lang), boolean = library_rules(a, &lang_boolean);
    struct rules polynomial = library_rules(a, &lang_polynomial);
    write_table(&table, &calculus);
    write_table(&table, &boolean);
    write_table(&table, &polynomial);
    buf_printf(&table, "| all | %zu | |\n", calculus.n + boolean.n + polynomial.n);
    assert_int_equal(os_read_file(&text, a, RULES_DOC, 1 << 20, &e), OK);
    char *doc = arena_strndup(a, (const char *)text.data, text.len);
    char *from = strstr(doc, begin), *to = strstr(doc, end);
    assert_true(from && to && from < to);
    from += strlen(begin);
    const char *update = getenv("EQLOOM_UPDATE_GOLDEN");
    if (update && *update) {
        FILE *f = fopen(RULES_DOC, "w");
        assert_non_null(f);
        fprintf(f, "%.*s%.*s%s", (int)(from - doc), doc, (int)table.len, table.data, to);
        assert_int_equal(fclose(f), 0);
    } else if ((size_t)(to - from) != table.len || memcmp(from, table.data, table.len) != 0) {
        fail_msg("the table of docs/rules.md is not that of the library: see its comment");
    }
    buf_free(&table);
}
