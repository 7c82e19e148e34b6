/* Vocabularies and encoding; see encoding.h. The e-gen vocabulary has 59 tokens, as in the
 * paper. */
#include "ops/corpus/tokens/encoding.h"

#include "base/buf.h"
#include "ops/expr/lang.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *const specials[TOKEN_SPECIALS] = {"<pad>", "<start>", "<end>"};
static const char *const symbols[] = {"x", "y", "z", "t", "u", "a", "b", "c", "n", "pi", "e"};
enum { PLAIN_LIMIT = 99, NAME_SIZE = 1024 };

/* The places that the placed encoding appends to the names of tokens: a binary operator, and the
 * operand's number if its operands do not commute. */
static const struct place {
    uint16_t op;
    uint8_t operand; /* 0: any */
    const char *mark;
} places[] = {
    {X_ADD, 0, TOKEN_PLACE "+"},    {X_MUL, 0, TOKEN_PLACE "*"},    {X_SUB, 1, TOKEN_PLACE "-1"},
    {X_SUB, 2, TOKEN_PLACE "-2"},   {X_DIV, 1, TOKEN_PLACE "/1"},   {X_DIV, 2, TOKEN_PLACE "/2"},
    {X_POW, 1, TOKEN_PLACE "pow1"}, {X_POW, 2, TOKEN_PLACE "pow2"},
};
enum { N_PLACES = sizeof places / sizeof *places };

struct list {
    Eqloom__Vocabulary *v;
    struct arena *a;
    struct name_map seen;
};

static bool add(struct list *l, const char *token)
{
    bool added;
    name_map_put(&l->seen, token, 0, &added);
    if (added)
        l->v->tokens[l->v->n_tokens++] = (char *)token;
    return added;
}

static bool is_name(const char *s)
{
    if (!*s || isdigit((unsigned char)*s) || (*s == '-' && s[1]))
        return false;
    for (; *s; s++)
        if ((unsigned char)*s <= ' ' || *s == '<' || *s == '>' || *s == TOKEN_PLACE[0])
            return false;
    return true;
}

/* Adds each token except specials and digits again for each place. */
static void add_placed(struct list *l)
{
    size_t n = l->v->n_tokens;
    for (size_t p = 0; p < N_PLACES; p++)
        for (size_t i = TOKEN_SPECIALS; i < n; i++)
            add(l, arena_printf(l->a, "%s%s", l->v->tokens[i], places[p].mark));
}

enum err_code vocabulary_make(Eqloom__Vocabulary *out, struct arena *a, const char *encoding,
                              const char *const *more, size_t n_more, struct err *e)
{
    enum err_code code = OK;
    struct list l = {.v = out, .a = a};
    eqloom__vocabulary__init(out);
    out->encoding = arena_strdup(a, encoding);
    out->tokens = arena_array(
        a, char *, (lang_calculus.n_ops + 2 * PLAIN_LIMIT + 64 + n_more) * (1 + N_PLACES));
    for (size_t i = 0; i < TOKEN_SPECIALS; i++)
        add(&l, specials[i]);
    for (uint16_t op = X_ADD; op < lang_calculus.n_ops; op++)
        add(&l, lang_calculus.ops[op].name);
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        add(&l, symbols[i]);
    add(&l, "INT+");
    add(&l, "INT-");
    for (int digit = 0; digit < 10; digit++)
        add(&l, arena_printf(a, "%d", digit));
    for (int i = -PLAIN_LIMIT; strcmp(encoding, "e-gen") != 0 && i <= PLAIN_LIMIT; i++)
        add(&l, arena_printf(a, "%d", i));
    for (size_t i = 0; i < n_more && !code; i++)
        if (!is_name(more[i]))
            code = err_fail(e, ERR_INPUT, "'%s' cannot be a token", more[i]);
        else if (!add(&l, more[i]))
            code = err_fail(e, ERR_INPUT, "'%s' is in the vocabulary already", more[i]);
    if (strcmp(encoding, "placed") == 0)
        add_placed(&l);
    name_map_free(&l.seen);
    return code;
}

void encoder_init(struct encoder *c, const Eqloom__Vocabulary *vocabulary)
{
    *c = (struct encoder){.vocabulary = vocabulary};
    for (size_t i = 0; i < vocabulary->n_tokens; i++)
        name_map_put(&c->ids, vocabulary->tokens[i], i, NULL);
}

