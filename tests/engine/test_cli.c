/* The command line without a store: arguments, help, and the writers of tables, JSON, .npy,
 * safetensors and TSV against exact bytes. */
#include "base/os.h"
#include "checkpoint.pb-c.h"
#include "cluster.pb-c.h"
#include "engine/cli/console/cli.h"
#include "engine/cli/console/text_table.h"
#include "engine/cli/records/diff.h"
#include "engine/cli/records/place.h"
#include "engine/export/export.h"
#include "engine/export/export_safetensors.h"
#include "engine/export/npy.h"
#include "engine/export/reflect.h"
#include "tests/unit.h"
#include <unistd.h>

struct line {
    struct arena arena;
    struct cli cli;
    struct err err;
    const char *asked;
};

/* Words of a command line, separated by blanks. */
static enum err_code parse(struct line *l, const char *text)
{
    char *argv[32], *copy, *save = NULL;
    int argc = 0;
    memset(l, 0, sizeof *l);
    copy = arena_strdup(&l->arena, text);
    for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
        argv[argc++] = w;
    l->cli = (struct cli){.arena = &l->arena, .out = stdout, .narration = stderr};
    l->cli.commands = cli_commands(&l->cli.n_commands, &l->arena);
    return cli_parse(&l->cli, &l->asked, argc, argv, &l->err);
}

TEST(arguments)
{
    struct line l;
    assert_int_equal(parse(&l, "eqloom --store s run job.yaml a -j2 -k --set x=1 b --set=y=2 "
                               "--json --wait --color never"),
                     OK);
    assert_string_equal(l.cli.command->name, "run");
    assert_string_equal(l.cli.store_named, "s");
    assert_true(l.cli.json);
    assert_false(l.cli.color);
    assert_int_equal(l.cli.n_arguments, 3);
    assert_string_equal(l.cli.arguments[2], "b");
    assert_string_equal(cli_value(&l.cli, "jobs"), "2");
    assert_true(cli_flag(&l.cli, "keep-going"));
    assert_false(cli_flag(&l.cli, "check"));
    assert_string_equal(cli_value(&l.cli, "wait"), "");
    const char *const *sets;
    assert_int_equal(cli_values(&sets, &l.cli, "set"), 2);
    assert_string_equal(sets[0], "x=1");
    assert_string_equal(sets[1], "y=2");
    uint64_t n;
    assert_int_equal(cli_number(&n, &l.cli, "jobs", 0, 1, 99, NULL), OK);
    assert_int_equal(n, 2);
    assert_int_equal(cli_number(&n, &l.cli, "limit", 7, 1, 99, NULL), OK);
    assert_int_equal(n, 7);
    arena_free(&l.arena);
    assert_int_equal(parse(&l, "eqloom run job -kn -j 3 --wait=2.5 -- -x"), OK);
    assert_true(cli_flag(&l.cli, "dry-run"));
    assert_string_equal(cli_value(&l.cli, "wait"), "2.5");
    assert_string_equal(l.cli.arguments[1], "-x");
    arena_free(&l.arena);
}

static void assert_refused(const char *text, const char *message, const char *hint)
{
    struct line l;
    assert_int_equal(parse(&l, text), ERR_INPUT);
    if (!strstr(l.err.message, message) || !strstr(l.err.hint, hint))
        fail_msg("%s: %s (%s)", text, l.err.message, l.err.hint);
    arena_free(&l.arena);
}

TEST(bad_arguments)
{
    assert_refused("eqloom", "needs a command", "--help");
    assert_refused("eqloom runn", "no command 'runn'", "'run'");
    assert_refused("eqloom frobnicate", "no command", "--help");
    assert_refused("eqloom run", "needs more arguments", "eqloom run JOB");
    assert_refused("eqloom run j --keep-goin", "has no option --keep-goin", "'--keep-going'?");
    assert_refused("eqloom run j -z", "has no option -z", "");
    assert_refused("eqloom run j --set", "needs a value", "");
    assert_refused("eqloom run j --json=1", "takes no value", "");
    assert_refused("eqloom run j --color blue", "auto, always or never", "");
    assert_refused("eqloom gc now", "one argument too many", "");
    struct line l;
    uint64_t n;
    assert_int_equal(parse(&l, "eqloom run j -j 0"), OK);
    assert_int_equal(cli_number(&n, &l.cli, "jobs", 0, 1, 99, &l.err), ERR_INPUT);
    arena_free(&l.arena);
}

