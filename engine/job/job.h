/* A job as a graph of nodes in topological order. job_load builds it from a file; everything is
 * allocated in the arena passed to job_load. Names are for people: no name is part of an action
 * key. */
#pragma once

#include "engine/op.h"

#include <string.h>

static inline size_t op_count_ports(const struct op_port *ports)
{
    size_t n = 0;
    while (ports && ports[n].role)
        n++;
    return n;
}

/* Returns NULL if no port has this role. */
static inline const struct op_port *op_find_port(const struct op_port *ports, const char *role)
{
    while (ports && ports->role && strcmp(ports->role, role))
        ports++;
    return ports && ports->role ? ports : NULL;
}

static inline size_t op_count_inputs(const struct op *op)
{
    return op_count_ports(op->inputs);
}

static inline size_t op_count_outputs(const struct op *op)
{
    return op_count_ports(op->outputs);
}

struct node_param {
    const struct op_param *param;
    const char *value; /* canonical text or default: "42", "0.0001", "true", lines */
};

struct node_source {
    uint32_t node, output; /* indices of the node and of the port in op->outputs */
};

struct node_input {
    const struct op_port *port;
    const struct node_source *sources; /* one, or several for OP_LIST */
    size_t n_sources;                  /* 0: an optional input that is absent */
};

/* The resources that a node requests from a cluster, in Slurm's syntax; NULL: the profile's. */
struct node_resources {
    const char *cpus, *gpus, *memory, *time;
};

enum executor { EXECUTOR_ANY, EXECUTOR_HERE, EXECUTOR_SLURM };

struct node {
    const char *name; /* "model@pool=mean" */
    const char *base; /* "model": its name before matrix expansion */
    const struct op *op;
    const struct node_param *params; /* one for each of op->params, in its order */
    const struct node_input *inputs; /* one for each of op->inputs, in its order */
    const struct node_source *above; /* all sources of all inputs */
    size_t n_above;
    const char *const *files;      /* OP_SOURCE, OP_EXEC: paths, patterns expanded and sorted */
    const char *const *file_names; /* OP_EXEC: names under which the program sees them */
    size_t n_files;
    const char *left_out; /* lines about what its file patterns leave out; NULL: nothing */
    const char *units; /* op->units, or NULL */
    uint32_t cards;    /* op->cards */
    enum executor executor;
    struct node_resources resources;
    const struct source_text *source; /* the job file, for error messages */
    size_t offset;                    /* of the node's name in it */
};

static inline bool node_reads(const struct node *node, uint32_t other)
{
    for (size_t k = 0; k < node->n_above; k++)
        if (node->above[k].node == other)
            return true;
    return false;
}

/* The job-file key that makes a source read the files that another node outputs. Such a node is a
 * task: its op is the source's op with this input and the parameter "files", a list of name
 * patterns. */
#define JOB_FROM "from"
static inline bool node_reads_from(const struct node *node)
{
    return node->op->inputs && node->op->inputs[0].role &&
           !strcmp(node->op->inputs[0].role, JOB_FROM);
}

/* Refs under this prefix belong to the user (eqloom tag); jobs never write them. */
#define JOB_TAGS "tag/"
/* JOB/NODE/at refers to the newest record of an unfinished chain. */
#define JOB_CHAIN_HEAD "/at"

struct job_ref {
    const char *name;
    struct node_source target;
};

/* After a run, `target` (a File record) is written to out/JOB/path beside the store. */
struct job_export {
    const char *path;
    struct node_source target;
};

/* For display: a job parameter, or a node parameter NODE.KEY that --set changed. */
struct job_param {
    const char *name, *text;
};

struct job {
    const char *name, *path, *dir;
    const struct job_param *params;
    size_t n_params;
    const char *remote; /* address of a shared cache (a folder is relative to `dir`), or NULL */
    enum executor executor;
    struct node *nodes; /* topological order; ties in file order */
    size_t n_nodes;
    const struct job_ref *refs;
    size_t n_refs;
    const struct job_export *exports;
    size_t n_exports;
};

struct job_options {
    const char *const *sets; /* "key=value" */
    size_t n_sets;
    bool allow_outside; /* permits paths outside the job's directory */
};

enum err_code job_load(struct job **out, struct arena *a, const char *path,
                       const struct job_options *options, struct err *e);
/* Returns whether `wanted` selects the node `name`: "model", "model@b=2" and "model@b=2,a=1" all
 * select "model@a=1,b=2". */
bool job_name_fits(const char *name, const char *wanted);
/* Finds nodes by full name, by base name (all variants), or by "NAME.ROLE". Fills in their indices;
 * fails with ERR_INPUT and a 'did you mean' hint. */
enum err_code job_find(uint32_t **nodes, size_t *n, struct arena *a, const struct job *job,
                       const char *name, struct err *e);
/* A context in which op_int() and the other parameter accessors work, for op->check at plan time
 * and for runs. */
struct op_ctx *op_ctx_for_params(struct arena *a, const struct node *node);
