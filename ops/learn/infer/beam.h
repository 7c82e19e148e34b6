/* The search of one input's best sequences: which hypotheses go on and what has ended; see
 * generator.h. Knows nothing of models. */
#pragma once

#include "ops/learn/infer/generator.h"

/* A hypothesis by its last token: the ones before are its parent's. */
struct beam_node {
    uint32_t parent; /* in `nodes`; BEAM_ROOT for none */
    uint32_t token;
    double score; /* log-probability so far */
};
#define BEAM_ROOT UINT32_MAX

struct beam_candidate {
    uint32_t live, token; /* continues live hypothesis number `live` */
    double score;
};

struct beam {
    uint32_t width, max_tokens, at; /* at: tokens so far */
    struct beam_node *nodes;
    size_t n_nodes, cap;
    uint32_t *live;   /* nodes, best first; BEAM_ROOT at the start */
    uint32_t *parent; /* number of each among the live ones of the step before */
    size_t n_live;
    struct beam_candidate *candidates; /* the best 2 * width of a step, best first */
    size_t n_candidates;
    struct {
        uint32_t node; /* its last token */
        uint32_t length;
        double score; /* its log-probability */
    } * ended;        /* (width), best first */
    size_t n_ended;
};

void beam_init(struct beam *b, const struct generator_options *options, struct arena *a);
/* The next step: logits (vocabulary) of live hypothesis number i, for all i in order ... */
void beam_offer(struct beam *b, uint32_t i, const float *logits, uint32_t vocabulary);
/* ... and then the choice. Afterwards n_live is 0 if the search is done. */
void beam_choose(struct beam *b, struct arena *a);
/* The last token of live hypothesis i. */
uint32_t beam_token(const struct beam *b, size_t i);
void beam_results(struct generated *out, const struct beam *b, struct arena *a);
