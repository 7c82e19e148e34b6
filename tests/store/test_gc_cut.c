/* A gc that ends between two commits, as by kill -9: whatever is left leads to what is there, and
 * the next gc removes the rest. A limit on the size of files ends it, wherever the log has got to.
 */
#include "tests/store/fixture.h"

#include "cluster.pb-c.h"
#include "embedding.pb-c.h"
#include "graph.pb-c.h"
#include "image.pb-c.h"
#include "index.pb-c.h"
#include "store/collection/collection.h"
#include "store/maintain.h"
#include "token.pb-c.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { CHAINS = 700, STEP = 12 << 10 }; /* a commit of 1,000 removals is some 40 kB */

#define ID(d) ((ProtobufCBinaryData){DIGEST_SIZE, (d)->bytes})

static struct digest put(struct store_batch *b, enum record_kind kind, const ProtobufCMessage *m)
{
    struct digest id;
    MUST(store_batch_put_message(&id, b, kind, m, &err));
    return id;
}

/* Cluster <- token batch; the cluster <- vectors <- index, all in one collection; an
 * index also refers to a checkpoint, and that to the one before it. Vocabulary <- graph, labels. */
static void put_chains(struct store *s)
{
    struct store_batch *b = store_batch_new(s);
    struct collection_builder *all = collection_builder_new(b, KIND_INDEX);
    struct digest id, checkpoint = {0};
    for (unsigned i = 0; i < CHAINS; i++) {
        Eqloom__Cluster cluster = EQLOOM__CLUSTER__INIT;
        Eqloom__TokenBatch tokens = EQLOOM__TOKEN_BATCH__INIT;
        Eqloom__EmbeddingBatch vectors = EQLOOM__EMBEDDING_BATCH__INIT;
        Eqloom__Checkpoint learnt = EQLOOM__CHECKPOINT__INIT;
        Eqloom__Index index = EQLOOM__INDEX__INIT;
        Eqloom__Vocabulary words = EQLOOM__VOCABULARY__INIT;
        Eqloom__Graph graph = EQLOOM__GRAPH__INIT;
        Eqloom__Labels labels = EQLOOM__LABELS__INIT;
        char *word = (char[16]){0};
        snprintf(word, 16, "%u", i);
        words.n_tokens = 1;
        words.tokens = &word;
        struct digest vocabulary = put(b, KIND_VOCABULARY, &words.base);
        graph.vocabulary_id = labels.vocabulary_id = ID(&vocabulary);
        put(b, KIND_GRAPH, &graph.base);
        put(b, KIND_LABELS, &labels.base);
        cluster.max_tokens = i + 1;
        struct digest made = put(b, KIND_CLUSTER, &cluster.base);
        tokens.source_id = ID(&made);
        put(b, KIND_TOKEN_BATCH, &tokens.base);
        vectors.source_id = ID(&made);
        struct digest batch = put(b, KIND_EMBEDDING_BATCH, &vectors.base);
        learnt.step = i;
        if (i)
            learnt.parent_id = ID(&checkpoint);
        checkpoint = put(b, KIND_CHECKPOINT, &learnt.base);
        index.batch_ids = ID(&batch);
        index.checkpoint_id = ID(&checkpoint);
        id = put(b, KIND_INDEX, &index.base);
        MUST(collection_builder_add(all, &id, &err));
    }
    MUST(collection_builder_finish(&id, all, &err));
    collection_builder_free(all);
    commit(b);
    store_batch_free(b);
}

struct trial {
    char path[64];
    rlim_t limit;
};
enum outcome { DONE, CUT, PART_LEFT, FAULTS };

static int fill(const struct trial *t)
{
    struct store *s = open_store(t->path);
    put_chains(s);
    store_close(s);
    return DONE;
}

static int collect(const struct trial *t)
{
    struct rlimit r = {t->limit, t->limit};
    struct gc_result result;
    struct store *s = open_store(t->path);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &r);
    return store_gc(&result, s, &(struct gc_options){.keep_runs = 0}, NULL) == OK ? DONE : CUT;
}

static void tell(void *arg, const struct digest *id, const char *what)
{
    print_message("%s\n", what);
}

static int check(const struct trial *t)
{
    struct fsck_result found;
    struct gc_result rest;
    struct store *s = open_store(t->path);
    MUST(store_fsck(&found, s, false, tell, NULL, &err));
    MUST(store_gc(&rest, s, &(struct gc_options){.keep_runs = 0}, &err));
    store_close(s);
    if (found.faults || rest.records_kept)
        return FAULTS;
    return found.records > 0 && found.records < 7 * CHAINS ? PART_LEFT : DONE;
}

/* In a process of its own, since the database has threads, which a fork does not copy. */
static enum outcome apart(int (*step)(const struct trial *t), const struct trial *t)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(step(t));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return (enum outcome)WEXITSTATUS(status);
}

TEST(what_is_left_leads_to_what_is_there)
{
    unsigned parts = 0;
    enum outcome collected = CUT;
    for (rlim_t limit = STEP; collected == CUT; limit += STEP) {
        struct trial t = {.limit = limit};
        temporary_directory(t.path);
        assert_int_equal(apart(fill, &t), DONE);
        collected = apart(collect, &t);
        enum outcome left = apart(check, &t);
        assert_int_not_equal(left, FAULTS);
        assert_true(collected != DONE || left == DONE);
        parts += left == PART_LEFT;
        os_remove_tree(t.path);
    }
    print_message("%u times a part was left\n", parts);
    assert_true(parts > 1);
}
