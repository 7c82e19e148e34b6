/* The contract of ops: everything that an op sees of the engine. An op is a table of names, ports
 * and parameters with a few functions. It gets decoded records, parameters, an arena, a random
 * generator, progress and a cancel flag, and emits outputs. It never opens the store, a file or a
 * clock, and its result depends only on what enters the action key. (`render` runs TeX, in folders
 * of its own: ops/images/tex/tex_run.h.)
 *
 * Kinds of node:
 *   source  reads files (given as bytes); outputs one record or a collection per role
 *   task    inputs -> outputs, once
 *   map     once per element of inputs[0]; other inputs are whole (side inputs). Per element it
 *           emits any number of records per output role; the node's output is the collection of
 *           all, in element order
 *   exec    runs a program on files; the one op that is the engine's
 *   chain   a fold in segments: record after record, each from the one before (training)
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/err.h"
#include "base/pool.h"
#include "base/rng.h"
#include "base/span.h"
#include "schemas/kinds.h"

enum op_node {
    OP_SOURCE,
    OP_TASK,
    OP_MAP,
    OP_CHAIN,
    OP_EXEC, /* the engine's own: a task that runs a program, and has files of its own */
};

enum op_param_type {
    OP_INT,
    OP_REAL,
    OP_BOOL,
    OP_STRING,
    OP_ENUM,    /* one of `values` */
    OP_STRINGS, /* a list of strings; canonical text joins them with '\n' */
};

struct op_param {
    const char *name;
    enum op_param_type type;
    const char *initial; /* default as text; NULL: required; "" of a number: op_string tells */
    const char *values;  /* OP_ENUM: "a|b|c" */
    double min, max;     /* numbers: inclusive; both 0: unbounded */
    const char *doc;     /* one sentence */
    bool unkeyed;        /* not in action keys: results depend on it through op->units alone */
    bool names_variant;  /* OP_STRING: the axes of a node's variant are added, "encoder lr=0.1" */
};

enum op_cardinality {
    OP_ONE,        /* one record */
    OP_COLLECTION, /* a collection of records */
    OP_LIST,       /* input only: a YAML list of nodes, one record each, in order; of KIND_NONE:
                    * records or collections of any kind */
};

struct op_port {
    const char *role;
    enum record_kind kind;
    enum op_cardinality cardinality;
    bool optional;
    const char *doc;
    /* Output: what is true of all its records ("certified"); input: only an output with this
     * property may be connected. NULL: nothing. */
    const char *property;
};

/* Tables of an op that are short enough to stand in it. */
#define OP_PARAMS(...) ((const struct op_param[]){__VA_ARGS__, {NULL}})
#define OP_PORTS(...) ((const struct op_port[]){__VA_ARGS__, {NULL}})

struct op_ctx;
struct op_earlier;

/* One segment of a chain. */
struct op_segment {
    uint64_t index;
    /* The parameters that this segment depends on, as canonical text. It replaces all parameters in
     * the action key, so that a chain with another number of steps reuses the common prefix. */
    char *key;
    const char *label; /* for people: "steps 200-400" */
};

struct op {
    const char *name;
    uint32_t version; /* raised whenever the result for the same input may change */
    enum op_node node;
    bool numerics;   /* the result depends on the numerics class (cpu-f32-avx512, ...) */
    bool parallel;   /* run() uses op_pool(): the engine gives it all threads, one at a time */
    const char *doc; /* one paragraph for docs/ops.md */
    const struct op_param *params;          /* ended by name == NULL; may be NULL */
    const struct op_port *inputs, *outputs; /* ended by role == NULL; inputs may be NULL */
    /* Source; NULL: its files may not be folders. A folder stands for the files below it whose
     * names end so (ended by NULL; "": without a dot), sorted; links and hidden files are left out.
     */
    const char *const *folder_suffixes;
    /* Source: it asks for the bytes of the files that it needs (op_file_text); those of op_files
     * may have no text. */
    bool reads_files;

