/* eqloom query: records of a kind that meet conditions. */
#include "engine/cli/cli.h"

#include "base/map.h"
#include "engine/cli/condition.h"
#include "engine/cli/kinds.h"
#include "engine/cli/place.h"
#include "engine/cli/provenance/lineage.h"
#include "engine/cli/records/reflect.h"
#include "engine/cli/resolve.h"
#include "schemas/canonical.h"
#include "store/collection.h"

#include <inttypes.h>
#include <string.h>

struct query {
    struct cli *c;
    struct store *store;
    const struct kind_info *kind;
    struct condition *conditions;
    size_t n_conditions;
    const char *job, *node; /* NULL: any */
    uint64_t left, found, refs;
    struct lineage *lineage; /* NULL: nobody asks who made something */
    struct digest_map seen;  /* several nodes may hold the same */
    struct arena scratch;
};

/* A name that no op has is a mistake, in `=` and `!=`. */
static enum err_code check_ops(const struct condition *c, const char *text, struct err *e)
{
    struct source_text source = {"--where", text, strlen(text)};
    const char *names[256];
    size_t n = 0;
    for (; op_table[n] && n < 256; n++)
        names[n] = op_table[n]->name;
    for (; c; c = c->or_else) {
        bool whole = c->operator== CONDITION_EQUAL || c->operator== CONDITION_UNEQUAL;
        if (c->about != ABOUT_OP || !whole || op_find(c->value))
            continue;
        err_fail_at(e, &source, c->value_offset, "there is no op '%.60s'", c->value);
        const char *near = err_nearest(c->value, names, n);
        if (near)
            err_hint(e, "did you mean '%s'?", near);
        else
            err_hint(e, "'eqloom ops' lists them");
        return ERR_INPUT;
    }
    return OK;
}

static bool asks_maker(const struct query *q)
{
    for (size_t i = 0; i < q->n_conditions; i++)
        if (condition_asks(&q->conditions[i], ABOUT_OP) ||
            condition_asks(&q->conditions[i], ABOUT_TIME))
            return true;
    return false;
}

static enum err_code parse_conditions(struct query *q, struct err *e)
{
    const char *const *texts;
    struct cli *c = q->c;
    q->n_conditions = cli_values(&texts, c, "where");
    q->conditions = arena_array(c->arena, struct condition, q->n_conditions);
    for (size_t i = 0; i < q->n_conditions; i++)
        if (err_up(e, condition_parse(&q->conditions[i], c->arena, texts[i], q->kind->descriptor,
                                      e)) ||
            err_up(e, check_ops(&q->conditions[i], texts[i], e)))
            return ERR_INPUT;
    return OK;
}

static void print_match(struct query *q, const struct digest *id, const ProtobufCMessage *m,
                        const struct condition_facts *facts)
{
    struct cli *c = q->c;
    struct arena *a = &q->scratch;
    char hex[DIGEST_HEX];
    const char *label = resolve_label(a, q->store, id);
    digest_hex(hex, id);
    if (c->json) {
        json_t *fields = json_object();
        for (size_t i = 0; i < q->n_conditions; i++)
            json_object_set_new(fields, q->conditions[i].path,
                                json_string(condition_shown(a, &q->conditions[i], m, facts)));
        reflect_dump(c->out, json_pack("{s:s, s:s, s:s, s:o}", "id", hex, "kind", q->kind->name,
                                       "label", label, "fields", fields));
        return;
    }
    fprintf(c->out, "%.12s%s%s", hex, *label ? "  " : "", label);
    for (size_t i = 0; i < q->n_conditions; i++) {
        const char *text = condition_shown(a, &q->conditions[i], m, facts);
        if (strcmp(text, label))
            fprintf(c->out, "  %s: %.60s%s", q->conditions[i].path, text,
                    strlen(text) > 60 ? "..." : "");
    }
    fputc('\n', c->out);
}

/* ERR_CANCELLED: enough. */
static enum err_code ask_record(struct query *q, const struct digest *id, struct err *e)
{
    ProtobufCMessage *m;
    bool added;
    digest_map_put(&q->seen, id, 1, &added);
    if (!added)
        return OK;
    enum err_code code = store_get_message(&m, q->store, id, q->kind->kind, &q->scratch, e);
    struct condition_facts facts = {.op = ""};
    if (!code)
        facts.size = protobuf_c_message_get_packed_size(m);
    if (!code && q->lineage)
        code = lineage_maker(&facts.op, &facts.time_ns, q->lineage, id, e);
    bool holds = !code;
    for (size_t i = 0; holds && i < q->n_conditions; i++)
        holds = condition_matches(&q->conditions[i], m, &facts);
    if (holds && !q->left)
        code = ERR_CANCELLED;
    else if (holds) {
        print_match(q, id, m, &facts);
        q->left--;
        q->found++;
    }
    arena_reset(&q->scratch);
    return err_up(e, code);
}

