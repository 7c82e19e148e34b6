/* The targets of examples, damaged batches, and learning-rate schedules. */
#include "ops/learn/data/examples.h"
#include "ops/learn/train/schedule.h"
#include "tests/ops/learn/toy.h"
#include "tests/unit.h"

/* One batch may hold several clusters, in any order; what stands alone is left out. */
TEST(mixed_batch)
{
    uint32_t tokens[] = {3, 4, 5, 6, 7, 8}, offset[] = {0, 1, 2, 4, 5, 6},
             cluster[] = {9, 2, 9, 5, 2};
    Eqloom__TokenBatch b;
    struct dataset d = {0};
    toy_view(&b, tokens, offset, cluster, 5);
    assert_int_equal(dataset_add(&d, &b, 9, 2, NULL), OK);
    assert_int_equal(d.clusters, 2);
    assert_int_equal(d.singles, 1);
    uint32_t want[] = {1, 4, 0, 2};
    assert_memory_equal(d.member, want, sizeof want);
    assert_int_equal(d.offset[3] - d.offset[2], 2);

    assert_int_equal(dataset_shortest(&d, 0), 1); /* of 4 and 8 */
    assert_int_equal(dataset_shortest(&d, 1), 0); /* of 3 and 5 6 */

    assert_int_equal(token_batch_check(&b, 8, 2, NULL), ERR_INPUT); /* token 8 */
    assert_int_equal(token_batch_check(&b, 9, 1, NULL), ERR_LIMIT);
    offset[2] = 1;
    assert_int_equal(token_batch_check(&b, 9, 9, NULL), ERR_CORRUPT); /* an empty sequence */
    offset[2] = UINT32_MAX;
    assert_int_equal(token_batch_check(&b, 9, 9, NULL), ERR_CORRUPT);
    offset[2] = 2;
    b.n_tokens = 5;
    assert_int_equal(token_batch_check(&b, 9, 9, NULL), ERR_CORRUPT);
    b.n_tokens = 6;
    b.n_cluster = 4;
    assert_int_equal(token_batch_check(&b, 9, 9, NULL), ERR_CORRUPT);
    dataset_free(&d);
}

/* Which sequence of the dataset is number i of s, by its tokens. */
static size_t sequence_of(const struct dataset *d, const struct nn_sequences *s, size_t i)
{
    size_t n = s->offset[i + 1] - s->offset[i];
    for (size_t k = 0; k < d->sequences; k++)
        if (d->offset[k + 1] - d->offset[k] == n &&
            memcmp(d->tokens + d->offset[k], s->tokens + s->offset[i], n * sizeof *s->tokens) == 0)
            return k;
    fail_msg("number %zu is not of the dataset", i);
    return 0;
}

enum { SHORTEST = 3, TARGET_MEMBERS = 4, TARGET_BATCH = 12 };

/* Members 5 6 c, 5 c, 3 4 c and 3 c: two are short, the last comes first by its numbers. */
static void add_target_cluster(struct dataset *d, uint32_t c)
{
    uint32_t tokens[] = {5, 6, c, 5, c, 3, 4, c, 3, c}, offset[] = {0, 3, 5, 8, 10};
    uint32_t cluster[TARGET_MEMBERS] = {0};
    Eqloom__TokenBatch b;
    toy_view(&b, tokens, offset, cluster, TARGET_MEMBERS);
    assert_int_equal(dataset_add(d, &b, TOY_VOCABULARY, 11, NULL), OK);
}

/* How often each member comes first and second in many batches. */
static void count_pairs(size_t first[TARGET_MEMBERS], size_t second[TARGET_MEMBERS],
                        const struct dataset *d, const struct examples_config *how)
{
    struct arena a = {0};
    struct example_sampler sampler;
    example_sampler_init(&sampler, d, 7, how->batch);
    for (uint64_t index = 0; index < 40; index++) {
        struct examples x;
        examples_gather(&x, &a, &sampler, how, false, index);
        bool writes = objective_generates(how->objective);
        for (size_t i = 0; i < how->batch; i++) {
            size_t p = sequence_of(d, &x.inputs, i);
            size_t q = sequence_of(d, writes ? &x.targets : &x.inputs, writes ? i : how->batch + i);
            assert_true(p != q && p / TARGET_MEMBERS == q / TARGET_MEMBERS);
            first[p % TARGET_MEMBERS]++;
            second[q % TARGET_MEMBERS]++;
        }
        arena_reset(&a);
    }
    example_sampler_free(&sampler);
    arena_free(&a);
}

/* The target is always the cluster's shortest, and never the input; unless that is asked for, any
 * member is either. */
TEST(targets)
{
    static const enum objective_kind objectives[] = {OBJECTIVE_SEQ2SEQ, OBJECTIVE_CONTRASTIVE};
    struct dataset d = {0};
    for (uint32_t c = 10; c < 16; c++)
        add_target_cluster(&d, c);
    for (size_t o = 0; o < 2; o++)
        for (int any = 0; any < 2; any++) {
            struct examples_config how = {.objective = objectives[o],
                                          .target = any ? TARGET_ANY : TARGET_SHORTEST,
                                          .batch = TARGET_BATCH};
            size_t first[TARGET_MEMBERS] = {0}, second[TARGET_MEMBERS] = {0};
            count_pairs(first, second, &d, &how);
            for (size_t m = 0; m < TARGET_MEMBERS; m++) {
                assert_int_equal(first[m] > 0, any || m != SHORTEST);
                assert_int_equal(second[m] > 0, any || m == SHORTEST);
            }
        }
    dataset_free(&d);
}

static void assert_lr(const struct schedule *s, uint64_t step, double want)
{
    if (fabs(schedule_lr(s, step) - want) > 1e-12)
        fail_msg("lr at step %d: %.12g, expected %.12g", (int)step, schedule_lr(s, step), want);
}

TEST(schedules)
{
    struct schedule s = {.kind = SCHEDULE_CONSTANT,
                         .lr = 1,
                         .lr_min = 0.1,
                         .warmup = 4,
                         .steps = 14,
                         .period = 10,
                         .growth = 2};
    assert_lr(&s, 0, 0.25);
    assert_lr(&s, 3, 1);
    assert_lr(&s, 1000, 1);
    s.kind = SCHEDULE_LINEAR;
    assert_lr(&s, 4, 1);
    assert_lr(&s, 9, 0.55);
    assert_lr(&s, 14, 0.1);
    assert_lr(&s, 99, 0.1);
    s.kind = SCHEDULE_STEP; /* every 3 steps a half, from step 4 on, down to lr_min */
    s.every = 3;
    s.factor = 0.5;
    assert_lr(&s, 6, 1);
    assert_lr(&s, 7, 0.5);
    assert_lr(&s, 12, 0.25);
    assert_lr(&s, 99, 0.1);
    s.kind = SCHEDULE_COSINE;
    assert_lr(&s, 4, 1);
    assert_lr(&s, 9, 0.55);
    assert_lr(&s, 14, 0.1);
    s.kind = SCHEDULE_RESTARTS; /* periods of 10, 20, 40 steps from step 4 on */
    assert_lr(&s, 9, 0.55);
    assert_lr(&s, 14, 1);
    assert_lr(&s, 24, 0.55);
    assert_lr(&s, 34, 1);
    assert_lr(&s, 54, 0.55);
    s.growth = 1;
    assert_lr(&s, 4 + 10 * 1000 + 5, 0.55);
}
