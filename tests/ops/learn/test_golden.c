/* Losses, gradients and three steps equal PyTorch's (computed there in double) on the same weights
 * and batch, to 1e-4 relative, with every set of instructions that this machine has. The golden
 * files come from tests/golden/make_torch_golden.py, which also describes them. */
#include "base/isa.h"
#include "base/os.h"
#include "tests/ops/learn/trainers.h"

static void assert_close(const float *x, const float *y, const struct nn_param *p, uint32_t d,
                         const char *what)
{
    /* The bias of the keys shifts all scores of a row alike: its gradient is zero but for rounding,
     * and what AdamW makes of that is noise. */
    bool in_bias = strstr(p->name, "in_proj_bias") != NULL;
    assert_near(x, y, p, in_bias ? d : 0, in_bias ? 2 * d : 0, 0, what);
}

static uint32_t *take_u32(struct arena *a, struct reader *r, size_t n)
{
    uint32_t *values = arena_array(a, uint32_t, n);
    take(values, r, n * sizeof *values);
    return values;
}

/* What the file says before the parameters. */
struct golden {
    struct nn_config model;
    struct transformer_config how;
    struct examples batch;
    double losses[3];
};

enum { MAGIC = 0x54515445 };

static void take_batch(struct golden *g, struct arena *a, struct reader *in, uint32_t n,
                       uint32_t tokens)
{
    uint32_t *offset = take_u32(a, in, n + 1);
    g->batch.inputs = (struct nn_sequences){take_u32(a, in, tokens), offset, n};
    g->batch.group = take_u32(a, in, n);
}

static void take_head(struct golden *g, struct arena *a, struct reader *in)
{
    uint32_t head[11], sizes[7] = {0};
    float how[4], margin;
    take(head, in, sizeof head);
    g->model = (struct nn_config){.vocabulary = head[1],
                                  .d_model = head[2],
                                  .layers = head[3],
                                  .heads = head[4],
                                  .d_ff = head[5],
                                  .max_length = head[6],
                                  .positions = (enum nn_positions)head[7],
                                  .activation = (enum gpu_activation)head[8],
                                  .pooling = (enum gpu_pooling)head[9],
                                  .attention_bias = head[10]};
    if (head[0] == MAGIC) {
        take(sizes, in, 2 * sizeof *sizes);
        take_batch(g, a, in, 2 * sizes[0], sizes[1]);
        g->how.examples.batch = sizes[0];
    } else if (head[0] == MAGIC + 2) {
        take(sizes, in, sizeof sizes);
        take_batch(g, a, in, sizes[5] * (2 + sizes[1]), sizes[6]);
        take(&margin, in, sizeof margin);
        g->how = (struct transformer_config){
            .examples = {(enum objective_kind)sizes[0], .batch = sizes[5], .negatives = sizes[1]},
            .margin = margin,
            .squared = sizes[2] == 1,
            .euclidean = sizes[2] == 2,
            .swap = sizes[3],
            .maxsim = sizes[2] == 3,
            .optimizer.kind = sizes[4] ? OPTIMIZER_ADAM : OPTIMIZER_ADAMW};
    } else {
        assert_int_equal(head[0], MAGIC + 1);
        take(sizes, in, 5 * sizeof *sizes);
        uint32_t n = sizes[2], *offset = take_u32(a, in, n + 1);
        g->model.decoder_layers = sizes[0];
        g->model.tied_output = sizes[1];
        g->batch.inputs = (struct nn_sequences){take_u32(a, in, sizes[3]), offset, n};
        offset = take_u32(a, in, n + 1);
        g->batch.targets = (struct nn_sequences){take_u32(a, in, sizes[4]), offset, n};
        g->how.examples = (struct examples_config){.objective = OBJECTIVE_SEQ2SEQ, .batch = n};
    }
    take(how, in, sizeof how);
    take(g->losses, in, sizeof g->losses);
    g->how.temperature = g->how.smoothing = how[0];
    g->how.optimizer.schedule.lr = how[1];
    g->how.optimizer.weight_decay = how[2];
    g->how.optimizer.clip = how[3];
    g->how.optimizer.beta1 = 0.9;
    g->how.optimizer.beta2 = 0.999;
    g->how.optimizer.eps = 1e-8;
}

static void check_file_on(const char *name, const char *isa)
{
    struct arena a = {0};
    struct span file;
    struct golden g = {0};
    struct session s;
    struct step_result r;
    char *path = arena_printf(&a, "%s/%s", GOLDEN_DIR, name);
    assert_int_equal(os_read_file(&file, &a, path, 1 << 20, NULL), OK);
    struct reader in = {file.data, file.data + file.len};
    take_head(&g, &a, &in);
    const struct nn_table *t = &session_open_trainer(&s, isa, &g.model, &g.how)->table;
    assert_int_equal(in.end - in.at, 3 * t->count * sizeof(float));
    float *gradient = arena_array(&a, float, t->total), *after = arena_array(&a, float, t->total);
    for (size_t i = 0; i < t->n; i++) {
        size_t at = t->params[i].at, bytes = t->params[i].size * sizeof(float);
        take(s.state.weights + at, &in, bytes);
        take(gradient + at, &in, bytes);
        take(after + at, &in, bytes);
    }
    assert_int_equal(trainer_write(s.trainer, &s.state, NULL), OK);
    assert_int_equal(trainer_gradient(&r, s.gradient, s.trainer, &g.batch, NULL), OK);
    for (size_t i = 0; i < t->n; i++)
        assert_close(s.gradient + t->params[i].at, gradient + t->params[i].at, &t->params[i],
                     g.model.d_model, "gradient");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(trainer_step_on(&r, s.trainer, &g.batch, NULL), OK);
        if (!(fabs(r.loss / g.losses[i] - 1) < 1e-4))
            fail_msg("%s on %s: loss %d is %.9g, PyTorch's %.9g", name, isa, i + 1, r.loss,
                     g.losses[i]);
    }
    assert_int_equal(trainer_read(&s.state, s.trainer, NULL), OK);
    for (size_t i = 0; i < t->n; i++)
        assert_close(s.state.weights + t->params[i].at, after + t->params[i].at, &t->params[i],
                     g.model.d_model, "value after three steps");
    session_close(&s);
    arena_free(&a);
}

static void check_file(const char *name)
{
    static const char *const isas[] = {"base", "avx2", "avx512", "amx"};
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        if (cpu_supports(isas[i]))
            check_file_on(name, isas[i]);
}

TEST(relu)
{
    check_file("torch-relu.bin");
}

TEST(gelu)
{
    check_file("torch-gelu.bin");
}

TEST(seq2seq)
{
    check_file("torch-seq2seq.bin");
}

TEST(autoencode)
{
    check_file("torch-autoencode.bin");
}

TEST(vectors)
{
    check_file("torch-negatives.bin");
    check_file("torch-triplet.bin");
    check_file("torch-swapped.bin");
    check_file("torch-siamese.bin");
    check_file("torch-euclidean.bin");
    check_file("torch-histogram.bin");
    check_file("torch-histogram-own.bin");
    check_file("torch-maxsim.bin");
}
