#include "engine/cache/trace.h"

#include "schemas/canonical.h"

#include <string.h>

bool trace_read(struct trace *out, struct arena *a, struct store *s, const struct digest *at)
{
    struct span bytes;
    return !store_trace(&bytes, s, at, a, NULL) && trace_parse(out, a, bytes);
}

bool trace_parse(struct trace *out, struct arena *a, struct span bytes)
{
    const Eqloom__Trace *t;
    if (canonical_unpack(&t, a, &eqloom__trace__descriptor, bytes, NULL))
        return false;
    if (t->action_key.len != DIGEST_SIZE || (t->made_by.len && t->made_by.len != DIGEST_SIZE))
        return false;
    *out = (struct trace){.witness = span_of(t->witness.data, t->witness.len)};
    memcpy(out->action.bytes, t->action_key.data, DIGEST_SIZE);
    if (t->made_by.len)
        memcpy(out->made_by.bytes, t->made_by.data, DIGEST_SIZE);
    return true;
}

enum err_code trace_write(struct store_batch *b, struct arena *a, const struct digest *at,
                          const struct trace *trace, struct err *e)
{
    struct span bytes;
    Eqloom__Trace m = EQLOOM__TRACE__INIT;
    m.action_key = (ProtobufCBinaryData){DIGEST_SIZE, (uint8_t *)trace->action.bytes};
    if (!digest_is_zero(&trace->made_by))
        m.made_by = (ProtobufCBinaryData){DIGEST_SIZE, (uint8_t *)trace->made_by.bytes};
    m.witness = (ProtobufCBinaryData){trace->witness.len, (uint8_t *)trace->witness.data};
    enum err_code code = canonical_pack(&bytes, a, &m.base, e);
    if (!code)
        code = store_batch_trace(b, at, bytes, e);
    return err_up(e, code);
}

bool trace_follow(struct action_result *out, struct arena *a, struct store *s, const struct op *op,
                  const struct digest *at)
{
    struct trace t;
    return trace_read(&t, a, s, at) && !action_read(out, a, s, op, &t.action, NULL);
}
