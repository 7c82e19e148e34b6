/* Rewrite rules: the file format (docs/rules.md), conditions, records. */
#pragma once

#include "ops/expr/ball/ball.h"
#include "ops/expr/expr.h"
#include "rule.pb-c.h"

/* Conditions are facts of an e-class. The first argument is a pattern term; `free_of(?a, x)` and
 * `constant_or_other_symbol(?c, ?x)` take two. */
enum rule_predicate {
    RULE_POSITIVE,    /* real and > 0 */
    RULE_NONNEGATIVE, /* real and >= 0 */
    RULE_NEGATIVE,
    RULE_NONPOSITIVE,
    RULE_NONZERO,       /* proved nonzero (may be complex) */
    RULE_MAYBE_NONZERO, /* not proved to be zero */
    RULE_REAL,
    RULE_INTEGER,
    RULE_EVEN, /* an even integer constant */
    RULE_ODD,
    RULE_CONSTANT, /* an exact rational constant */
    RULE_SYMBOL,   /* the class holds a variable */
    RULE_FREE_OF,  /* the first argument has no variable of the second */
    RULE_CONSTANT_OR_OTHER_SYMBOL,
    RULE_LESS, /* less(?a, ?b): real and strictly below */
    RULE_LESS_EQUAL,
    RULE_N_PREDICATES
};

struct rule_condition {
    enum rule_predicate predicate;
    struct expr args[2]; /* patterns */
    uint8_t n_args;
};

struct rule {
    const char *group, *name;
    struct expr lhs, rhs;
    const struct rule_condition *conditions;
    size_t n_conditions;
    const char *file; /* where it was parsed, for messages; NULL if read from a record */
    int line, column;
    bool off; /* in a group that is off by default; not part of the record */
};

struct rules {
    const struct language *lang; /* with declared operators */
    struct rule *rules;
    size_t n;
    size_t cap; /* capacity of `rules`, in the arena */
};

enum {
    RULES_MAX = 100000,        /* rules in a set */
    RULES_MAX_FILE = 16 << 20, /* bytes in a file */
    RULES_MAX_NAME = 100,      /* of a rule or a group */
    RULES_MAX_CONDITIONS = 16, /* of one rule */
    RULES_MAX_NODES = 500,     /* of a side or a condition's term */
};

/* ---- rule files: parse_rules.c ---- */
/* Appends the rules of a file. A new *rules has only its language set; the first file may change
 * the language, later files must agree with it. A bidirectional rule becomes two, the second named
 * "name~". On failure nothing is appended. */
enum err_code rules_parse(struct rules *rules, struct arena *a, const struct source_text *source,
                          struct err *e);
/* The language that a file names, by default the calculus; NULL if there is no such language. */
const struct language *rules_language(struct arena *a, const struct source_text *source);
/* The built-in files, sorted by name; returns their number. */
size_t rules_library(const struct source_text **out);
/* Reads a rule file given on a command line: a path, or "builtin:NAME" for a built-in file, with or
 * without its extension. */
enum err_code rules_source(struct source_text *out, struct arena *a, const char *name,
                           struct err *e);
/* The built-in rules of a language, sorted, including those of groups that are off. */
enum err_code rules_parse_library(struct rules *out, struct arena *a, const struct language *lang,
                                  struct err *e);

/* ---- rules and rule sets: rule.c ---- */
/* Whether the rule is the reverse of a bidirectional one, "name~"; *length is the length of "name".
 */
bool rule_is_reverse(size_t *length, const char *name);
/* Sorts by (group, name), the order in which a rule set applies its rules. */
void rules_sort(struct rules *rules);
/* Keeps the rules of included groups (by default all groups that are not off) that are not
 * excluded. The name of a group includes its subgroups: "trigonometry" includes
 * "trigonometry.sums". Fails with ERR_INPUT if no group has a given name. */
enum err_code rules_select(struct rules *rules, const char *const *include, size_t n_include,
                           const char *const *exclude, size_t n_exclude, struct err *e);
const char *rule_predicate_name(enum rule_predicate p);
unsigned rule_predicate_arity(enum rule_predicate p);
/* Returns -1 if there is no such predicate. */
int rule_predicate_find(const char *name, size_t n);
/* "positive(?a)" */
char *rule_condition_text(struct arena *a, const struct rule_condition *c);
/* If the rule has the variable, adds its domain as one or two conditions. */
void rule_restrict(struct rule *r, struct arena *a, const struct ball_domain *d);

/* ---- records: rule_record.c ---- */
void rule_to_message(Eqloom__Rule *out, struct arena *a, const struct rules *set,
                     const struct rule *r);
/* Extends *lang by the record's declared operators. If *lang is NULL, it becomes the record's
 * language; fails with ERR_INPUT if it is another language. */
enum err_code rule_from_message(struct rule *out, const struct language **lang, struct arena *a,
                                const Eqloom__Rule *message, struct err *e);
