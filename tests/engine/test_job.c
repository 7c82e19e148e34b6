/* The job file: graphs that it makes, and, from job_errors/, the exact text of every refusal.
 * Runs in tests/engine. EQLOOM_UPDATE_GOLDEN=1 rewrites job_errors/NAME.expected. */
#include "base/io/file_pattern.h"
#include "base/io/out_file.h"
#include "base/os.h"
#include "engine/cli/console/cli.h"
#include "engine/job/job.h"
#include "tests/unit.h"
#include <unistd.h>

#define RULES "  rules: {op: rules, files: job_errors/files/*.rules}\n"
#define SEEDS "  seeds: {op: templates, files: [job_errors/files/seeds.yaml]}\n"
#define EGRAPHS "  egraphs: {op: saturate, exprs: seeds, rules: rules}\n"
#define CLUSTERS "  clusters: {op: extract, egraphs: egraphs, max_tokens: 5, seed: \"${seed}\"}\n"
#define HEAD "eqloom: 1\nname: test\nparams: {seed: 42, pools: [mean, max]}\nnodes:\n"
#define CORPUS HEAD RULES SEEDS EGRAPHS CLUSTERS

static enum err_code load(struct job **job, struct arena *a, const char *text,
                          const struct job_options *options, struct err *e)
{
    /* Beside the files that it names. */
    char path[64];
    snprintf(path, sizeof path, "./job-%ld.tmp", (long)getpid());
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    enum err_code code = job_load(job, a, path, options, e);
    unlink(path);
    return code;
}

static struct job *load_ok(struct arena *a, const char *text, const struct job_options *options)
{
    struct job *job = NULL;
    struct err e = {0};
    if (load(&job, a, text, options, &e)) {
        cli_print_error(stderr, &e, false);
        fail_msg("not loaded");
    }
    return job;
}

static const struct node *node(const struct job *job, const char *name)
{
    for (size_t i = 0; i < job->n_nodes; i++)
        if (!strcmp(job->nodes[i].name, name))
            return &job->nodes[i];
    fail_msg("no node %s", name);
    return NULL;
}

static const char *param(const struct job *job, const char *name, const char *key)
{
    const struct node *n = node(job, name);
    for (size_t i = 0; n->op->params[i].name; i++)
        if (!strcmp(n->op->params[i].name, key))
            return n->params[i].value;
    fail_msg("no parameter %s", key);
    return NULL;
}

static const char *input(const struct job *job, const char *name, size_t port, size_t i)
{
    const struct node_input *in = &node(job, name)->inputs[port];
    assert_true(i < in->n_sources);
    return job->nodes[in->sources[i].node].name;
}

TEST(graph)
{
    struct arena a = {0};
    /* Written backwards: inputs come first, in the order in which they are needed. */
    struct job *job = load_ok(&a, HEAD CLUSTERS EGRAPHS SEEDS RULES, NULL);
    assert_string_equal(job->name, "test");
    assert_int_equal(job->n_nodes, 4);
    assert_string_equal(job->nodes[0].name, "seeds");
    assert_string_equal(job->nodes[1].name, "rules");
    assert_string_equal(job->nodes[2].name, "egraphs");
    assert_string_equal(job->nodes[3].name, "clusters");
    assert_string_equal(input(job, "egraphs", 0, 0), "seeds");
    assert_string_equal(input(job, "egraphs", 1, 0), "rules");
    assert_string_equal(param(job, "clusters", "seed"), "42");
    assert_string_equal(param(job, "egraphs", "max_nodes"), "10000");
    assert_int_equal(node(job, "rules")->n_files, 2);
    assert_string_equal(node(job, "rules")->files[0], "job_errors/files/a.rules");
    assert_string_equal(node(job, "rules")->files[1], "job_errors/files/b.rules");
    arena_free(&a);
}

