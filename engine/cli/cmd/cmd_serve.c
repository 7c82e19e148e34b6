/* eqloom serve: serves pages to a browser on this machine. */
#include "engine/cli/cmd/cmd.h"

#include "base/os.h"
#include "engine/serve/serve.h"

enum err_code cli_serve(int *status, struct cli *c, struct err *e)
{
    const char *const *files, *address = cli_value(c, "address");
    const size_t n = cli_values(&files, c, "operators");
    char **operators = arena_array(c->arena, char *, n + 1), *store = NULL;
    uint64_t port;
    enum err_code code = cli_number(&port, c, "port", 8421, 0, 65535, e);
    if (!code && c->store_named)
        code = os_realpath(&store, c->arena, c->store_named, e);
    for (size_t i = 0; i < n && !code; i++)
        code = os_realpath(&operators[i], c->arena, files[i], e);
    struct serve_options options = {address ? address : "127.0.0.1", (uint16_t)port, store,
                                    (const char *const *)operators, c->out};
    return err_up(e, code ? code : serve(&options, e));
}
