/* Vocabularies and encoding; see encoding.h. The e-gen vocabulary has 59 tokens, as the paper's. */
#include "ops/corpus/encoding.h"

#include "base/buf.h"
#include "ops/expr/lang.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *const specials[TOKEN_SPECIALS] = {"<pad>", "<start>", "<end>"};
static const char *const symbols[] = {"x", "y", "z", "t", "u", "a", "b", "c", "n", "pi", "e"};
enum { PLAIN_LIMIT = 99 };

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
        l->v->tokens[l->v->n_tokens++] = arena_strdup(l->a, token);
    return added;
}

static bool is_name(const char *s)
{
    if (!*s || isdigit((unsigned char)*s) || (*s == '-' && s[1]))
        return false;
    for (; *s; s++)
        if ((unsigned char)*s <= ' ' || *s == '<' || *s == '>')
            return false;
    return true;
}

enum err_code vocabulary_make(Eqloom__Vocabulary *out, struct arena *a, const char *encoding,
                              const char *const *more, size_t n_more, struct err *e)
{
    char number[16];
    enum err_code code = OK;
    struct list l = {.v = out, .a = a};
    eqloom__vocabulary__init(out);
    out->encoding = arena_strdup(a, encoding);
    out->tokens = arena_array(a, char *, lang_calculus.n_ops + 2 * PLAIN_LIMIT + 64 + n_more);
    for (size_t i = 0; i < TOKEN_SPECIALS; i++)
        add(&l, specials[i]);
    for (uint16_t op = X_ADD; op < lang_calculus.n_ops; op++)
        add(&l, lang_calculus.ops[op].name);
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        add(&l, symbols[i]);
    add(&l, "INT+");
    add(&l, "INT-");
    for (int digit = 0; digit < 10; digit++) {
        snprintf(number, sizeof number, "%d", digit);
        add(&l, number);
    }
    for (int i = -PLAIN_LIMIT; strcmp(encoding, "plain") == 0 && i <= PLAIN_LIMIT; i++) {
        snprintf(number, sizeof number, "%d", i);
        add(&l, number);
    }
    for (size_t i = 0; i < n_more && !code; i++)
        if (!is_name(more[i]))
            code = err_fail(e, ERR_INPUT, "'%s' cannot be a token", more[i]);
        else if (!add(&l, more[i]))
            code = err_fail(e, ERR_INPUT, "'%s' is in the vocabulary already", more[i]);
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

static enum err_code encode_name(struct buf *out, const struct encoder *c, const char *token,
                                 const char *prefix, struct err *e)
{
    const uint64_t *id = name_map_get(&c->ids, token);
    if (!id || *id < TOKEN_SPECIALS) {
        enum err_code code =
            err_fail(e, ERR_INPUT, "'%s' of '%.200s' is not in the vocabulary", token, prefix);
        if (e)
            err_hint(e, "add it to the parameter 'tokens' of the vocabulary");
        return code;
    }
    uint32_t value = (uint32_t)*id;
    buf_add(out, &value, sizeof value);
    return OK;
}

static bool is_integer(const char *digits, size_t n)
{
    size_t sign = n && digits[0] == '-';
    for (size_t i = sign; i < n; i++)
        if (!isdigit((unsigned char)digits[i]))
            return false;
    return n > sign;
}

static enum err_code encode_integer(struct buf *out, const struct encoder *c, const char *digits,
                                    size_t n, const char *prefix, struct err *e)
{
    char token[8];
    bool negative = digits[0] == '-';
    enum err_code code = OK;
    if (!is_integer(digits, n))
        return err_fail(e, ERR_INPUT, "a number of '%.200s' is malformed", prefix);
    if (n <= 3 && strcmp(c->vocabulary->encoding, "plain") == 0) {
        memcpy(token, digits, n);
        token[n] = '\0';
        if (name_map_get(&c->ids, token))
            return err_up(e, encode_name(out, c, token, prefix, e));
    }
    code = err_up(e, encode_name(out, c, negative ? "INT-" : "INT+", prefix, e));
    for (size_t i = negative; i < n && !code; i++)
        code = err_up(e, encode_name(out, c, (char[]){digits[i], '\0'}, prefix, e));
    return code;
}

/* An integer or a fraction, written p/q. */
static enum err_code encode_number(struct buf *out, const struct encoder *c, const char *token,
                                   const char *prefix, struct err *e)
{
    const char *slash = strchr(token, '/');
    enum err_code code;
    if (!slash)
        return err_up(e, encode_integer(out, c, token, strlen(token), prefix, e));
    if ((code = err_up(e, encode_name(out, c, "/", prefix, e))) ||
        (code = err_up(e, encode_integer(out, c, token, (size_t)(slash - token), prefix, e))))
        return code;
    return err_up(e, encode_integer(out, c, slash + 1, strlen(slash + 1), prefix, e));
}

enum err_code encode_prefix(uint32_t **ids, size_t *n, struct arena *a, const struct encoder *c,
                            const char *prefix, struct err *e)
{
    struct buf out = {0};
    char token[1024];
    enum err_code code = OK;
    for (const char *at = prefix; *at && !code;) {
        size_t len = strcspn(at, " ");
        if (len == 0 || len >= sizeof token) {
            code =
                err_fail(e, ERR_INPUT, "'%.200s' is not made of tokens and single blanks", prefix);
            break;
        }
        memcpy(token, at, len);
        token[len] = '\0';
        at += len + (at[len] == ' ');
        if (isdigit((unsigned char)token[token[0] == '-']))
            code = err_up(e, encode_number(&out, c, token, prefix, e));
        else
            code = err_up(e, encode_name(&out, c, token, prefix, e));
    }
    if (!code) {
        *n = out.len / sizeof **ids;
        *ids = arena_memdup(a, out.data ? out.data : "", out.len);
    }
    buf_free(&out);
    return code;
}
