/* eqloom lineage: what a record was made from, or what was made with it. */
#include "engine/cli/console/cli.h"

#include "engine/cli/provenance/lineage.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/resolve.h"

static enum err_code lineage(struct cli *c, struct store *s, struct err *e)
{
    bool down = cli_flag(c, "down");
    struct resolved ref;
    struct lineage *l = NULL;
    struct lineage_item *root;
    enum err_code code = err_up(e, resolve(&ref, c, s, c->arguments[0], e));
    if (!code)
        code = err_up(e, lineage_open(&l, s, e));
    if (!code)
        code = down ? err_up(e, lineage_down(&root, c->arena, l, &ref.id, e))
                    : err_up(e, lineage_up(&root, c->arena, l, &ref.id, e));
    if (!code && c->json)
        lineage_dump(c->out, root, down);
    else if (!code && cli_flag(c, "dot"))
        lineage_draw(c->out, root, down);
    else if (!code)
        lineage_print(c->out, root, down);
    lineage_close(l);
    return code;
}

enum err_code cli_lineage(int *status, struct cli *c, struct err *e)
{
    struct store *s;
    char *path;
    if (c->json && cli_flag(c, "dot"))
        return err_fail(e, ERR_INPUT, "--json and --dot exclude each other");
    enum err_code code = err_up(e, place_open(&s, &path, c, NULL, PLACE_READ, e));
    if (code)
        return code;
    code = err_up(e, lineage(c, s, e));
    store_close(s);
    return code;
}
