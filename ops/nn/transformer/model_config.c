/* Writes and parses the text of a model's configuration; see model.h. One table drives both, so
 * that whatever is written can be parsed. */
#include "ops/nn/transformer/model.h"

#include "base/buf.h"

#include <stddef.h>
#include <string.h>

struct field {
    const char *key;
    size_t at;
    const char *const *names; /* of a choice, by value, ended by NULL; NULL for a number */
    bool optional;            /* not written if it is 0 */
};

static const char *const activations[] = {[GPU_RELU] = "relu", [GPU_GELU] = "gelu", NULL};
static const char *const poolings[] = {[GPU_MEAN] = "mean", [GPU_MAX] = "max", NULL};
static const char *const memories[] = {
    [NN_MEMORY_STATES] = "states", [NN_MEMORY_VECTOR] = "vector", NULL};
static const char *const positions[] = {
    [NN_SINUSOIDAL] = "sinusoidal", [NN_LEARNED] = "learned", NULL};
static const char *const booleans[] = {"false", "true", NULL};

/* Sorted by key, the order of the text. */
static const struct field fields[] = {
    {"activation", offsetof(struct nn_config, activation), activations},
    {"attention_bias", offsetof(struct nn_config, attention_bias), booleans},
    {"d_ff", offsetof(struct nn_config, d_ff)},
    {"d_model", offsetof(struct nn_config, d_model)},
    {"decoder_layers", offsetof(struct nn_config, decoder_layers), NULL, true},
    {"heads", offsetof(struct nn_config, heads)},
    {"layers", offsetof(struct nn_config, layers)},
    {"max_length", offsetof(struct nn_config, max_length)},
    {"memory", offsetof(struct nn_config, memory), memories, true},
    {"pooling", offsetof(struct nn_config, pooling), poolings},
    {"positions", offsetof(struct nn_config, positions), positions},
    {"tied_output", offsetof(struct nn_config, tied_output), booleans, true},
    {"vocabulary", offsetof(struct nn_config, vocabulary)},
    {"wrap", offsetof(struct nn_config, wrap), booleans, true},
};
enum { N_FIELDS = sizeof fields / sizeof *fields };

static unsigned get(const struct nn_config *c, const struct field *f)
{
    const char *at = (const char *)c + f->at;
    return f->names == booleans ? *(const bool *)at : *(const unsigned *)at;
}

static void set(struct nn_config *c, const struct field *f, unsigned value)
{
    char *at = (char *)c + f->at;
    if (f->names == booleans)
        *(bool *)at = value;
    else
        *(unsigned *)at = value;
}

uint32_t nn_config_room(const struct nn_config *c)
{
    uint32_t added = c->wrap ? 2 : c->decoder_layers ? 1 : 0;
    return c->max_length > added ? c->max_length - added : 0;
}

enum err_code nn_config_check(const struct nn_config *c, struct err *e)
{
    if (!c->vocabulary || !c->d_model || !c->layers || !c->heads || !c->d_ff || !c->max_length)
        return err_fail(e, ERR_INPUT, "all dimensions of a model must be positive");
    if (nn_config_room(c) == 0)
        return err_fail(e, ERR_INPUT, "max_length %u leaves no room between start and end tokens",
                        c->max_length);
    if (c->tied_output && !c->decoder_layers)
        return err_fail(e, ERR_INPUT, "a tied output needs a decoder");
    if (c->memory != NN_MEMORY_STATES && !c->decoder_layers)
        return err_fail(e, ERR_INPUT, "memory '%s' needs a decoder", memories[c->memory]);
    if (c->vocabulary > 1u << 24 || c->d_model > 1u << 16 || c->layers > 1u << 10 ||
        c->decoder_layers > 1u << 10 || c->d_ff > 1u << 18 || c->max_length > 1u << 20)
        return err_fail(e, ERR_INPUT, "the model's dimensions are too large");
    if (c->d_model % c->heads)
        return err_fail(e, ERR_INPUT, "d_model %u is not divisible by heads %u", c->d_model,
                        c->heads);
    return OK;
}

char *nn_config_text(struct arena *a, const struct nn_config *c)
{
    struct buf b = {0};
    for (size_t i = 0; i < N_FIELDS; i++) {
        const struct field *f = &fields[i];
        if (f->optional && !get(c, f))
            continue;
        if (f->names)
            buf_printf(&b, "%s=%s\n", f->key, f->names[get(c, f)]);
        else
            buf_printf(&b, "%s=%u\n", f->key, get(c, f));
    }
    return buf_text(&b, a);
}

static bool parse_value(unsigned *value, const struct field *f, const char *s, size_t n)
{
    *value = 0;
    if (f->names) {
        for (; f->names[*value]; ++*value)
            if (strlen(f->names[*value]) == n && memcmp(f->names[*value], s, n) == 0)
                return true;
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9' || *value > UINT32_MAX / 10 - 1)
            return false;
        *value = *value * 10 + (unsigned)(s[i] - '0');
    }
    return n > 0;
}

enum err_code nn_config_parse(struct nn_config *c, const char *text, struct err *e)
{
    *c = (struct nn_config){0};
    for (size_t i = 0; i < N_FIELDS; i++) {
        const struct field *f = &fields[i];
        size_t key = strlen(f->key), line = strcspn(text, "\n");
        unsigned value;
        bool named = line > key && memcmp(text, f->key, key) == 0 && text[key] == '=';
        if (!named && f->optional)
            continue;
        if (!named || text[line] != '\n' || !parse_value(&value, f, text + key + 1, line - key - 1))
            return err_fail(e, ERR_CORRUPT, "architecture: '%s' is missing before '%.*s'", f->key,
                            (int)(line < 60 ? line : 60), text);
        set(c, f, value);
        text += line + 1;
    }
    if (*text)
        return err_fail(e, ERR_CORRUPT, "architecture: unknown line '%.60s'", text);
    return err_up(e, nn_config_check(c, e));
}