TEST(canonical_params)
{
    struct arena a = {0};
    struct job *job = load_ok(
        &a,
        CORPUS "  a: {op: train, clusters: clusters, rate: 0.00010, steps: +007, pool: 'max'}\n"
               "  b: {op: train, clusters: clusters, rate: 1e-4}\n"
               "  c: {op: train, clusters: clusters, rate: 0.1}\n"
               "  d: {op: train, clusters: clusters, rate: -0.0}\n"
               "  r: {op: rules, files: job_errors/files/a.rules, groups: [trig, 'log']}\n"
               "  s: {op: rules, files: job_errors/files/a.rules, groups: trig}\n",
        NULL);
    assert_string_equal(param(job, "a", "rate"), "0.0001");
    assert_string_equal(param(job, "a", "steps"), "7");
    assert_string_equal(param(job, "a", "pool"), "max");
    assert_string_equal(param(job, "b", "rate"), "0.0001");
    assert_string_equal(param(job, "c", "rate"), "0.1");
    assert_string_equal(param(job, "d", "rate"), "0");
    assert_string_equal(param(job, "r", "groups"), "trig\nlog");
    assert_string_equal(param(job, "s", "groups"), "trig");
    assert_string_equal(param(job, "rules", "groups"), "");
    job = load_ok(&a,
                  CORPUS "  p: {op: split, clusters: clusters, executor: slurm}\n"
                         "  q: {op: split, clusters: clusters, executor: here}\n",
                  NULL);
    assert_int_equal(node(job, "p")->executor, EXECUTOR_SLURM);
    assert_int_equal(node(job, "q")->executor, EXECUTOR_HERE);
    assert_int_equal(node(job, "rules")->executor, EXECUTOR_ANY);
    arena_free(&a);
}

/* Values are the same parameter if, and only if, they have the same text: of a number the shortest
 * that reads back as it; of lists of any text, one that can be divided again. */
TEST_IN_ARENA(texts_of_values)
{
    static const struct {
        const char *written, *text;
    } rates[] = {{"0.07", "0.07"},
                 {"0.3", "0.3"},
                 {"0.30000000000000004", "0.30000000000000004"},
                 {"0.1234567890123456", "0.1234567890123456"},
                 {"0.069", "0.069"},
                 {"0.999999999999999", "0.999999999999999"},
                 {"+.5", "0.5"},
                 {"1.0", "1"}},
      lists[] = {{"[a, b]", "a\nb"},
                 {"[\"a\\nb\"]", "a\\nb"},
                 {"['a\\nb']", "a\\\\nb"},
                 {"['']", "\\e"},
                 {"['\\e']", "\\\\e"},
                 {"['', '']", "\\e\n\\e"},
                 {"[\"\\n\"]", "\\n"},
                 {"[\"\\n\\n\"]", "\\n\\n"},
                 {"a", "a"},
                 {"[\"a\", \"b\\n\"]", "a\nb\\n"}};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct job *job = load_ok(a,
                                  arena_printf(a,
                                               CORPUS "  t: {op: train, clusters: clusters, "
                                                      "rate: %s}\n",
                                               rates[i].written),
                                  NULL);
        assert_string_equal(param(job, "t", "rate"), rates[i].text);
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *text = arena_printf(a,
                                        CORPUS "  w: {op: rules, files: job_errors/files/a.rules, "
                                               "words: %s}\n",
                                        lists[i].written);
        assert_string_equal(param(load_ok(a, text, NULL), "w", "words"), lists[i].text);
    }
}

TEST_IN_ARENA(substitution)
{
    const char *const sets[] = {"seed=7", "egraphs.iterations=3", "egraphs.max_nodes=99"};
    struct job_options options = {.sets = sets, .n_sets = 3};
    struct job *job = load_ok(
        a,
        "eqloom: 1\nname: t-${seed}\n"
        "params:\n  n: ${seed}0\n  seed: 1\n  file: 'a'\n  groups: [x, y]\nnodes:\n" SEEDS
        "  rules: {op: rules, files: \"job_errors/files/${file}.rules\", groups: \"${groups}\"}\n"
        "  egraphs: {op: saturate, exprs: seeds, rules: rules, iterations: \"${n}\"}\n"
        "  clusters: {op: extract, egraphs: egraphs, max_tokens: \"${n}\", seed: \"${seed}\"}\n"
        "  v: {op: train, clusters: clusters}\n"
        "  e: {op: embed, clusters: clusters, checkpoint: v}\n"
        "  l: {op: evaluate, embeddings: e, label: 'cost $${x} ${seed}'}\n",
        &options);
    assert_string_equal(job->name, "t-7");
    assert_string_equal(param(job, "egraphs", "iterations"), "3");
    assert_string_equal(param(job, "egraphs", "max_nodes"), "99");
    assert_string_equal(param(job, "clusters", "max_tokens"), "70");
    assert_string_equal(param(job, "rules", "groups"), "x\ny");
    assert_string_equal(param(job, "l", "label"), "cost ${x} 7");
    assert_int_equal(node(job, "rules")->n_files, 1);
}