    /* Refuses combinations of parameters that the table cannot express; may be NULL. Called at
     * plan time: only op_param_* may be used. */
    enum err_code (*check)(struct op_ctx *ctx, struct err *e);
    /* May be NULL. What the result depends on with these parameters besides the numerics class, for
     * the action key: arithmetic ("avx512-bf16") or a program that was compiled in ("katex
     * 0123456789abcdef"); NULL: none. Called when check is. */
    const char *(*units)(struct op_ctx *ctx);
    /* Of a parallel op; may be NULL: 0. As bits, the cards on any of which it may compute with
     * these parameters, one node at a time on each (op_card), while op_pool() is for others; 0: it
     * needs all threads. Called when check is. */
    uint32_t (*cards)(struct op_ctx *ctx);
    /* Map, chain, task: work shared by all elements or segments (compiled rules, loaded weights).
     * Side inputs may be read, inputs[0] of a map not. *state is shared by threads and read-only
     * from then on. May be NULL. Not called when nothing has to run. */
    enum err_code (*prepare)(void **state, struct op_ctx *ctx, struct err *e);
    void (*release)(void *state);
    enum err_code (*run)(struct op_ctx *ctx, void *state, struct err *e);
    /* Map only; may be NULL. Several elements of inputs[0] are about to run on this thread: what is
     * cheaper for many at once is done here, and run() of elements[i] finds shares[i] by op_share.
     * Results must not depend on which elements come together. Side inputs may be read. */
    enum err_code (*together)(void **shares, struct op_ctx *ctx, void *state,
                              const ProtobufCMessage *const *elements, size_t n, struct err *e);
    /* Chain only: how many segments, and each one. */
    enum err_code (*segments)(uint64_t *n, struct op_ctx *ctx, struct err *e);
    enum err_code (*segment)(struct op_segment *out, struct op_ctx *ctx, uint64_t index,
                             struct err *e);
    /* Chain only; may be NULL. A digest of what the segment reads of its inputs (the examples that
     * its steps draw): two segments with equal keys, records before and reads give the same record,
     * whatever else the inputs hold. *reason, in the ctx's arena, tells people why all segments up
     * to this one are reused ("the same examples are drawn up to step 400"). */
    enum err_code (*reads)(struct digest *out, const char **reason, struct op_ctx *ctx, void *state,
                           struct err *e);
    /* Map only; may be NULL. Given the witness of an earlier result for the element, of this op,
     * version and parameters but with other side inputs: would run() give the very same records
     * now? *reason is for people ("1 rule edited, which matches nowhere"), in the ctx's arena. If
     * unsure: no. */
    enum err_code (*reuse)(bool *same, const char **reason, struct op_ctx *ctx, void *state,
                           const struct op_earlier *earlier, struct err *e);
    /* With reuse; may be NULL. Makes one witness of those of several results: reuse decides by it
     * about all of them. It may then say no where it would say yes of each: the engine asks about
     * smaller blocks, and in the end about each element. */
    enum err_code (*merge_witnesses)(struct span *out, struct arena *a,
                                     const struct span *witnesses, size_t n, struct err *e);
    /* Task only; may be NULL. What run() needs of one element of a collection, as bytes in the
     * arena: a function of the element and the parameters alone, so that the engine can store it
     * and, after a small change, asks for new elements only. */
    enum err_code (*summarize)(struct span *out, struct arena *a, struct op_ctx *ctx,
                               const ProtobufCMessage *element, struct err *e);
    /* Map only; NULL: all of them did. For lineage: whether an element of the side input `role`
     * contributed to this output (a rule that matched), as far as the output itself tells. */
    bool (*took_part)(const ProtobufCMessage *output, const char *role,
                      const ProtobufCMessage *element);
};

