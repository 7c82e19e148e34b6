/* Templates: the language, its refusals, stability of choices, and the shipped files. */
#include "base/os.h"
#include "ops/corpus/template/templates.h"
#include "tests/ops/expr/balls.h"
#include "tests/unit.h"

struct fixture {
    struct arena arena;
    struct source_text source;
    struct templates t;
    struct err err;
};

static enum err_code expand(struct fixture *f, const char *text, uint64_t seed, uint64_t limit)
{
    f->source = (struct source_text){"t.yaml", text, strlen(text)};
    struct templates_options options = {.seed = seed, .limit = limit};
    err_clear(&f->err);
    return templates_expand(&f->t, &f->arena, &f->source, 1, &options, &f->err);
}

static void must_expand(struct fixture *f, const char *text, uint64_t seed, uint64_t limit)
{
    if (expand(f, text, seed, limit))
        fail_msg("%d:%d: %s", f->err.line, f->err.column, f->err.message);
}

/* The expressions as infix, joined by "; ". */
static char *joined(struct fixture *f)
{
    struct buf b = {0};
    for (size_t i = 0; i < f->t.n; i++) {
        buf_puts(&b, i ? "; " : "");
        expr_write_infix(&b, &f->t.exprs[i]);
    }
    return buf_text(&b, &f->arena);
}

static void gives(const char *yaml, const char *expected)
{
    struct fixture f = {0};
    must_expand(&f, yaml, 0, 0);
    assert_string_equal(joined(&f), expected);
    arena_free(&f.arena);
}

TEST(language)
{
    gives("templates: 1\n"
          "sets: {n: [-2..-1, 3], f: [sin, exp]}\n"
          "groups: {g: {templates: ['x + {n}', '{f}({n}*x)']}}\n",
          "x - 2; x - 1; x + 3; sin(-2*x); sin(-x); sin(3*x); e^(-2*x); e^(-x); e^(3*x)");
    /* The same placeholder twice is one value; with a suffix it is another. */
    gives("templates: 1\n"
          "sets: {n: [1, 2]}\n"
          "groups: {g: {templates: ['{n}*x^{n}', '{n}*x + {n.2}']}}\n",
          "1*x^1; 2*x^2; 1*x + 1; 1*x + 2; 2*x + 1; 2*x + 2");
    /* Signs: x - -3 is x + 3; equal trees come once, in the first group that gives them. */
    gives("templates: 1\n"
          "sets: {n: [-3, 3]}\n"
          "groups: {g: {templates: ['x - {n}']}, h: {templates: ['x + {n}', 'x*{n}', 'y + "
          "{n}/x']}}\n",
          "x + 3; x - 3; x*(-3); x*3; y - 3/x; y + 3/x");
    /* {it} is what other groups keep, whole. */
    gives("templates: 1\n"
          "groups:\n"
          "  g: {templates: ['x', 'x + 1']}\n"
          "  h: {templates: ['y']}\n"
          "  i: {of: [g], templates: ['2*{it}']}\n"
          "  j: {of: [i, h], templates: ['d(x, {it})'], max_tokens: 6}\n",
          "x; x + 1; y; 2*x; 2*(x + 1); d(x, 2*x); d(x, y)");
}

static void refuses(const char *yaml, int line, int column, const char *message, const char *hint)
{
    struct fixture f = {0};
    assert_int_equal(expand(&f, yaml, 0, 0), ERR_INPUT);
    if (!strstr(f.err.message, message) || f.err.line != line || f.err.column != column ||
        !strstr(f.err.hint, hint))
        fail_msg("%d:%d: %s (%s)", f.err.line, f.err.column, f.err.message, f.err.hint);
    arena_free(&f.arena);
}

