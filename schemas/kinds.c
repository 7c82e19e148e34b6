/* The kind table; see kinds.h. */
#include "schemas/kinds.h"

#include "action.pb-c.h"
#include "checkpoint.pb-c.h"
#include "cluster.pb-c.h"
#include "collection.pb-c.h"
#include "egraph.pb-c.h"
#include "embedding.pb-c.h"
#include "exercise.pb-c.h"
#include "expr.pb-c.h"
#include "generation.pb-c.h"
#include "graph.pb-c.h"
#include "image.pb-c.h"
#include "index.pb-c.h"
#include "paper.pb-c.h"
#include "report.pb-c.h"
#include "rule.pb-c.h"
#include "token.pb-c.h"

#include <string.h>

static const struct kind_info kinds[] = {
    {KIND_EXPR, "expr", 1, &eqloom__expr__descriptor},
    {KIND_RULE, "rule", 1, &eqloom__rule__descriptor},
    {KIND_EGRAPH, "egraph", 1, &eqloom__egraph__descriptor},
    {KIND_CLUSTER, "cluster", 1, &eqloom__cluster__descriptor},
    {KIND_VOCABULARY, "vocabulary", 1, &eqloom__vocabulary__descriptor},
    {KIND_TOKEN_BATCH, "token-batch", 1, &eqloom__token_batch__descriptor},
    {KIND_CHECKPOINT, "checkpoint", 1, &eqloom__checkpoint__descriptor},
    {KIND_CHUNK, "chunk", 1, &eqloom__chunk__descriptor},
    {KIND_EMBEDDING_BATCH, "embedding-batch", 1, &eqloom__embedding_batch__descriptor},
    {KIND_REPORT, "report", 1, &eqloom__report__descriptor},
    {KIND_FILE, "file", 1, &eqloom__file__descriptor},
    {KIND_COLLECTION, "collection", 1, &eqloom__collection__descriptor},
    {KIND_COLLECTION_BLOCK, "collection-block", 1, &eqloom__collection_block__descriptor},
    {KIND_DICTIONARY, "dictionary", 1, &eqloom__chunk__descriptor},
    {KIND_INDEX, "index", 1, &eqloom__index__descriptor},
    {KIND_GENERATION, "generation", 1, &eqloom__generation__descriptor},
    {KIND_EXERCISE, "exercise", 1, &eqloom__exercise__descriptor},
    {KIND_PAPER, "paper", 1, &eqloom__paper__descriptor},
    {KIND_EQUATION, "equation", 1, &eqloom__equation__descriptor},
    {KIND_MATHML, "mathml", 1, &eqloom__math_ml__descriptor},
    {KIND_GRAPH, "graph", 1, &eqloom__graph__descriptor},
    {KIND_IMAGE, "image", 1, &eqloom__image__descriptor},
    {KIND_LABELS, "labels", 1, &eqloom__labels__descriptor},
    {KIND_CACHE_ENTRIES, "cache-entries", 1, &eqloom__cache_entries__descriptor},
};

const struct kind_info *kind_info(enum record_kind kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == kind)
            return &kinds[i];
    return NULL;
}

const struct kind_info *kind_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}