/* ---- parameters: of the declared type, defaults filled in ---- */
int64_t op_int(const struct op_ctx *ctx, const char *name);
double op_real(const struct op_ctx *ctx, const char *name);
bool op_bool(const struct op_ctx *ctx, const char *name);
const char *op_string(const struct op_ctx *ctx, const char *name); /* also OP_ENUM */
size_t op_strings(const char *const **out, const struct op_ctx *ctx, const char *name);

/* ---- inputs ---- */
/* Records under a role: 1 or 0 (absent) for OP_ONE, the size of a collection or list. In a map's
 * run, role inputs[0] has exactly the one element. */
uint64_t op_count(struct op_ctx *ctx, const char *role);
/* The size of the collection inputs[0], in a map's run, too; 0 where only parameters are known. */
uint64_t op_elements(const struct op_ctx *ctx);
/* `out` is where the pointer to the message goes, as the role's kind has it. Decoded into the ctx's
 * arena; good until run() returns. */
enum err_code op_get(void *out, struct op_ctx *ctx, const char *role, uint64_t i, struct err *e);
/* The same into another arena, thread-safe: for ops that stream a large collection. */
enum err_code op_get_in(void *out, struct op_ctx *ctx, const char *role, uint64_t i,
                        struct arena *a, struct err *e);
struct digest op_input_id(struct op_ctx *ctx, const char *role, uint64_t i);
/* Task: what op.summarize gives for an element of a collection; good until the next call with the
 * role. Cheap where elements are asked for in order. */
enum err_code op_summary(struct span *out, struct op_ctx *ctx, const char *role, uint64_t i,
                         struct err *e);
/* A Chunk that an input refers to. */
enum err_code op_get_chunk(struct span *out, struct op_ctx *ctx, const uint8_t id[32],
                           struct arena *a, struct err *e);
/* Source: the files, in the order of the job (patterns sorted). */
struct op_file {
    struct source_text text; /* name as the user would write it, and the bytes */
    struct digest id;        /* of the content */
};
size_t op_files(const struct op_file **out, struct op_ctx *ctx);
/* With op.reads_files: the bytes of file i, read now. */
enum err_code op_file_text(struct span *out, struct op_ctx *ctx, size_t i, struct arena *a,
                           struct err *e);
/* Chain: the record before (NULL in the first segment), and which segment this is. */
enum err_code op_previous(void *out, struct op_ctx *ctx, struct err *e);
struct digest op_previous_id(struct op_ctx *ctx); /* zero in the first segment */
uint64_t op_segment_index(struct op_ctx *ctx);

/* ---- outputs ---- */
/* Packs and hands over; the message may be freed at once. *id may be NULL. Not thread-safe. */
enum err_code op_emit(struct digest *id, struct op_ctx *ctx, const char *role,
                      const ProtobufCMessage *message, struct err *e);
/* Emits an element of an input as it is, unread. Not thread-safe. */
enum err_code op_pass(struct op_ctx *ctx, const char *role, const char *input, uint64_t i,
                      struct err *e);
/* A Chunk that an output will refer to; at most 4 MiB. */
enum err_code op_emit_chunk(struct digest *id, struct op_ctx *ctx, struct span data, struct err *e);
/* A File for people or other programs, cut into chunks where it is large. */
enum err_code op_emit_file(struct op_ctx *ctx, const char *role, struct span data,
                           const char *media_type, struct err *e);

/* The same piece by piece, so that only a chunk is in memory. Begins all zero; the end frees it,
 * and so does op_write_drop after an error. */
struct op_writer {
    struct buf chunk, ids;
};
enum err_code op_write(struct op_writer *w, struct op_ctx *ctx, struct span data, struct err *e);
enum err_code op_write_end(struct op_writer *w, struct op_ctx *ctx, const char *role,
                           const char *media_type, struct err *e);
void op_write_drop(struct op_writer *w);

/* ---- reuse ---- */
/* In run(): what reuse() will need to decide about this result; copied, not empty. reuse() is not
 * called for results without a witness. */
