/* The transport for a folder on another machine, through the user's own ssh: its configuration,
 * keys and agent. Each request is one command for a POSIX shell there. A file is written under a
 * temporary name and renamed after its size has been checked, so that a broken connection leaves no
 * truncated file. */
#include "engine/remote/transport.h"

#include "base/os.h"
#include "store/pack/pack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct place {
    const char *host, *port, *path; /* port may be NULL; path is quoted for the shell */
};

/* Quotes for the shell: 'it'\''s' */
static const char *quote(struct arena *a, const char *text)
{
    char *out = arena_alloc(a, 4 * strlen(text) + 3), *to = out;
    *to++ = '\'';
    for (; *text; text++)
        if (*text == '\'') {
            memcpy(to, "'\\''", 4);
            to += 4;
        } else {
            *to++ = *text;
        }
    *to++ = '\'';
    *to = 0;
    return out;
}

static enum err_code run(FILE **out, struct transport *t, const char *command,
                         struct transport_request *q, struct err *e)
{
    const struct place *p = t->state;
    const char *with_port[] = {"ssh",   "-o", "BatchMode=yes", "-p", p->port,
                               p->host, "--", command,         NULL};
    const char *without[] = {"ssh", "-o", "BatchMode=yes", p->host, "--", command, NULL};
    q->argv = p->port ? with_port : without;
    return err_up(e, transport_run(out, t, q, e));
}

static enum err_code list(struct name_map *names, struct transport *t, const char *folder,
                          struct err *e)
{
    struct arena a = {0};
    const struct place *p = t->state;
    struct transport_request q = {.limit_bytes = TRANSPORT_LIST_BYTES,
                                  .until_ns = transport_until(TRANSPORT_LIST_S)};
    char line[300];
    FILE *listed = NULL;
    enum err_code code =
        run(&listed, t,
            arena_printf(&a, "cd %s && { [ ! -d %s ] || ls %s; }", p->path, folder, folder), &q, e);
    while (!code && fgets(line, sizeof line, listed)) {
        line[strcspn(line, "\n")] = 0;
        code = transport_add_name(names, line, e);
    }
    if (listed)
        fclose(listed);
    arena_free(&a);
    return err_up(e, code);
}

/* What is no plain file is an empty pack, which is a bad one. */
static const char get_script[] =
    "cd %1$s && { [ -h %2$s ] || [ -h %3$s ] || [ ! -f %3$s ] || cat %3$s; }";

/* Others may write to the folder: the file is made in a folder of its own, and mv follows no link
 * in its place. A transfer ends after an hour: folders a day old are of killed ones. */
static const char put_script[] =
    "cd %s && f=%s n=%s && { [ ! -h $f ] || { echo \"$f is a link\" >&2; exit 1; }; } && "
    "{ [ -d $f ] || mkdir $f; } && "
    "{ find $f ! -name $f -prune -type d -name '*.pack.*.tmp' -mtime +0 -exec rm -rf {} \\; "
    "2>/dev/null || :; } && "
    "t=$f/$n.$$.tmp && mkdir -m 700 $t && cat >$t/$n && [ $(wc -c <$t/$n) -eq %" PRIu64 " ] && "
    "mv -f $t/$n $f/; s=$?; rm -rf $t; exit $s";

static enum err_code get(FILE **out, struct transport *t, const char *name, struct err *e)
{
    struct arena a = {0};
    const struct place *p = t->state;
    struct transport_request q = {.limit_bytes = TRANSPORT_PACK_BYTES,
                                  .begin = PACK_MAGIC,
                                  .until_ns = transport_until(TRANSPORT_PACK_S)};
    enum err_code code =
        run(out, t, arena_printf(&a, get_script, p->path, os_dirname(&a, name), name), &q, e);
    arena_free(&a);
    return err_up(e, code);
}

static enum err_code put(struct transport *t, const char *name, const char *path, struct err *e)
{
    struct arena a = {0};
    const struct place *p = t->state;
    struct os_stat st;
    enum err_code code = os_stat(&st, path, e);
    FILE *from = code ? NULL : fopen(path, "rbe");
    struct transport_request q = {.in = from, .until_ns = transport_until(TRANSPORT_PACK_S)};
    if (!code && !from)
        code = err_fail(e, ERR_IO, "cannot read %s", path);
    if (!code)
        code = run(NULL, t,
                   arena_printf(&a, put_script, p->path, os_dirname(&a, name),
                                strchr(name, '/') + 1, st.size),
                   &q, e);
    if (from)
        fclose(from);
    arena_free(&a);
    return err_up(e, code);
}

static const struct transport_kind kind = {list, get, put};

enum err_code transport_ssh(struct transport *t, struct arena *a, const char *address,
                            struct err *e)
{
    struct place *p = arena_new(a, struct place);
    const char *path = strchr(address, '/');
    size_t n = path ? (size_t)(path - address) : 0;
    char *host = arena_strndup(a, address, n), *colon = strrchr(host, ':');
    if (colon) {
        *colon = 0;
        p->port = colon + 1;
    }
    if (!*host || *host == '-' || (colon && strspn(p->port, "0123456789") != strlen(p->port)) ||
        (colon && !*p->port))
        return err_fail(e, ERR_INPUT,
                        "ssh://%s is not an address of the form ssh://HOST[:PORT]/PATH", address);
    p->host = host;
    p->path = quote(a, path);
    t->kind = &kind;
    t->state = p;
    return OK;
}