TEST(requests)
{
    struct line l;
    assert_int_equal(parse(&l, "eqloom run --help"), OK);
    assert_string_equal(l.asked, "help");
    assert_string_equal(l.cli.command->name, "run");
    arena_free(&l.arena);
    assert_int_equal(parse(&l, "eqloom help show"), OK);
    assert_string_equal(l.asked, "help");
    assert_string_equal(l.cli.arguments[0], "show");
    arena_free(&l.arena);
    assert_int_equal(parse(&l, "eqloom ops --markdown"), OK); /* the command's own */
    assert_null(l.asked);
    assert_true(cli_flag(&l.cli, "markdown"));
    arena_free(&l.arena);
}

/* Everything that a command line prints. */
static char *output(int status, const char *const *words)
{
    char *text = NULL;
    size_t len;
    int argc = 0;
    while (words[argc])
        argc++;
    FILE *f = open_memstream(&text, &len);
    assert_int_equal(cli_main(argc, (char **)words, f, f), status);
    fclose(f);
    return text;
}

TEST(help_is_complete)
{
    struct line l;
    assert_int_equal(parse(&l, "eqloom help"), OK);
    for (size_t i = 0; i < l.cli.n_commands; i++) {
        const struct cli_command *command = &l.cli.commands[i];
        const char *words[] = {"eqloom", command->name, "--help", NULL};
        char *text = output(CLI_DONE, words);
        assert_non_null(strstr(text, command->summary));
        assert_true(!command->example || strstr(text, "example:"));
        for (const struct tool_option *o = command->options; o && o->name; o++)
            assert_non_null(strstr(text, o->name));
        for (const char *p = text; *p; p += strcspn(p, "\n") + 1)
            assert_true(strcspn(p, "\n") <= 80);
        free(text);
    }
    for (size_t k = 0; k < 2; k++) {
        const char *words[] = {"eqloom", k ? "--markdown" : "--help", NULL};
        char *text = output(CLI_DONE, words);
        for (size_t i = 0; i < l.cli.n_commands; i++)
            assert_non_null(strstr(text, l.cli.commands[i].name));
        free(text);
    }
    const char *const wrong[] = {"eqloom", "shwo", NULL};
    char *text = output(CLI_USAGE, wrong);
    assert_non_null(strstr(text, "error: there is no command 'shwo'"));
    free(text);
    arena_free(&l.arena);
}

struct memory {
    char *data;
    size_t len;
    FILE *f;
};

static struct memory memory_open(void)
{
    struct memory m = {.f = tmpfile()};
    assert_non_null(m.f);
    return m;
}

static void memory_close(struct memory *m)
{
    fseeko(m->f, 0, SEEK_END);
    m->len = (size_t)ftello(m->f);
    m->data = calloc(1, m->len + 1);
    rewind(m->f);
    assert_int_equal(fread(m->data, 1, m->len, m->f), m->len);
    fclose(m->f);
}

TEST(npy)
{
    float values[] = {1, 2, 3, -0.5f, 0, 8};
    char *text[] = {"x", "sin x"};
    uint8_t source[32] = {0xab, 1};
    Eqloom__EmbeddingBatch b = EQLOOM__EMBEDDING_BATCH__INIT;
    b.dim = 3;
    b.count = 2;
    b.values = (ProtobufCBinaryData){sizeof values, (uint8_t *)values};
    b.n_text = 2;
    b.text = text;
    b.source_id = (ProtobufCBinaryData){32, source};
    struct memory matrix = memory_open(), index = memory_open();
    struct npy npy;
    npy_begin(&npy, matrix.f, index.f);
    assert_int_equal(npy_add(&npy, &b, NULL), OK);
    assert_int_equal(npy_add(&npy, &b, NULL), OK);
    assert_int_equal(npy_end(&npy, NULL), OK);
    memory_close(&matrix);
    memory_close(&index);
    char header[129];
    snprintf(header, sizeof header, "\x93NUMPY\x01%c\x76%c%-117s\n", 0, 0,
             "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }");
    assert_int_equal(matrix.len, 128 + 2 * sizeof values);
    assert_memory_equal(matrix.data, header, 128);
    assert_memory_equal(matrix.data + 128, values, sizeof values);
    assert_memory_equal(matrix.data + 128 + sizeof values, values, sizeof values);
    const char *last = "{\"row\":3,\"batch\":1,\"source\":\"ab0100";
    assert_memory_equal(strstr(index.data, "{\"row\":3"), last, strlen(last));
    assert_non_null(strstr(index.data, "\"text\":\"sin x\"}\n"));
    b.dim = 2; /* contradicts its values */
    assert_int_equal(npy_add(&npy, &b, NULL), ERR_CORRUPT);
    free(matrix.data);
    free(index.data);
}