TEST(refusals)
{
#define GROUP(g) "templates: 1\nsets: {func: [sin], n: [1..3]}\ngroups: {g: {" g "}}\n"
    refuses("", 1, 1, "the template file is empty", "");
    refuses("groups: {}\n", 1, 1, "begins with 'templates: 1'", "");
    refuses("templates: 2\ngroups: {}\n", 1, 12, "begins with 'templates: 1'", "");
    refuses("templates: 1\n", 1, 1, "has no 'groups'", "");
    refuses("templates: 1\nset: {}\n", 2, 1, "set", "sets");
    refuses("templates: 1\nsets: {n: [3..2]}\ngroups: {}\n", 2, 12, "the range 3..2 is empty", "");
    refuses("templates: 1\nsets: {n: []}\ngroups: {}\n", 2, 11, "set 'n' is empty", "");
    refuses("templates: 1\nsets: {n: [1..99999]}\ngroups: {}\n", 2, 12, "more than 10000 values",
            "");
    refuses("templates: 1\nsets: {it: [1]}\ngroups: {}\n", 2, 8, "'it' cannot name a set", "");
    refuses(GROUP("take: 3"), 3, 10, "group 'g' has no 'templates'", "");
    refuses(GROUP("templates: ['{funk}(x)']"), 3, 27, "unknown set 'funk'", "did you mean 'func'?");
    refuses(GROUP("templates: ['1 + {func(x)']"), 3, 31, "this '{' is never closed", "");
    refuses("templates: 1\nsets: {n: [1]}\ngroups:\n  g:\n    templates:\n    - >-\n      {funk}\n",
            6, 7, "unknown set 'funk'", "");
    refuses(GROUP("templates: ['{func}(x']"), 3, 26,
            "this gives 'sin(x': this parenthesis is never closed", "");
    refuses(GROUP("templates: ['x {n}']"), 3, 26,
            "this gives 'x 1': an operator is missing before '1'", "write x*1");
    refuses(GROUP("templates: ['{it} + 1']"), 3, 27, "name them in 'of'", "");
    refuses(GROUP("of: [h], templates: ['{it}']"), 3, 19, "there is no group 'h' before", "");
    refuses(GROUP("per: n, templates: ['{n}']"), 3, 19, "'per' needs 'take'", "");
    refuses(GROUP("take: 1, per: m, templates: ['{n}']"), 3, 28, "unknown set 'm'", "");
    refuses(GROUP("take: 1, per: n, templates: ['x']"), 3, 43, "which this template does not use",
            "");
    refuses(GROUP("take: 0, templates: ['x']"), 3, 20, "'take' must be a whole number", "");
    refuses(GROUP("takes: 1, templates: ['x']"), 3, 14, "takes", "take");
    refuses("templates: 1\nsets: {n: [1..200]}\ngroups: {g: {templates: ['x+{n}+{n.2}+{n.3}']}}\n",
            3, 26, "this template makes 8000000 expressions; limit them with 'take'", "");
    refuses("templates: 1\nvariables: {y: reel}\ngroups: {}\n", 2, 16, "unknown domain 'reel'",
            "did you mean 'real'?");
    refuses("templates: 1\nlanguage: bool\ngroups: {}\n", 2, 11, "unknown language 'bool'", "");
    refuses("templates: 1\nlanguage: polynomial\ngroups: {g: {templates: ['x^2']}}\n", 3, 26,
            "this gives 'x^2': unexpected '^'", "");
    refuses(
        "templates: 1\nsets: {n: [1..1000]}\ngroups:\n  g: {templates: ['{n} + {n.2}*x'], take: "
        "100000}\n",
        4, 19, "compares 1.6e+09 values, at most 1e+09 are allowed: lower 'take'", "");
#undef GROUP
}

static size_t common(struct fixture *f, struct fixture *g)
{
    size_t n = 0;
    for (size_t i = 0; i < f->t.n; i++)
        for (size_t j = 0; j < g->t.n; j++)
            n += expr_equal(&f->t.exprs[i], &g->t.exprs[j]);
    return n;
}

