/* The examples that networks on images learn from: against what the corpus says of them. */
#include "base/rng.h"
#include "ops/learn/image/image_corpus.h"
#include "tests/unit.h"

enum { IMAGES = 40, PAPERS = 7, LABELS = 9 };

/* Image i is of paper i * i % PAPERS, so that papers differ in size, and has some labels. */
static bool has_label(uint32_t image, uint32_t label)
{
    return rng_at(3, image, label) % 3 == 0;
}

static uint32_t paper_of(uint32_t image)
{
    return image * image % PAPERS;
}

static void fill_corpus(struct image_corpus *c)
{
    static uint8_t pixels[IMAGE_PIXELS];
    *c = (struct image_corpus){0};
    for (uint32_t i = 0; i < IMAGES; i++) {
        char name[8];
        uint32_t own[LABELS];
        Eqloom__Place place = EQLOOM__PLACE__INIT;
        Eqloom__Image image = EQLOOM__IMAGE__INIT;
        Eqloom__Labels labels = EQLOOM__LABELS__INIT;
        snprintf(name, sizeof name, "%u", paper_of(i));
        place.paper = name;
        pixels[0] = (uint8_t)i;
        image.place = &place;
        image.width = IMAGE_WIDTH;
        image.height = IMAGE_HEIGHT;
        image.pixels = (ProtobufCBinaryData){IMAGE_PIXELS, pixels};
        labels.labels = own;
        for (uint32_t k = 0; k < LABELS; k++)
            if (has_label(i, k))
                own[labels.n_labels++] = k;
        assert_int_equal(image_corpus_add(c, &image, &labels, NULL), OK);
        image.width--;
        assert_int_equal(image_corpus_add(c, &image, &labels, NULL), ERR_INPUT);
    }
    image_corpus_close(c);
}

static void check_example(const struct image_example *x, enum image_task task)
{
    uint32_t paper = paper_of(x->image[0]);
    switch (task) {
    case IMAGE_LABELS: assert_int_equal(has_label(x->image[0], x->label), x->right); break;
    case IMAGE_SIAMESE:
        assert_int_not_equal(x->image[0], x->image[1]);
        assert_int_equal(paper_of(x->image[1]) == paper, x->right);
        break;
    case IMAGE_TRIPLES:
        assert_int_not_equal(x->image[0], x->image[1]);
        assert_int_equal(paper_of(x->image[1]), paper);
        assert_int_not_equal(paper_of(x->image[2]), paper);
        break;
    }
}

/* Each anchor once an epoch; each image, and each label it has not, as likely as the others. */
static void check_task(const struct image_corpus *c, enum image_task task, uint64_t seed)
{
    enum { EPOCHS = 300 };
    struct image_sampler x, again;
    uint32_t count[IMAGES] = {0}, right = 0, drawn[IMAGES > LABELS ? IMAGES : LABELS] = {0};
    assert_int_equal(
        image_sampler_init(&x, c, task, IMAGE_NEGATIVES_ONE, LABELS, seed, "images", NULL), OK);
    assert_int_equal(
        image_sampler_init(&again, c, task, IMAGE_NEGATIVES_ONE, LABELS, seed, "images", NULL), OK);
    for (uint64_t k = 0; k < EPOCHS * x.anchors.n; k++) {
        struct image_example one = image_sampler_draw(&x, k);
        check_example(&one, task);
        count[one.image[0]]++;
        right += one.right;
        if (!one.right || task == IMAGE_TRIPLES)
            drawn[task == IMAGE_LABELS ? one.label : one.image[task]]++;
        for (size_t i = 0; i < IMAGES && (k + 1) % x.anchors.n == 0; i++)
            assert_true(count[i] == 0 || count[i] == (k + 1) / x.anchors.n);
    }
    if (task != IMAGE_TRIPLES)
        assert_in_range(right, EPOCHS * x.anchors.n * 45 / 100, EPOCHS * x.anchors.n * 55 / 100);
    for (size_t i = 0; i < (task == IMAGE_LABELS ? LABELS : IMAGES); i++)
        assert_true(drawn[i] > 0);
    /* Any example without the ones before it. */
    struct image_example late = image_sampler_draw(&again, 5 * x.anchors.n + 3),
                         same = image_sampler_draw(&x, 5 * x.anchors.n + 3);
    assert_memory_equal(late.image, same.image, sizeof late.image);
    assert_int_equal(late.label, same.label);
    image_sampler_free(&x);
    image_sampler_free(&again);
}

TEST_IN_ARENA(odds)
{
    struct image_corpus c;
    fill_corpus(&c);
    const double *odds = image_corpus_odds(a, &c, LABELS + 1);
    for (uint32_t k = 0; k <= LABELS; k++) {
        double with = 0.5, without = 0.5;
        for (uint32_t i = 0; i < IMAGES; i++)
            *(k < LABELS && has_label(i, k) ? &with : &without) += 1;
        assert_true(fabs(odds[k] - log(with / without)) < 1e-12);
    }
    image_corpus_free(&c);
}

TEST(examples)
{
    struct image_corpus c;
    uint64_t seed = test_seed(8);
    fill_corpus(&c);
    assert_int_equal(c.papers, 4); /* squares modulo 7 */
    check_task(&c, IMAGE_LABELS, seed);
    check_task(&c, IMAGE_SIAMESE, seed);
    check_task(&c, IMAGE_TRIPLES, seed);
    image_corpus_free(&c);
}

/* Absent labels in proportion to their frequency to the power 0.75, among those absent. */
TEST(frequent)
{
    enum { EPOCHS = 2000 };
    struct image_corpus c;
    struct image_sampler x;
    double expected[LABELS] = {0};
    uint32_t drawn[LABELS] = {0};
    fill_corpus(&c);
    assert_int_equal(image_sampler_init(&x, &c, IMAGE_LABELS, IMAGE_NEGATIVES_FREQUENT, LABELS,
                                        test_seed(9), "images", NULL),
                     OK);
    for (uint64_t k = 0; k < EPOCHS * x.anchors.n; k++) {
        struct image_example one = image_sampler_draw(&x, k);
        check_example(&one, IMAGE_LABELS);
        if (one.right)
            continue;
        drawn[one.label]++;
        double weight[LABELS], total = 0;
        for (uint32_t y = 0; y < LABELS; y++) {
            double have = 0;
            for (uint32_t i = 0; i < IMAGES; i++)
                have += has_label(i, y);
            weight[y] = has_label(one.image[0], y) ? 0 : pow(fmax(have, 1), 0.75);
            total += weight[y];
        }
        for (uint32_t y = 0; y < LABELS; y++)
            expected[y] += weight[y] / total;
    }
    for (uint32_t y = 0; y < LABELS; y++)
        assert_true(fabs(drawn[y] - expected[y]) < 5 * sqrt(expected[y]));
    image_sampler_free(&x);
    image_corpus_free(&c);
}

TEST(none)
{
    struct image_corpus c = {0};
    struct image_sampler x;
    image_corpus_close(&c);
    for (int task = 0; task < 3; task++) {
        assert_int_equal(image_sampler_init(&x, &c, (enum image_task)task, IMAGE_NEGATIVES_ONE, 1,
                                            0, "images", NULL),
                         ERR_INPUT);
        image_sampler_free(&x);
    }
    image_corpus_free(&c);
}