static enum err_code give_chunk(struct span *out, void *arg, const uint8_t id[32], struct err *e)
{
    static const uint8_t bytes[3][8] = {{1, 2, 3, 4, 5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14}};
    static const size_t len[3] = {8, 4, 2};
    *out = span_of(bytes[id[0]], len[id[0]]);
    return OK;
}

TEST(safetensors)
{
    uint8_t a_ids[64] = {0}, b_ids[32] = {2};
    a_ids[32] = 1;
    uint64_t a_shape[] = {3, 1}, b_shape[] = {1};
    Eqloom__Tensor a = EQLOOM__TENSOR__INIT, b = EQLOOM__TENSOR__INIT, m = EQLOOM__TENSOR__INIT;
    a.name = "w.weight", a.dtype = "f32", a.n_shape = 2, a.shape = a_shape;
    a.chunk_ids = (ProtobufCBinaryData){64, a_ids};
    b.name = "w.bias", b.dtype = "bf16", b.n_shape = 1, b.shape = b_shape;
    b.chunk_ids = (ProtobufCBinaryData){32, b_ids};
    m.name = "adam.m/w.bias", m.dtype = "f32";
    Eqloom__Tensor *tensors[] = {&a, &b, &m};
    Eqloom__Checkpoint c = EQLOOM__CHECKPOINT__INIT;
    c.architecture = "d=1\n", c.step = 7, c.n_tensors = 3, c.tensors = tensors;
    struct memory file = memory_open();
    assert_int_equal(safetensors_write(file.f, &c, give_chunk, NULL, NULL), OK);
    memory_close(&file);
    const char *json =
        "{\"__metadata__\":{\"format\":\"pt\",\"architecture\":\"d=1\\n\",\"step\":\"7\"},"
        "\"w.weight\":{\"dtype\":\"F32\",\"shape\":[3,1],\"data_offsets\":[0,12]},"
        "\"w.bias\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[12,14]}}";
    size_t padded = (strlen(json) + 7) / 8 * 8;
    assert_int_equal(file.len, 8 + padded + 14);
    assert_int_equal((uint8_t)file.data[0], padded & 255);
    assert_memory_equal(file.data + 8, json, strlen(json));
    for (size_t i = strlen(json); i < padded; i++)
        assert_int_equal(file.data[8 + i], ' ');
    for (int i = 0; i < 14; i++)
        assert_int_equal(file.data[8 + padded + (size_t)i], i + 1);
    free(file.data);
    a_shape[0] = 4; /* more than is stored */
    file = memory_open();
    assert_int_equal(safetensors_write(file.f, &c, give_chunk, NULL, NULL), ERR_CORRUPT);
    a_shape[0] = UINT64_MAX;
    assert_int_equal(safetensors_write(file.f, &c, give_chunk, NULL, NULL), ERR_CORRUPT);
    a.dtype = "f8";
    assert_int_equal(safetensors_write(file.f, &c, give_chunk, NULL, NULL), ERR_UNSUPPORTED);
    fclose(file.f);
}

/* A cluster of two members. */
struct cluster {
    Eqloom__Cluster c;
    Eqloom__Expr seed;
    Eqloom__Member m[2], *members[2];
};

