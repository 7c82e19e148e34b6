/* eqloom serve: pages for a browser on this machine. */
#include "engine/cli/cmd/cmd.h"

#include "base/os.h"
#include "engine/serve/serve.h"

enum err_code cli_serve(int *status, struct cli *c, struct err *e)
{
    const char *address = cli_value(c, "address");
    struct serve_options options = {.address = address ? address : "127.0.0.1", .out = c->out};
    const char *const *files;
    const size_t n = cli_values(&files, c, "operators");
    const char **operators = arena_array(c->arena, const char *, n + 1);
    uint64_t port;
    char *store = NULL;
    enum err_code code = cli_number(&port, c, "port", 8421, 0, 65535, e);
    if (!code && c->store_named)
        code = os_realpath(&store, c->arena, c->store_named, e);
    for (size_t i = 0; i < n && !code; i++) {
        char *path;
        code = os_realpath(&path, c->arena, files[i], e);
        operators[i] = path;
    }
    options.operators = operators;
    options.port = (uint16_t)port;
    options.store = store;
    return err_up(e, code ? code : serve(&options, e));
}
