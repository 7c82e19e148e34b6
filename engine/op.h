/* The contract of ops: the whole interface between an op and the engine. An op is a table of names,
 * ports and parameters with a few functions. It reads decoded records and parameters, has an arena,
 * a random generator, progress reports and a cancel flag, and emits outputs. It never opens the
 * store or a file nor reads a clock, and its result depends only on the contents of the action key.
 * (`render` runs TeX, in folders of its own: ops/images/tex/tex_run.h.)
 *
 * Kinds of node:
 *   source  reads files (passed as bytes); outputs one record or a collection per role
 *   task    runs once on its inputs
 *   map     runs once per element of inputs[0]; each run sees all of the other inputs (side
 *           inputs) and emits any number of records per output role. The node's output is the
 *           collection of all of them, in element order
 *   exec    runs a program on files; the only op that the engine defines
 *   chain   a fold in segments: each emits a record computed from the previous one (training)
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
    OP_EXEC, /* op_exec alone: a task that runs a program and may also read files */
};

enum op_param_type {
    OP_INT,
    OP_REAL,
    OP_BOOL,
    OP_STRING,
    OP_ENUM,    /* one of `values` */
    OP_STRINGS, /* a list of strings, each of one line; canonical text joins them with '\n' */
};

struct op_param {
    const char *name;
    enum op_param_type type;
    const char *initial; /* default as text; NULL: required; "" for a number: unset (op_string()) */
    const char *values;  /* OP_ENUM: "a|b|c" */
    double min, max;     /* numbers: inclusive; both 0: unbounded */
    const char *doc;     /* one sentence */
    bool unkeyed;        /* not in action keys: results depend on it only through op->units */
    bool any_text;       /* OP_STRINGS: one may be empty or have several lines */
    bool names_variant;  /* OP_STRING: a variant's axes are appended, "encoder lr=0.1" */
};

enum op_cardinality {
    OP_ONE,        /* one record */
    OP_COLLECTION, /* a collection of records */
    OP_LIST,       /* input only: a YAML list of nodes, one record each, in order; with KIND_NONE,
                    * each is a record or collection of any kind */
};

struct op_port {
    const char *role;
    enum record_kind kind;
    enum op_cardinality cardinality;
    bool optional;
    const char *doc;
    /* Output: a property that all its records have ("certified"). Input: only an output with this
     * property may be connected. NULL: none. */
    const char *property;
};

/* Parameter and port tables written inside the definition of an op. */
#define OP_PARAMS(...) ((const struct op_param[]){__VA_ARGS__, {NULL}})
#define OP_PORTS(...) ((const struct op_port[]){__VA_ARGS__, {NULL}})

struct op_ctx;
struct op_earlier;

/* One segment of a chain. */
struct op_segment {
    uint64_t index;
    /* The parameters that this segment depends on, as canonical text. It replaces all parameters in
     * the action key, so that a chain with a different number of steps reuses the common prefix. */
    char *key;
    const char *label; /* shown to users: "steps 200-400" */
};

struct op {
    const char *name;
    uint32_t version; /* incremented whenever the result for the same input may change */
    enum op_node node;
    bool numerics;   /* the result depends on the numerics class (cpu-f32-avx512, ...) */
    bool parallel;   /* run() uses op_pool(): one node at a time runs, on all threads */
    const char *doc; /* one paragraph for docs/ops.md */
    const struct op_param *params;          /* ended by name == NULL; may be NULL */
    const struct op_port *inputs, *outputs; /* ended by role == NULL; inputs may be NULL */
    /* Source: a folder is replaced by the files below it whose names have one of these suffixes
     * ("": no dot in the name; ended by NULL), sorted, without links and hidden files. NULL: all
     * files. */
    const char *const *folder_suffixes;
    /* Source: run() reads files by op_file_text() as it needs them; those returned by op_files()
     * may have no text. */
    bool reads_files;