static void make_cluster(struct cluster *x)
{
    memset(x, 0, sizeof *x);
    eqloom__cluster__init(&x->c);
    eqloom__expr__init(&x->seed);
    x->seed.prefix = "+ x 1";
    x->c.seed = &x->seed;
    const char *prefixes[] = {"+ x 1", "+ 1\tx\\"};
    for (int i = 0; i < 2; i++) {
        eqloom__member__init(&x->m[i]);
        x->m[i].prefix = (char *)prefixes[i];
        x->m[i].tokens = 3;
        x->m[i].standing = i ? EQLOOM__STANDING__AGREES : EQLOOM__STANDING__PROVED;
        x->members[i] = &x->m[i];
    }
    x->c.members = x->members;
    x->c.n_members = 2;
    x->c.terms = "12345678901234567890";
    x->c.max_tokens = 25;
}

static void assert_written(struct memory *file, const char *expected)
{
    memory_close(file);
    assert_string_equal(file->data, expected);
    free(file->data);
}

TEST(reflection)
{
    struct cluster x;
    make_cluster(&x);
    struct memory file = memory_open();
    reflect_dump(file.f, reflect_json(&x.c.base, REFLECT_INFIX));
    assert_written(&file,
                   "{\"seed\":{\"infix\":\"<+ x 1>\",\"prefix\":\"+ x "
                   "1\",\"variables\":[],\"language\":\"\",\"real_values\":false},"
                   "\"members\":["
                   "{\"infix\":\"<+ x 1>\",\"prefix\":\"+ x "
                   "1\",\"standing\":\"PROVED\",\"tokens\":3,\"witness\":\"\"},"
                   "{\"infix\":\"<+ 1\\tx\\\\>\",\"prefix\":\"+ "
                   "1\\tx\\\\\",\"standing\":\"AGREES\",\"tokens\":3,\"witness\":\"\"}],"
                   "\"terms\":\"12345678901234567890\",\"max_tokens\":25,\"basis\":\"PROOF\"}\n");
    file = memory_open();
    reflect_print(file.f, &x.c.base, REFLECT_INFIX, 1);
    assert_written(&file, "seed: infix: <+ x 1>\n"
                          "members (2):\n"
                          "  - infix: <+ x 1>, standing: PROVED, tokens: 3\n"
                          "  ... 1 more\n"
                          "terms: 12345678901234567890\n"
                          "max_tokens: 25\n");
}

TEST(tsv)
{
    struct cluster x;
    make_cluster(&x);
    struct memory file = memory_open();
    tsv_header(file.f, x.c.base.descriptor);
    tsv_rows(file.f, &x.c.base, 4);
    assert_written(
        &file,
        "index\tinfix\tprefix\tstanding\ttokens\twitness\tseed.infix\tseed.prefix\t"
        "seed.language\tseed.real_values\t"
        "terms\tmax_tokens\tbasis\n"
        "4\t<+ x 1>\t+ x 1\tPROVED\t3\t\t<+ x 1>\t+ x 1\t\tfalse\t12345678901234567890\t25\tPROOF\n"
        "4\t<+ 1\\tx\\\\>\t+ 1\\tx\\\\\tAGREES\t3\t\t<+ x 1>\t+ x 1\t\tfalse\t"
        "12345678901234567890\t25\tPROOF\n");
}

TEST_IN_ARENA(table)
{
    struct memory file = memory_open();
    struct table *t = table_new(a, "name|n|note");
    table_add(t, (const char *const[]){"\xc3\xa4", "10", "x"});
    table_add(t, (const char *const[]){"long", "-", ""});
    table_add(t, (const char *const[]){"b", "2.5%", "two\nlines"});
    table_print(file.f, t);
    assert_written(&file, "name     n  note\n"
                          "\xc3\xa4       10  x\n"
                          "long     -\n"
                          "b     2.5%  two lines\n");
}

TEST(wrap)
{
    struct memory file = memory_open();
    wrap_print(file.f, "one two  three\nfour", 4, 2, 10);
    assert_written(&file, "one\n  two\n  three\n  four\n");
    file = memory_open();
    wrap_print(file.f, "a word-that-is-too-long b", 0, 0, 8);
    assert_written(&file, "a\nword-that-is-too-long\nb\n");
    file = memory_open();
    wrap_print(file.f, "p=1  q=2\n\nz", 0, 4, WRAP_NEVER);
    assert_written(&file, "p=1  q=2\n\n    z\n");
    assert_int_equal(wrap_columns("\xc3\xa4x"), 2);
}