void op_set_witness(struct op_ctx *ctx, struct span witness);
struct span op_earlier_witness(const struct op_earlier *x);
/* Positions of the elements that a side input (a collection) has gained since, as multisets. */
enum err_code op_earlier_added(const uint64_t **positions, size_t *n, struct op_ctx *ctx,
                               const struct op_earlier *x, const char *role, struct err *e);
/* The elements that it has lost since, decoded into an arena. */
enum err_code op_earlier_removed(ProtobufCMessage ***out, size_t *n, struct op_ctx *ctx,
                                 const struct op_earlier *x, const char *role, struct arena *a,
                                 struct err *e);
/* The earlier side input (the collection); zero: there was none. */
struct digest op_earlier_input_id(const struct op_earlier *x, const char *role);

/* Source: a part of its work, a document among others, so that a file that changes costs the part
 * that reads it. `key` names the part, together with the parameters; what else its records depend
 * on is for `note` to say: the op decides by it whether they stand. */
struct op_part {
    struct span note;
    const void *made; /* the engine's */
};
/* What an earlier run noted, if the records that it emitted for the part are still there. */
bool op_part_find(struct op_part *out, struct op_ctx *ctx, struct span key);
/* Emits these records once more. */
void op_part_again(struct op_ctx *ctx, const struct op_part *part);
/* Between these two nothing is emitted but the part's records. Not nested. */
void op_part_begin(struct op_ctx *ctx);
enum err_code op_part_end(struct op_ctx *ctx, struct span key, struct span note, struct err *e);

/* In a map's run(), once, before anything is emitted: from here on the result depends on the
 * parameters and on `reads` alone. True: an earlier run has done the rest, and its records are the
 * result: return OK and emit nothing. `reason` is for people, as that of reuse. An op that calls
 * this draws random numbers from op_rng_of. */
bool op_recall(struct op_ctx *ctx, struct span reads, const char *reason);

/* ---- surroundings ---- */
struct arena *op_arena(struct op_ctx *ctx);
/* Map with `together`: what it did for this element. */
void *op_share(const struct op_ctx *ctx);
/* Seeded from the parameter `seed` (0 if there is none) and the ids of the inputs. */
struct rng op_rng(struct op_ctx *ctx);
/* Seeded from the parameter `seed` and these bytes. */
struct rng op_rng_of(struct op_ctx *ctx, struct span bytes);
/* NULL unless op.parallel, and on a card. */
struct pool *op_pool(struct op_ctx *ctx);
/* The card that this node has for itself, -1 if none. */
int op_card(const struct op_ctx *ctx);
/* "cpu-f32-avx512", ... */
const char *op_numerics(const struct op_ctx *ctx);
/* True when the run should stop soon: return ERR_CANCELLED, emit nothing more. */
bool op_cancelled(const struct op_ctx *ctx);
/* For people: how far within this action (done of total, 0 if unknown), and a short text ("loss
 * 1.234"). Any thread. */
void op_progress(struct op_ctx *ctx, uint64_t done, uint64_t total, const char *text);

/* ---- the table: ops/registry.c ---- */
extern const struct op *const op_table[]; /* ended by NULL, sorted by name */
extern const struct op op_exec;           /* the engine's */
const struct op *op_find(const char *name);
/* An expression in prefix tokens as people write it; as it is if it is none. */
char *op_infix(struct arena *a, const char *prefix);
char *op_latex(struct arena *a, const char *prefix);
char *op_formula(struct arena *a, const char *prefix); /* a <math> element; NULL if it is none */
/* Of a value of a report, by its name: 1, more is better; -1, less is; 0, neither. */
int op_value_sense(const char *name);
/* Files that the program brings, which jobs name as they are here. Ended by name NULL. */
#define OP_BUILTIN "builtin:"
extern const struct source_text op_builtins[];