    /* Refuses combinations of parameters that the table cannot express; may be NULL. Called at
     * plan time, when only parameters may be read. */
    enum err_code (*check)(struct op_ctx *ctx, struct err *e);
    /* May be NULL. Returns what else the result depends on with these parameters besides the
     * numerics class, for the action key: arithmetic ("avx512-bf16") or a program compiled in
     * ("katex 0123456789abcdef"); NULL if nothing. Called at plan time, like check. */
    const char *(*units)(struct op_ctx *ctx);
    /* Parallel ops only. Returns a bit mask of the GPUs on any of which the op can run with these
     * parameters, one node at a time on each (op_card()); it then has no op_pool(), and other nodes
     * may use the threads. 0, or if NULL: the op runs on the CPU and needs all threads. Called at
     * plan time, like check. */
    uint32_t (*cards)(struct op_ctx *ctx);
    /* Map, chain, task; may be NULL. Does the work shared by all elements or segments (compiles
     * rules, loads weights). May read side inputs, but not inputs[0] of a map. Threads share
     * *state, which is read-only afterwards. Not called if no element or segment has to run. */
    enum err_code (*prepare)(void **state, struct op_ctx *ctx, struct err *e);
    void (*release)(void *state);
    enum err_code (*run)(struct op_ctx *ctx, void *state, struct err *e);
    /* Map only; may be NULL. Called before several elements of inputs[0] run on this thread, for
     * work that is cheaper in a batch. In run() of elements[i], op_share() returns shares[i].
     * Results must not depend on how elements are batched. May read side inputs. */
    enum err_code (*together)(void **shares, struct op_ctx *ctx, void *state,
                              const ProtobufCMessage *const *elements, size_t n, struct err *e);
    /* Chain only: the number of segments, and the description of one. */
    enum err_code (*segments)(uint64_t *n, struct op_ctx *ctx, struct err *e);
    enum err_code (*segment)(struct op_segment *out, struct op_ctx *ctx, uint64_t index,
                             struct err *e);
    /* Chain only; may be NULL. Computes a digest of the parts of its inputs that the segment reads
     * (the examples that its steps draw): segments with equal keys, previous records and reads emit
     * the same record, even if the inputs differ elsewhere. *reason, in the ctx's arena, tells
     * users why all segments up to this one are reused ("the same examples are drawn up to step
     * 400"). */
    enum err_code (*reads)(struct digest *out, const char **reason, struct op_ctx *ctx, void *state,
                           struct err *e);
    /* Map only; may be NULL. Decides whether run() would emit exactly the records of an earlier
     * result for the element, which had the same op, version and parameters but other side inputs;
     * the result's witness helps to decide. Sets *same to false if unsure. *reason, in the ctx's
     * arena, is shown to users ("1 rule edited, which matches nowhere"). */
    enum err_code (*reuse)(bool *same, const char **reason, struct op_ctx *ctx, void *state,
                           const struct op_earlier *earlier, struct err *e);
    /* With reuse; may be NULL. Merges the witnesses of several results into one, by which reuse
     * decides about all of them at once. It may then refuse what it would accept one by one: the
     * engine retries with smaller blocks, down to single elements. */
    enum err_code (*merge_witnesses)(struct span *out, struct arena *a,
                                     const struct span *witnesses, size_t n, struct err *e);
    /* Task only; may be NULL. Writes the data that run() needs from one element of a collection, as
     * bytes in the arena. They depend on the element and the parameters alone, so that the engine
     * can store them and, after a small change, calls this for new elements only. */
    enum err_code (*summarize)(struct span *out, struct arena *a, struct op_ctx *ctx,
                               const ProtobufCMessage *element, struct err *e);
    /* Map only. For lineage: returns whether an element of the side input `role` contributed to
     * this output (a rule that matched), judging by the output alone. NULL: all did. */
    bool (*took_part)(const ProtobufCMessage *output, const char *role,
                      const ProtobufCMessage *element);
};

/* ---- parameters: each by the getter of its declared type, with defaults filled in ---- */
int64_t op_int(const struct op_ctx *ctx, const char *name);
double op_real(const struct op_ctx *ctx, const char *name);
bool op_bool(const struct op_ctx *ctx, const char *name);
const char *op_string(const struct op_ctx *ctx, const char *name); /* also OP_ENUM */
size_t op_strings(const char *const **out, const struct op_ctx *ctx, const char *name);