static void assert_set_refused(const char *set, const char *message, const char *hint)
{
    struct arena a = {0};
    struct job *job;
    struct err e = {0};
    struct job_options options = {.sets = &set, .n_sets = 1};
    assert_int_equal(load(&job, &a, CORPUS, &options, &e), ERR_INPUT);
    if (!strstr(e.message, message) || !strstr(e.hint, hint))
        fail_msg("%s (%s), not %s (%s)", e.message, e.hint, message, hint);
    arena_free(&a);
}

TEST(bad_sets)
{
    assert_set_refused("sed=1", "no parameter of this name", "did you mean 'seed'?");
    assert_set_refused("seed", "KEY=VALUE", "");
    assert_set_refused("egraph.iterations=1", "and no such node",
                       "did you mean 'egraphs.iterations'?");
    assert_set_refused("egraphs.iteration=1", "unknown key", "did you mean 'iterations'?");
    assert_set_refused("egraphs.op=train", "cannot change", "");
    assert_set_refused("seed=x", "must be an integer", "");
}

static const char matrix[] = CORPUS
    "  parts: {op: split, clusters: clusters}\n"
    "  model: {op: train, clusters: parts.train, matrix: {pool: \"${pools}\", rate: [0.1, 1e-2]}}\n"
    "  vectors: {op: embed, clusters: parts.test, checkpoint: model}\n"
    "  best: {op: embed, clusters: parts.test, checkpoint: 'model@rate=0.1,pool=max'}\n"
    "  means: {op: embed, clusters: parts.test, checkpoint: model@pool=mean}\n"
    "  again: {op: train, clusters: parts.train, start: model@rate=0.1,\n"
    "          matrix: {pool: \"${pools}\", heads: [1, 2]}}\n"
    "  eval: {op: evaluate, embeddings: vectors, label: e}\n"
    "  page: {op: report, evaluations: [eval, eval@pool=max]}\n"
    "  pages: {op: report, evaluations: eval, checkpoint: model@rate=0.1}\n"
    "refs: {good/one: 'model@pool=max,rate=0.1.checkpoint'}\n"
    "exports: {a/page.html: page.html}\n";

TEST_IN_ARENA(matrix)
{
    struct job *job = load_ok(a, matrix, NULL);
    assert_string_equal(param(job, "model@pool=mean,rate=0.1", "pool"), "mean");
    assert_string_equal(param(job, "model@pool=max,rate=1e-2", "rate"), "0.01");
    assert_string_equal(input(job, "vectors@pool=max,rate=0.1", 1, 0), "model@pool=max,rate=0.1");
    assert_string_equal(input(job, "best", 1, 0), "model@pool=max,rate=0.1");
    assert_string_equal(input(job, "means@rate=1e-2", 1, 0), "model@pool=mean,rate=1e-2");
    assert_string_equal(input(job, "again@pool=max,heads=2", 1, 0), "model@pool=max,rate=0.1");
    assert_string_equal(param(job, "again@pool=max,heads=2", "pool"), "max");
    assert_int_equal(node(job, "page")->inputs[0].n_sources, 6);
    assert_string_equal(input(job, "page", 0, 0), "eval@pool=mean,rate=0.1");
    assert_string_equal(input(job, "page", 0, 4), "eval@pool=max,rate=0.1");
    assert_int_equal(node(job, "pages@pool=mean")->inputs[0].n_sources, 4);
    assert_string_equal(node(job, "best")->base, "best");
    assert_string_equal(node(job, "model@pool=max,rate=1e-2")->base, "model");
    assert_int_equal(job->n_refs, 1);
    assert_string_equal(job->refs[0].name, "good/one");
    assert_string_equal(job->nodes[job->refs[0].target.node].name, "model@pool=max,rate=0.1");
    assert_string_equal(job->exports[0].path, "a/page.html");
    assert_int_equal(job->exports[0].target.output, 1);
    for (size_t i = 0; i < job->n_nodes; i++)
        for (size_t k = 0; job->nodes[i].op->inputs && job->nodes[i].op->inputs[k].role; k++)
            for (size_t s = 0; s < job->nodes[i].inputs[k].n_sources; s++)
                assert_true(job->nodes[i].inputs[k].sources[s].node < i);
}