/* Adding a value moves the choice in its proportion, for small products and for drawn ones. */
TEST(choices_are_stable)
{
    static const char *const files[][2] = {
        {"templates: 1\nsets: {n: [1..40]}\ngroups: {g: {take: 100, templates: ['{n}*x + {n.2}']}}",
         "templates: 1\nsets: {n: [1..41]}\ngroups: {g: {take: 100, templates: ['{n}*x + "
         "{n.2}']}}"},
        {"templates: 1\nsets: {n: [1..40]}\ngroups: {g: {take: 100, templates: ['{n}*x^{n.2} + "
         "{n.3}']}}",
         "templates: 1\nsets: {n: [0..40]}\ngroups: {g: {take: 100, templates: ['{n}*x^{n.2} + "
         "{n.3}']}}"},
    };
    for (int i = 0; i < 2; i++) {
        struct fixture f = {0}, g = {0}, h = {0};
        must_expand(&f, files[i][0], 1, 0);
        must_expand(&g, files[i][1], 1, 0);
        must_expand(&h, files[i][0], 2, 0);
        assert_int_equal(f.t.n, 100);
        assert_int_equal(g.t.n, 100);
        assert_true(common(&f, &g) > 80 && common(&f, &g) < 100);
        assert_true(common(&f, &h) < 40);
        arena_free(&f.arena);
        arena_free(&g.arena);
        arena_free(&h.arena);
    }
}

TEST(take_per)
{
    struct fixture f = {0};
    const char *yaml = "templates: 1\nsets: {n: [1..9], f: [sin, cos]}\n"
                       "groups: {g: {take: 3, per: f, templates: ['{f}({n}*x)', '{n}*{f}(x)']}}";
    must_expand(&f, yaml, 0, 0);
    assert_int_equal(f.t.n, 6);
    size_t sines = 0;
    for (size_t i = 0; i < f.t.n; i++)
        sines += strstr(expr_prefix(&f.arena, &f.t.exprs[i]), "sin") != NULL;
    assert_int_equal(sines, 3);
    char *all = joined(&f);
    must_expand(&f, yaml, 0, 4); /* fewer of the same, in the same order */
    assert_int_equal(f.t.n, 4);
    const char *at = all;
    for (size_t i = 0; i < 4; i++) {
        at = strstr(at, expr_infix(&f.arena, &f.t.exprs[i]));
        assert_non_null(at);
    }
    arena_free(&f.arena);
}

/* A variable that the file declares may have several letters. */
TEST(declared_names)
{
    struct fixture f = {0};
    must_expand(&f,
                "templates: 1\nvariables: {speed: real, d: real}\n"
                "groups: {g: {templates: ['2 speed + d']}, h: {of: [g], templates: ['{it}*d']}}",
                0, 0);
    Eqloom__Expr m;
    templates_to_message(&m, &f.arena, &f.t, 1);
    assert_string_equal(m.prefix, "* + * 2 speed \"d\" \"d\"");
    assert_int_equal(m.n_variables, 2);
    arena_free(&f.arena);
}

TEST(domains)
{
    struct fixture f = {0};
    const char *yaml = "templates: 1\nvariables: {z: complex, y: real, x: positive}\n"
                       "groups: {g: {templates: ['x*y', 'x', 'z + y']}}";
    must_expand(&f, yaml, 0, 0);
    Eqloom__Expr m;
    templates_to_message(&m, &f.arena, &f.t, 0);
    assert_string_equal(m.prefix, "* x y");
    assert_int_equal(m.n_variables, 1);
    assert_string_equal(m.variables[0]->name, "y");
    assert_string_equal(m.variables[0]->domain, "real");
    templates_to_message(&m, &f.arena, &f.t, 1);
    assert_int_equal(m.n_variables, 0);
    templates_to_message(&m, &f.arena, &f.t, 2);
    assert_int_equal(m.n_variables, 2);
    assert_string_equal(m.variables[1]->name, "z");
    arena_free(&f.arena);
}