/* ---- inputs ---- */
/* The number of records under a role: 1 or 0 (absent) for OP_ONE, else the size of the collection
 * or list. In a map's run(), inputs[0] has exactly one element. */
uint64_t op_count(struct op_ctx *ctx, const char *role);
/* The size of the collection inputs[0], even in a map's run(); 0 at plan time. */
uint64_t op_elements(const struct op_ctx *ctx);
/* Decodes a record into the ctx's arena, valid until run() returns. `out` points to a pointer to
 * the message type of the role's kind. */
enum err_code op_get(void *out, struct op_ctx *ctx, const char *role, uint64_t i, struct err *e);
/* Like op_get, but into another arena, and thread-safe: for ops that stream a large collection. */
enum err_code op_get_in(void *out, struct op_ctx *ctx, const char *role, uint64_t i,
                        struct arena *a, struct err *e);
struct digest op_input_id(struct op_ctx *ctx, const char *role, uint64_t i);
/* Task: the result of op.summarize for an element of a collection, valid until the next call for
 * the role. Cheap if elements are read in order. */
enum err_code op_summary(struct span *out, struct op_ctx *ctx, const char *role, uint64_t i,
                         struct err *e);
/* Reads a Chunk that an input refers to. */
enum err_code op_get_chunk(struct span *out, struct op_ctx *ctx, const uint8_t id[32],
                           struct arena *a, struct err *e);
/* Source: the files, in the order of the job (patterns sorted). */
struct op_file {
    struct source_text text; /* name as the user writes it, and the bytes */
    struct digest id;        /* of the content */
};
size_t op_files(const struct op_file **out, struct op_ctx *ctx);
/* With op.reads_files: reads the bytes of file i. */
enum err_code op_file_text(struct span *out, struct op_ctx *ctx, size_t i, struct arena *a,
                           struct err *e);
/* Chain: decodes the previous segment's record; *out is NULL in the first segment. */
enum err_code op_previous(void *out, struct op_ctx *ctx, struct err *e);
struct digest op_previous_id(struct op_ctx *ctx); /* zero in the first segment */
uint64_t op_segment_index(struct op_ctx *ctx);

/* ---- outputs ---- */
/* Packs the message, which may be freed afterwards. id may be NULL. Not thread-safe. */
enum err_code op_emit(struct digest *id, struct op_ctx *ctx, const char *role,
                      const ProtobufCMessage *message, struct err *e);
/* Emits an element of an input unchanged, without reading it. Not thread-safe. */
enum err_code op_pass(struct op_ctx *ctx, const char *role, const char *input, uint64_t i,
                      struct err *e);
/* Emits a Chunk for an output to refer to; at most 4 MiB. */
enum err_code op_emit_chunk(struct digest *id, struct op_ctx *ctx, struct span data, struct err *e);
/* Emits a File for users or other programs; large ones are split into chunks. */
enum err_code op_emit_file(struct op_ctx *ctx, const char *role, struct span data,
                           const char *media_type, struct err *e);

/* Emits a File piece by piece, with only one chunk in memory. Initialised to zero; op_write_end
 * frees it, op_write_drop does after an error. */
struct op_writer {
    struct buf chunk, ids;
};
enum err_code op_write(struct op_writer *w, struct op_ctx *ctx, struct span data, struct err *e);
enum err_code op_write_end(struct op_writer *w, struct op_ctx *ctx, const char *role,
                           const char *media_type, struct err *e);
void op_write_drop(struct op_writer *w);

/* ---- reuse ---- */
/* In run(): sets the data by which reuse() will decide about this result. It is copied and must not
 * be empty. reuse() is not called for results without a witness. */
void op_set_witness(struct op_ctx *ctx, struct span witness);
struct span op_earlier_witness(const struct op_earlier *x);
/* Positions of the elements that a side input (a collection, compared as a multiset) has gained
 * since. */
enum err_code op_earlier_added(const uint64_t **positions, size_t *n, struct op_ctx *ctx,
                               const struct op_earlier *x, const char *role, struct err *e);