void encoder_free(struct encoder *c)
{
    name_map_free(&c->ids);
}

/* The stack of operators whose operands are being read. */
struct open {
    uint16_t op;
    uint8_t arity, read;
};
/* The state of encoding one expression. */
struct encoding {
    const struct encoder *c;
    const char *prefix;
    bool placed;
    struct buf ids, open;
};

/* Returns the place of the next token or "", and counts the token as an operand of the open
 * operator. */
static const char *next_place(struct encoding *x, const char *token)
{
    struct open *all = (struct open *)(void *)x->open.data, *top = NULL;
    size_t n = x->open.len / sizeof *all;
    const char *mark = "";
    int op = lang_find(&lang_calculus, token, strlen(token));
    while (n && all[n - 1].read == all[n - 1].arity)
        n--;
    x->open.len = n * sizeof *all;
    if (n) {
        top = &all[n - 1];
        top->read++;
        for (size_t i = 0; i < N_PLACES; i++)
            if (places[i].op == top->op && (!places[i].operand || places[i].operand == top->read))
                mark = places[i].mark;
    }
    const char *slash = op < 0 ? strchr(token, '/') : NULL; /* erf/1 */
    uint8_t arity = op >= 0 ? lang_calculus.ops[op].arity
                    : slash && isdigit((unsigned char)slash[1]) && !slash[2]
                        ? (uint8_t)(slash[1] - '0')
                        : 0;
    if (arity) {
        struct open next = {op < 0 ? UINT16_MAX : (uint16_t)op, arity, 0};
        buf_add(&x->open, &next, sizeof next);
    }
    return mark;
}

static enum err_code add_id(struct encoding *x, const char *token, const char *mark, struct err *e)
{
    char name[NAME_SIZE + 8];
    snprintf(name, sizeof name, "%s%s", token, mark);
    const uint64_t *id = name_map_get(&x->c->ids, name);
    if (!id || *id < TOKEN_SPECIALS) {
        enum err_code code =
            err_fail(e, ERR_INPUT, "'%s' of '%.200s' is not in the vocabulary", token, x->prefix);
        if (e)
            err_hint(e, "add it to the parameter 'tokens' of the vocabulary");
        return code;
    }
    uint32_t value = (uint32_t)*id;
    buf_add(&x->ids, &value, sizeof value);
    return OK;
}

static enum err_code encode_name(struct encoding *x, const char *token, struct err *e)
{
    return err_up(e, add_id(x, token, x->placed ? next_place(x, token) : "", e));
}

static bool is_integer(const char *digits, size_t n)
{
    size_t sign = n && digits[0] == '-';
    for (size_t i = sign; i < n; i++)
        if (!isdigit((unsigned char)digits[i]))
            return false;
    return n > sign;
}

static enum err_code encode_integer(struct encoding *x, const char *digits, size_t n,
                                    struct err *e);

/* Encodes a number as ten times the number without its last digit, plus that digit. */
static enum err_code encode_sum(struct encoding *x, const char *digits, size_t n, struct err *e)
{
    char unit[] = {digits[0] == '-' ? '-' : digits[n - 1], digits[n - 1], '\0'};
    enum err_code code;
    if ((code = err_up(e, encode_name(x, "+", e))) || (code = err_up(e, encode_name(x, "*", e))) ||
        (code = err_up(e, encode_integer(x, digits, n - 1, e))) ||
        (code = err_up(e, encode_name(x, "10", e))))
        return code;
    bool bare = digits[0] != '-' || digits[n - 1] == '0';
    return err_up(e, encode_name(x, bare ? unit + 1 : unit, e));
}

static enum err_code encode_integer(struct encoding *x, const char *digits, size_t n, struct err *e)
{
    char token[8];
    bool negative = digits[0] == '-';
    enum err_code code = OK;
    if (!is_integer(digits, n))
        return err_fail(e, ERR_INPUT, "a number of '%.200s' is malformed", x->prefix);
    if (n <= 3 && strcmp(x->c->vocabulary->encoding, "e-gen") != 0) {
        memcpy(token, digits, n);
        token[n] = '\0';
        if (name_map_get(&x->c->ids, token))
            return err_up(e, encode_name(x, token, e));
    }
    if (strcmp(x->c->vocabulary->encoding, "trees") == 0)
        return err_up(e, encode_sum(x, digits, n, e));
    code = err_up(e, encode_name(x, negative ? "INT-" : "INT+", e));
    for (size_t i = negative; i < n && !code; i++)
        code = err_up(e, add_id(x, (char[]){digits[i], '\0'}, "", e));
    return code;
}

