/* A job as a graph of nodes, in topological order. Made by job.c from a file; everything lives in
 * the arena given to job_load. Names are for people: none of them enters an action key. */
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

/* NULL: none has this role. */
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
    const char *value; /* canonical text, default filled in: "42", "0.0001", "true", lines */
};

struct node_source {
    uint32_t node, output; /* index of the node, and of its port in op->outputs */
};

struct node_input {
    const struct op_port *port;
    const struct node_source *sources; /* one, or several for OP_LIST */
    size_t n_sources;                  /* 0: an optional input that is absent */
};

/* What a node asks of a cluster, as Slurm reads it; NULL: what the profile says. */
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
    const struct node_source *above; /* what all of them read */
    size_t n_above;
    const char *const *files;      /* OP_SOURCE, OP_EXEC: paths, patterns expanded and sorted */
    const char *const *file_names; /* OP_EXEC: as the program finds them */
    size_t n_files;
    const char *units; /* op->units, or NULL */
    uint32_t cards;    /* op->cards */
    enum executor executor;
    struct node_resources resources;
    const struct source_text *source; /* the job file, for messages */
    size_t offset;                    /* of the node's name in it */
};

static inline bool node_reads(const struct node *node, uint32_t other)
{
    for (size_t k = 0; k < node->n_above; k++)
        if (node->above[k].node == other)
            return true;
    return false;
}

/* The key by which a source reads files that a node gives. It is then a task, whose op is the
 * source's with this input and the parameter "files": patterns of names. */
#define JOB_FROM "from"
static inline bool node_reads_from(const struct node *node)
{
    return node->op->inputs && node->op->inputs[0].role &&
           !strcmp(node->op->inputs[0].role, JOB_FROM);
}

/* Refs below are the user's (eqloom tag): no job writes there. */
#define JOB_TAGS "tag/"
/* JOB/NODE/at: the newest record of a chain that is not finished. */
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

/* For people: a parameter of the job, or one of a node that was given by --set, NODE.KEY. */
struct job_param {
    const char *name, *text;
};

struct job {
    const char *name, *path, *dir;
    const struct job_param *params;
    size_t n_params;
    const char *remote; /* address of a shared cache, a folder from `dir` on; NULL: none */
    enum executor executor;
    struct node *nodes; /* topological order: inputs first, else in file order */
    size_t n_nodes;
    const struct job_ref *refs;
    size_t n_refs;
    const struct job_export *exports;
    size_t n_exports;
};

struct job_options {
    const char *const *sets; /* "key=value" */
    size_t n_sets;
    bool allow_outside; /* paths that leave the job's directory */
};

enum err_code job_load(struct job **out, struct arena *a, const char *path,
                       const struct job_options *options, struct err *e);
/* "model@a=1,b=2" is named by "model", "model@b=2" and "model@b=2,a=1". */
bool job_name_fits(const char *name, const char *wanted);
/* A node by name, by its base name (all variants), or by "NAME.ROLE". Fills indices of nodes;
 * ERR_INPUT with a 'did you mean'. */
enum err_code job_find(uint32_t **nodes, size_t *n, struct arena *a, const struct job *job,
                       const char *name, struct err *e);
/* Memory in which op_int() and its like work: for op->check at plan time and for runs. */
struct op_ctx *op_ctx_for_params(struct arena *a, const struct node *node);