TEST_IN_ARENA(find)
{
    struct job *job = load_ok(a, matrix, NULL);
    struct {
        const char *name;
        size_t n;
    } cases[] = {
        {"seeds", 1},
        {"model", 4},
        {"model@pool=max", 2},
        {"model@rate=1e-2,pool=max", 1},
        {"model@pool=max,rate=0.1", 1},
        {"parts.train", 1},
        {"eval.html", 4},
        {"eval@pool=max.html", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t *nodes;
        size_t n;
        struct err e = {0};
        assert_int_equal(job_find(&nodes, &n, a, job, cases[i].name, &e), OK);
        if (n != cases[i].n)
            fail_msg("%s: %zu", cases[i].name, n);
    }
    uint32_t *nodes;
    size_t n;
    struct err e = {0};
    assert_int_equal(job_find(&nodes, &n, a, job, "seed", &e), ERR_INPUT);
    assert_string_equal(e.hint, "did you mean 'seeds'?");
    assert_int_equal(job_find(&nodes, &n, a, job, "model@pool=mix", &e), ERR_INPUT);
    assert_int_equal(job_find(&nodes, &n, a, job, "parts.valid", &e), ERR_INPUT);
}

TEST_IN_ARENA(include)
{
    struct job *job = load_ok(a,
                              "eqloom: 1\nname: inc\n"
                              "include: [job_errors/files/more.inc, job_errors/files/more.inc]\n"
                              "nodes:\n  egraphs: {op: saturate, exprs: seeds, rules: rules, "
                              "iterations: \"${seed}\"}\n",
                              NULL);
    assert_int_equal(job->n_nodes, 3);
    assert_string_equal(param(job, "egraphs", "iterations"), "5");
    assert_string_equal(job->nodes[0].name, "rules");
    assert_true(strstr(node(job, "rules")->source->name, "files/more.inc") != NULL);
}

TEST_IN_ARENA(allow_outside)
{
    const char *text = "eqloom: 1\nname: x\nnodes:\n  r: {op: rules, files: ../meson.build}\n";
    struct job *job;
    struct err e = {0};
    assert_int_equal(load(&job, a, text, NULL, &e), ERR_INPUT);
    assert_true(strstr(e.message, "outside") != NULL);
    struct job_options options = {.allow_outside = true};
    assert_int_equal(load_ok(a, text, &options)->nodes[0].n_files, 1);
}

static char *refusal(struct arena *a, const char *path)
{
    struct job *job = NULL;
    struct err e = {0};
    enum err_code code = job_load(&job, a, path, NULL, &e);
    if (code != ERR_INPUT)
        fail_msg("%s: code %d, not refused", path, code);
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    cli_print_error(f, &e, false);
    fclose(f);
    char *copy = arena_strdup(a, text);
    free(text);
    return copy;
}

TEST_IN_ARENA(error_texts)
{
    struct file_matches found;
    size_t failed = 0;
    const char *update = getenv("EQLOOM_UPDATE_GOLDEN");
    assert_int_equal(file_pattern_match(&found, a, ".", "job_errors/*.yaml", NULL, NULL), OK);
    assert_true(found.n > 50);
    for (size_t i = 0; i < found.n; i++) {
        char *path = found.paths[i], *text = refusal(a, path);
        char *expected = arena_printf(a, "%.*s.expected", (int)strlen(path) - 5, path);
        struct span golden = {0};
        if (update && *update == '1') {
            assert_int_equal(out_file_write(expected, text, strlen(text), NULL), OK);
            continue;
        }
        if (os_read_file(&golden, a, expected, 1 << 16, NULL) ||
            !span_equal(golden, span_str(text))) {
            print_error("%s:\n%sexpected:\n%.*s", path, text, (int)golden.len, golden.data);
            failed++;
        }
    }
    assert_int_equal(failed, 0);
}
