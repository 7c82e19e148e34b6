/* See jq_filter.h. The value goes to jq as JSON text: its number and string types are its own. */
#include "engine/cli/records/jq_filter.h"

#include "base/buf.h"

#include <jq.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct jq_filter {
    jq_state *jq;
    struct buf messages; /* of the compiler, which otherwise go to standard error */
};

static void take_message(void *arg, jv message)
{
    struct jq_filter *f = arg;
    buf_printf(&f->messages, "%s%s", f->messages.len ? "\n" : "", jv_string_value(message));
    jv_free(message);
}

/* "jq: error: syntax error, ... (Unix shell quoting issues?) at <top-level>, line 1:": the part
 * that says what is wrong. */
static enum err_code refuse_program(const struct jq_filter *f, struct err *e)
{
    static const char prefix[] = "jq: error: ", advice[] = " (Unix shell quoting issues?)";
    const char *text = f->messages.data ? f->messages.data : "";
    text += strncmp(text, prefix, strlen(prefix)) ? 0 : strlen(prefix);
    size_t line = strcspn(text, "\n");
    const char *end = strstr(text, advice);
    size_t n = end && end < text + line ? (size_t)(end - text) : line;
    enum err_code code = err_fail(e, ERR_INPUT, "jq cannot read the program: %.*s", (int)n, text);
    err_detail(e, text + line + strspn(text + line, "\n"));
    return code;
}

enum err_code jq_filter_new(struct jq_filter **out, const char *program, struct err *e)
{
    struct jq_filter *f = calloc(1, sizeof *f);
    if (!f || !(f->jq = jq_init())) {
        free(f);
        return err_fail(e, ERR_NOMEM, "no memory for a jq program");
    }
    jq_set_error_cb(f->jq, take_message, f);
    /* Where `import` looks; without them jq aborts at one. */
    jq_set_attr(f->jq, jv_string("JQ_LIBRARY_PATH"), JV_ARRAY(jv_string("~/.jq")));
    jq_set_attr(f->jq, jv_string("PROGRAM_ORIGIN"), jv_string("."));
    if (jq_compile(f->jq, program)) {
        *out = f;
        return OK;
    }
    enum err_code code = refuse_program(f, e);
    jq_filter_free(f);
    return code;
}

void jq_filter_free(struct jq_filter *f)
{
    if (!f)
        return;
    jq_teardown(&f->jq);
    buf_free(&f->messages);
    free(f);
}

static bool selects(jv output)
{
    return jv_get_kind(output) != JV_KIND_FALSE && jv_get_kind(output) != JV_KIND_NULL;
}

/* `output`, which is not valid: the end of the outputs, or an error. */
static enum err_code end_of_outputs(jv output, struct err *e)
{
    if (!jv_invalid_has_msg(jv_copy(output))) {
        jv_free(output);
        return OK;
    }
    jv message = jv_invalid_get_msg(output);
    if (jv_get_kind(message) != JV_KIND_STRING) /* error({...}) */
        message = jv_dump_string(message, 0);
    enum err_code code = err_fail(e, ERR_INPUT, "jq: %s", jv_string_value(message));
    jv_free(message);
    return code;
}

enum err_code jq_filter_run(const char **yielded, struct arena *a, struct jq_filter *f,
                            const json_t *value, struct err *e)
{
    *yielded = NULL;
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    size_t len = text ? strlen(text) : 0;
    if (!text || len > INT_MAX) {
        free(text);
        return err_fail(e, ERR_LIMIT, "the value is too large for jq");
    }
    jq_start(f->jq, jv_parse_sized(text, (int)len), 0);
    free(text);
    jv output = jq_next(f->jq);
    while (jv_is_valid(output) && !selects(output)) {
        jv_free(output);
        output = jq_next(f->jq);
    }
    if (!jv_is_valid(output))
        return err_up(e, end_of_outputs(output, e));
    output = jv_dump_string(output, 0);
    *yielded = arena_strdup(a, jv_string_value(output));
    jv_free(output);
    return OK;
}