static enum err_code visit_record(void *arg, const struct digest *id, enum record_kind kind,
                                  uint64_t stored, struct err *e)
{
    struct query *q = arg;
    return kind == q->kind->kind ? ask_record(q, id, e) : OK;
}

/* ---- what nodes hold ---- */

/* "job/node", "job/node.role", "job/node@variant": of job and node? */
static bool is_asked(const struct query *q, const char *ref)
{
    const char *slash = strchr(ref, '/');
    if (!slash)
        return false;
    size_t n = (size_t)(slash - ref);
    if (q->job && (strlen(q->job) != n || strncmp(q->job, ref, n)))
        return false;
    if (!q->node)
        return true;
    n = strlen(q->node);
    return !strncmp(slash + 1, q->node, n) && (!slash[1 + n] || strchr(".@", slash[1 + n]));
}

static enum err_code ask_collection(struct query *q, const struct digest *id, struct err *e)
{
    enum { AT_ONCE = 256 };
    struct collection *list;
    struct digest ids[AT_ONCE];
    enum err_code code = err_up(e, collection_open(&list, q->store, id, e));
    if (code)
        return code;
    uint64_t count = collection_element_kind(list) == q->kind->kind ? collection_count(list) : 0;
    for (uint64_t at = 0; !code && at < count; at += AT_ONCE) {
        uint64_t n = count - at < AT_ONCE ? count - at : AT_ONCE;
        code = err_up(e, collection_ids(ids, list, at, n, e));
        for (uint64_t i = 0; !code && i < n; i++)
            code = ask_record(q, &ids[i], e);
    }
    collection_close(list);
    return code;
}

static enum err_code visit_ref(void *arg, const char *name, const struct digest *id, struct err *e)
{
    struct query *q = arg;
    struct record r;
    if (!is_asked(q, name))
        return OK;
    q->refs++;
    enum err_code code = store_get(&r, q->store, id, &q->scratch, e);
    arena_reset(&q->scratch);
    if (code == ERR_NOTFOUND)
        return OK; /* removed: the next run makes it again */
    if (code)
        return err_up(e, code);
    if (r.kind == q->kind->kind)
        return ask_record(q, id, e);
    return r.kind == KIND_COLLECTION ? ask_collection(q, id, e) : OK;
}

static enum err_code refuse_node(const struct query *q, struct err *e)
{
    err_fail(e, ERR_INPUT, "no node is called %.100s/%.100s", q->job ? q->job : "*",
             q->node ? q->node : "*");
    err_hint(e, "'eqloom ls' lists the nodes of jobs");
    return ERR_INPUT;
}

static enum err_code query(struct query *q, struct err *e)
{
    bool by_name = q->job || q->node;
    enum err_code code = by_name ? store_each_ref(q->store, "", visit_ref, q, e)
                                 : store_each_record(q->store, visit_record, q, e);
    arena_free(&q->scratch);
    digest_map_free(&q->seen);
    if (!code && by_name && !q->refs)
        return err_up(e, refuse_node(q, e));
    if (code == ERR_CANCELLED)
        fprintf(q->c->narration, "... and more (--limit)\n");
    else if (!code && !q->found)
        fprintf(q->c->narration, "no %s meets the conditions\n", q->kind->name);
    return code == ERR_CANCELLED ? OK : err_up(e, code);
}

enum err_code cli_query(int *status, struct cli *c, struct err *e)
{
    struct query q = {.c = c, .job = cli_value(c, "job"), .node = cli_value(c, "node")};
    enum record_kind kind;
    char *path;
    enum err_code code = err_up(e, kind_parse(&kind, c->arguments[0], e));
    if (!code)
        q.kind = kind_info(kind);
    if (!code)
        code = err_up(e, parse_conditions(&q, e));
    if (!code)
        code = err_up(e, cli_number(&q.left, c, "limit", UINT64_MAX, 1, UINT64_MAX, e));
    if (!code)
        code = err_up(e, place_open(&q.store, &path, c, NULL, PLACE_READ, e));
    if (code)
        return code;
    if (asks_maker(&q))
        code = err_up(e, lineage_open(&q.lineage, q.store, e));
    if (!code)
        code = err_up(e, query(&q, e));
    lineage_close(q.lineage);
    store_close(q.store);
    return code;
}