/* Encodes an integer or a fraction written p/q. */
static enum err_code encode_number(struct encoding *x, const char *token, struct err *e)
{
    const char *slash = strchr(token, '/');
    enum err_code code;
    if (!slash)
        return err_up(e, encode_integer(x, token, strlen(token), e));
    if ((code = err_up(e, encode_name(x, "/", e))) ||
        (code = err_up(e, encode_integer(x, token, (size_t)(slash - token), e))))
        return code;
    return err_up(e, encode_integer(x, slash + 1, strlen(slash + 1), e));
}

enum err_code encode_prefix(uint32_t **ids, size_t *n, struct arena *a, const struct encoder *c,
                            const char *prefix, struct err *e)
{
    struct encoding x = {
        .c = c, .prefix = prefix, .placed = strcmp(c->vocabulary->encoding, "placed") == 0};
    char token[NAME_SIZE];
    enum err_code code = OK;
    for (const char *at = prefix; *at && !code;) {
        size_t len = strcspn(at, " ");
        if (len == 0 || len >= sizeof token) {
            code = err_fail(e, ERR_INPUT,
                            "'%.200s' does not consist of tokens separated by single "
                            "spaces",
                            prefix);
            break;
        }
        memcpy(token, at, len);
        token[len] = '\0';
        at += len + (at[len] == ' ');
        if (isdigit((unsigned char)token[token[0] == '-']))
            code = err_up(e, encode_number(&x, token, e));
        else
            code = err_up(e, encode_name(&x, token, e));
    }
    if (!code) {
        *n = x.ids.len / sizeof **ids;
        *ids = arena_memdup(a, x.ids.data ? x.ids.data : "", x.ids.len);
    }
    buf_free(&x.ids);
    buf_free(&x.open);
    return code;
}

/* ---- batches ---- */

enum err_code token_batch_pack(Eqloom__TokenBatch *out, struct arena *a, const struct encoder *c,
                               char *const *texts, size_t n, struct err *e)
{
    struct buf tokens = {0};
    enum err_code code = OK;
    eqloom__token_batch__init(out);
    out->offset = arena_array(a, uint32_t, n + 1);
    out->cluster = arena_array(a, uint32_t, n + 1);
    out->text = arena_array(a, char *, n + 1);
    out->n_offset = n + 1;
    out->n_cluster = out->n_text = n;
    for (size_t i = 0; i < n && !code; i++) {
        uint32_t *ids;
        size_t n_ids;
        out->text[i] = texts[i];
        out->cluster[i] = (uint32_t)i;
        if ((code = err_up(e, encode_prefix(&ids, &n_ids, a, c, texts[i], e))))
            break;
        buf_add(&tokens, ids, n_ids * sizeof *ids);
        out->offset[i + 1] = (uint32_t)(tokens.len / sizeof *ids);
    }
    out->n_tokens = tokens.len / sizeof *out->tokens;
    out->tokens = arena_memdup(a, tokens.data ? tokens.data : "", tokens.len);
    buf_free(&tokens);
    return code;
}

enum err_code token_batch_make(Eqloom__TokenBatch *out, struct arena *a, const struct encoder *c,
                               const Eqloom__Cluster *cluster, uint32_t max_members, struct err *e)
{
    size_t n = cluster->n_members < max_members ? cluster->n_members : max_members;
    char **texts = arena_array(a, char *, n + 1);
    for (size_t i = 0; i < n; i++)
        texts[i] = cluster->members[i]->prefix;
    enum err_code code = err_up(e, token_batch_pack(out, a, c, texts, n, e));
    if (code)
        return code;
    memset(out->cluster, 0, n * sizeof *out->cluster);
    if (cluster->seed) {
        const Eqloom__Expr *x = cluster->seed;
        out->language = x->language;
        struct span parts[] = {span_str(x->language), span_str("\n"), span_str(x->prefix)};
        struct digest class = digest_of(parts, 3);
        out->class_key = (ProtobufCBinaryData){sizeof class.bytes,
                                               arena_memdup(a, class.bytes, sizeof class.bytes)};
    }
    return OK;
}
