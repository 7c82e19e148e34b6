/* A job between text and graph: the types that the stages of job_load share. Each stage is a file:
 *
 *   job_include  files -> draft: params, nodes, refs and exports as YAML, merged
 *   job_params   --set and ${name}
 *   job_values   typed parameters as canonical text
 *   job_matrix   references between nodes; nodes -> variants
 *   job_files    files of sources and programs
 *   job_graph    variants -> struct node, wired, checked, in topological order
 *
 * Everything is allocated in the arena passed to job_load. */
#pragma once

#include "base/text/yaml.h"
#include "engine/job/job.h"

enum {
    JOB_MAX_BYTES = 1 << 20,    /* of a job file */
    JOB_MAX_FILES = 64,         /* included */
    JOB_MAX_NODES = 4096,       /* after matrix expansion */
    JOB_MAX_PARAMS = 1000,      /* bounds the recursion when they use each other */
    JOB_MAX_EXPANDED = 8 << 20, /* bytes of all values after substitution */
};

/* An entry of a section of the job file. */
struct draft_pair {
    const struct yaml_node *key, *value;
    /* Params only: `value` is resolved once the state is PARAM_DONE. */
    enum { PARAM_RAW, PARAM_OPEN, PARAM_DONE } state;
};

enum draft_section { DRAFT_PARAMS, DRAFT_NODES, DRAFT_REFS, DRAFT_EXPORTS, DRAFT_SECTIONS };

struct draft_pairs {
    struct draft_pair *items;
    size_t n;
};

/* One axis of a matrix: a key and its values. */
struct draft_axis {
    const char *key;
    const struct yaml_node *const *values; /* NULL: inherited from an input's node */
    const char *const *texts;              /* the values as written in variant names */
    size_t n;
};

/* "model", "model.role", "model@pool=mean.role" */
struct draft_reference {
    const struct yaml_node *at;
    uint32_t node, output; /* indices of the draft_node and of the port in its op->outputs */
    const char *const *keys, *const *texts; /* n_fixed axis values that the reference names */
    size_t n_fixed;
};

struct draft_node {
    const char *name;
    const struct yaml_node *key, *body; /* body: a mapping, after substitution */
    const struct op *op;
    struct draft_axis *axes;
    size_t n_axes;
    struct draft_reference **inputs; /* by op->inputs */
    size_t *n_inputs;
    enum { DRAFT_NEW, DRAFT_OPEN, DRAFT_DONE } state;
    uint32_t first_variant, n_variants;
};

struct draft_variant {
    uint32_t node;
    const char *name;
    const size_t *choice; /* per axis: index of its value */
};

struct draft {
    struct arena *arena;
    const struct job_options *options;
    const char *path, *dir, *real_dir;
    const char *name;
    const struct yaml_node *name_at;
    const struct yaml_node *remote_at, *executor_at; /* NULL: absent */
    struct draft_pairs sections[DRAFT_SECTIONS];
    struct draft_node *nodes; /* filled in by draft_expand */
    size_t n_nodes;
    struct draft_variant *variants;
    size_t n_variants;
    size_t expanded; /* bytes produced by substitution so far */
};

/* ---- job_include ---- */
enum err_code draft_read(struct draft *d, struct err *e);
/* Fails with ERR_INPUT unless the existing path is in the job's directory or --allow-outside is
 * set. */
enum err_code draft_check_inside(const struct draft *d, const char *path,
                                 const struct yaml_node *at, struct err *e);
/* Returns whether `s` consists of letters, digits, '_', '-' and the characters of `also`, is not
 * empty and has at most 100 bytes. */
bool draft_is_name(const char *s, const char *also);

/* ---- job_params ---- */
/* Applies --set, resolves params and substitutes them everywhere. */
enum err_code draft_substitute(struct draft *d, struct err *e);

/* ---- job_values ---- */
/* Computes the canonical text of a parameter's value. */
enum err_code job_param_text(const char **out, struct arena *a, const struct op_param *param,
                             const struct yaml_node *value, struct err *e);
/* Returns the canonical text of the parameter's default, or NULL if it has none. */
const char *job_param_initial(struct arena *a, const struct op_param *param);

/* ---- job_matrix ---- */
/* Finds ops, reads references and axes, and creates the variants. */
enum err_code draft_expand(struct draft *d, struct err *e);
enum err_code draft_read_reference(struct draft_reference *out, struct draft *d,
                                   const struct yaml_node *at, struct err *e);
/* Lists the variants of the referenced node that match the reference. Axes that the reference
 * leaves open take their value from `of` (may be NULL) if it has that axis. Returns their number.
 */
size_t draft_select(uint32_t *variants, size_t max, const struct draft *d,
                    const struct draft_reference *ref, const struct draft_variant *of);
/* Returns the value of `key` in the variant's body, where axis values replace those of the node. */
const struct yaml_node *draft_variant_value(const struct draft *d, const struct draft_variant *v,
                                            const char *key);

/* ---- job_files ---- */
enum err_code draft_read_files(struct node *out, struct draft *d, const struct draft_node *node,
                               struct err *e);

/* ---- job_graph ---- */
enum err_code draft_wire(struct job **out, struct draft *d, struct err *e);
