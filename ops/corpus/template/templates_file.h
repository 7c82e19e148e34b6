/* A parsed template file: sets of values, and groups of templates split into pieces. */
#pragma once

#include "base/text/yaml.h"
#include "ops/corpus/template/templates.h"

enum {
    TEMPLATES_MAX_VALUES = 10000, /* of a set */
    TEMPLATES_MAX_SLOTS = 8,      /* of a template */
    TEMPLATES_IT = -1,            /* the slot {it}: expressions of other groups */
};

struct template_set {
    const char *name;
    const char **values;
    size_t n;
};

/* {a} and {a.2} are two slots over one set; {a} twice is one slot. */
struct template_slot {
    const char *name;
    int set; /* or TEMPLATES_IT */
};

struct template_piece {
    const char *text; /* literal text, when slot < 0 */
    int slot;
};

struct template
{
    const struct yaml_node *node;
    struct template_piece *pieces;
    size_t n_pieces;
    struct template_slot slots[TEMPLATES_MAX_SLOTS];
    size_t n_slots;
};

enum template_per { PER_GROUP, PER_TEMPLATE, PER_SET };

struct template_group {
    const char *name;
    struct template *templates;
    size_t n;
    uint64_t take; /* 0: all */
    enum template_per per;
    int per_set;
    uint32_t max_tokens; /* 0: no limit */
    size_t *of;          /* earlier groups, for {it} */
    size_t n_of;
};

struct template_file {
    const struct language *lang;
    struct template_set *sets;
    size_t n_sets;
    struct template_group *groups;
    size_t n_groups;
    struct templates_domain *domains;
    size_t n_domains;
};

enum err_code template_file_read(struct template_file *out, struct arena *a,
                                 const struct source_text *source, struct err *e);