static const struct field_change *find_change(const struct field_changes *f, const char *path)
{
    for (size_t i = 0; i < f->n; i++)
        if (!strcmp(f->rows[i].path, path))
            return &f->rows[i];
    return NULL;
}

TEST_IN_ARENA(diff_fields)
{
    struct cluster x, y;
    struct field_changes f;
    make_cluster(&x);
    make_cluster(&y);
    diff_fields(&f, a, &x.c.base, &y.c.base);
    assert_int_equal(f.n, 0);
    y.seed.prefix = "+ x 2";
    y.c.max_tokens = 30;
    y.members[1] = &y.m[0];
    diff_fields(&f, a, &x.c.base, &y.c.base);
    assert_int_equal(f.n, 3);
    assert_string_equal(find_change(&f, "seed.prefix")->after, "+ x 2");
    assert_string_equal(find_change(&f, "max_tokens")->before, "25");
    assert_string_equal(find_change(&f, "members")->after, "2 items: 1 new, 1 gone");
    make_cluster(&y);
    y.members[0] = &y.m[1];
    y.members[1] = &y.m[0];
    y.c.seed = NULL;
    diff_fields(&f, a, &x.c.base, &y.c.base);
    assert_string_equal(find_change(&f, "members")->after, "2 items: another order");
    assert_string_equal(find_change(&f, "seed")->before, "present");
    /* Figures with names stand side by side, the last of each. */
    Eqloom__Metric m[4], *series[] = {&m[0], &m[1], &m[2], &m[3]};
    for (int i = 0; i < 4; i++) {
        eqloom__metric__init(&m[i]);
        m[i].name = i % 2 ? "rate" : "loss";
        m[i].value = i;
    }
    Eqloom__Checkpoint p = EQLOOM__CHECKPOINT__INIT, q = EQLOOM__CHECKPOINT__INIT;
    p.metrics = q.metrics = series;
    p.n_metrics = 2;
    q.n_metrics = 3;
    diff_fields(&f, a, &p.base, &q.base);
    assert_int_equal(f.n, 2);
    assert_string_equal(find_change(&f, "metrics.loss")->after, "2");
    assert_true(find_change(&f, "metrics.rate")->same);
}

/* ROOT/.eqloom, ROOT/jobs/x.yaml, ROOT/other */
TEST_IN_ARENA(places)
{
    struct cli c = {.arena = a};
    char root[] = "/tmp/test-cli-XXXXXX", *here, *real;
    assert_int_equal(os_realpath(&here, a, ".", NULL), OK);
    assert_non_null(mkdtemp(root));
    assert_int_equal(os_realpath(&real, a, root, NULL), OK);
    char *store = os_join(a, real, ".eqloom"), *jobs = os_join(a, real, "jobs");
    char *other = os_join(a, real, "other");
    assert_int_equal(os_mkdirs(jobs, NULL), OK);
    assert_int_equal(os_mkdirs(other, NULL), OK);
    assert_int_equal(chdir(real), 0);
    assert_string_equal(place_new_store(&c, "jobs/x.yaml"), store);
    assert_int_equal(chdir(other), 0);
    assert_string_equal(place_new_store(&c, "../jobs/x.yaml"), os_join(a, jobs, ".eqloom"));
    assert_null(place_find_store(&c, "../jobs/x.yaml"));
    assert_int_equal(os_mkdirs(store, NULL), OK);
    assert_string_equal(place_find_store(&c, "../jobs/x.yaml"), store);
    assert_string_equal(place_find_store(&c, NULL), store);
    assert_string_equal(place_shown(a, os_join(a, other, "out/p.html")), "out/p.html");
    assert_string_equal(place_shown(a, store), store);
    c.store_named = "given";
    assert_string_equal(place_find_store(&c, NULL), "given");
    assert_int_equal(chdir(here), 0);
    rmdir(store), rmdir(jobs), rmdir(other), rmdir(root);
}