/* The elements that it has lost since, decoded into the arena. */
enum err_code op_earlier_removed(ProtobufCMessage ***out, size_t *n, struct op_ctx *ctx,
                                 const struct op_earlier *x, const char *role, struct arena *a,
                                 struct err *e);
/* The id of the earlier side input (the collection), or zero if it was absent. */
struct digest op_earlier_input_id(const struct op_earlier *x, const char *role);

/* Source: a part of its work, such as one of many documents, so that after a change to a file only
 * the parts that read it run again. `key` and the parameters identify the part. `note` records what
 * else its records depend on; by it the op decides whether they are still valid. */
struct op_part {
    struct span note;
    const void *made; /* for the engine */
};
/* Looks up an earlier run's part; false if there is none or its records are no longer stored. */
bool op_part_find(struct op_part *out, struct op_ctx *ctx, struct span key);
/* Emits the part's earlier records again. */
void op_part_again(struct op_ctx *ctx, const struct op_part *part);
/* All records emitted between these two calls belong to the part. Not nested. */
void op_part_begin(struct op_ctx *ctx);
enum err_code op_part_end(struct op_ctx *ctx, struct span key, struct span note, struct err *e);

/* Called at most once in a map's run(), before anything is emitted: declares that from here on the
 * result depends on the parameters and on `reads` alone. If it returns true, the records of an
 * earlier run are the result, and run() must return OK and emit nothing, unless its records also
 * hold what is not among `reads` (where an equation stands): then it takes them by op_recalled, and
 * emits them with that changed. `reason` is shown to users, like that of reuse. An op that calls
 * this must draw random numbers from op_rng_of. */
bool op_recall(struct op_ctx *ctx, struct span reads, const char *reason);
/* Decodes record i of a role that the earlier run emitted. */
enum err_code op_recalled(void *out, struct op_ctx *ctx, const char *role, uint64_t i,
                          struct err *e);

/* ---- surroundings ---- */
struct arena *op_arena(struct op_ctx *ctx);
/* Map with `together`: the share that it computed for this element. */
void *op_share(const struct op_ctx *ctx);
/* Seeded from the parameter `seed` (0 if the op has none) and the ids of the inputs. */
struct rng op_rng(struct op_ctx *ctx);
/* Seeded from the parameter `seed` and these bytes. */
struct rng op_rng_of(struct op_ctx *ctx, struct span bytes);
/* NULL unless op.parallel; also NULL if the node runs on a GPU. */
struct pool *op_pool(struct op_ctx *ctx);
/* The GPU reserved for this node, or -1. */
int op_card(const struct op_ctx *ctx);
/* "cpu-f32-avx512", ... */
const char *op_numerics(const struct op_ctx *ctx);
/* True if the run should stop: the op then returns ERR_CANCELLED and emits nothing more. */
bool op_cancelled(const struct op_ctx *ctx);
/* Reports progress within this action to users: done of total (0 if unknown) and a short text
 * ("loss 1.234"). Thread-safe. */
void op_progress(struct op_ctx *ctx, uint64_t done, uint64_t total, const char *text);
/* Tells users something about the node that stays when its progress is gone. Thread-safe. */
void op_note(struct op_ctx *ctx, const char *text);

/* ---- the table: ops/registry.c ---- */
extern const struct op *const op_table[]; /* ended by NULL, sorted by name */
extern const struct op op_exec;           /* defined by the engine */
const struct op *op_find(const char *name);
/* Converts an expression from prefix tokens to infix; returns other text unchanged. */
char *op_infix(struct arena *a, const char *prefix);
char *op_latex(struct arena *a, const char *prefix);
char *op_formula(struct arena *a, const char *prefix); /* <math>; NULL if not an expression */
/* Whether more (1) or less (-1) of a report's value of this name is better; 0: neither. */
int op_value_sense(const char *name);
/* Files compiled into the program; jobs refer to them by these names. Ended by name NULL. */
#define OP_BUILTIN "builtin:"
extern const struct source_text op_builtins[];