TEST(languages)
{
    struct fixture f = {0};
    const char *yaml = "templates: 1\nlanguage: boolean\nsets: {op: ['&', '=>']}\n"
                       "groups: {g: {templates: ['a {op} not(b)']}}";
    must_expand(&f, yaml, 0, 0);
    assert_int_equal(f.t.n, 2);
    Eqloom__Expr m;
    templates_to_message(&m, &f.arena, &f.t, 1);
    assert_string_equal(m.prefix, "implies a not b");
    assert_string_equal(m.language, "boolean");
    struct source_text both[] = {
        {"a.yaml", yaml, strlen(yaml)},
        {"b.yaml", "templates: 1\ngroups: {g: {templates: [x]}}", 0},
    };
    struct templates t;
    struct templates_options options = {0};
    both[1].len = strlen(both[1].text);
    assert_int_equal(templates_expand(&t, &f.arena, both, 2, &options, &f.err), ERR_INPUT);
    assert_non_null(strstr(f.err.message, "b.yaml: templates of the calculus language"));
    arena_free(&f.arena);
}

/* Loads a shipped file of so many seeds; each operator is to occur in at least `least` of them. exp
 * is counted as pow e. */
static void load_seeds(struct fixture *f, const char *name, size_t low, size_t high, size_t least)
{
    size_t counts[X_DECLARED + 1] = {0};
    struct span bytes;
    char *path = os_join(&f->arena, EQLOOM_TEMPLATES, name);
    assert_int_equal(os_read_file(&bytes, &f->arena, path, 1 << 20, NULL), OK);
    must_expand(f, (const char *)bytes.data, 0, 0);
    if (f->t.n < low || f->t.n > high)
        fail_msg("%zu seeds", f->t.n);
    for (size_t i = 0; i < f->t.n; i++) {
        bool seen[X_DECLARED + 1] = {0};
        const struct expr *x = &f->t.exprs[i];
        for (uint32_t k = 0; k < x->n; k++) {
            seen[x->nodes[k].op] = true;
            if (x->nodes[k].op == X_POW && x->nodes[k + 1].op == X_SYM &&
                strcmp(x->nodes[k + 1].leaf, "e") == 0)
                seen[X_DECLARED] = true;
        }
        for (int op = 0; op <= X_DECLARED; op++)
            counts[op] += seen[op];
    }
    for (int op = X_ADD; op <= X_DECLARED; op++)
        if (counts[op] < least)
            fail_msg("%s occurs in %zu seeds only",
                     op == X_DECLARED ? "exp" : lang_calculus.ops[op].name, counts[op]);
    for (size_t i = 0; i < f->t.n; i++)
        for (size_t j = i + 1; j < f->t.n; j++)
            if (expr_equal(&f->t.exprs[i], &f->t.exprs[j]))
                fail_msg("%s occurs twice", expr_infix(&f->arena, &f->t.exprs[i]));
}

TEST(quickstart)
{
    struct fixture f = {0};
    load_seeds(&f, "quickstart.yaml", 320, 400, 8);
    struct ball_options options = {.points = 12};
    for (size_t i = 0; i < f.t.n; i++) {
        struct expr *x = &f.t.exprs[i];
        if (expr_tokens(x) > 12)
            fail_msg("%s has %u tokens", expr_infix(&f.arena, x), expr_tokens(x));
        struct ball_reference *r = ball_reference_new(x, &options);
        struct ball_compare c;
        if (ball_reference_points(r) < 12)
            fail_msg("%s is hardly defined", expr_infix(&f.arena, x));
        for (size_t j = i + 1; j < f.t.n; j++) {
            ball_reference_compare(&c, r, &f.t.exprs[j]);
            if (c.verdict != BALL_DIFFERENT)
                fail_msg("%s and %s are equal", expr_infix(&f.arena, x),
                         expr_infix(&f.arena, &f.t.exprs[j]));
        }
        ball_reference_free(r);
    }
    arena_free(&f.arena);
}

TEST(e_gen)
{
    struct fixture f = {0};
    size_t derivatives = 0;
    load_seeds(&f, "e-gen.yaml", 5200, 5500, 100);
    for (size_t i = 0; i < f.t.n; i++)
        derivatives += f.t.exprs[i].nodes[0].op == X_D;
    if (derivatives < 2550)
        fail_msg("%zu derivatives", derivatives);
    arena_free(&f.arena);
}

TESTS_AROUND(NULL, balls_clean)
