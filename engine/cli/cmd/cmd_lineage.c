/* eqloom lineage: what a record was made from, or what was made with it. */
#include "engine/cli/console/cli.h"

#include "engine/cli/provenance/lineage.h"
#include "engine/cli/records/place.h"
#include "engine/cli/records/resolve.h"

enum err_code cli_lineage(int *status, struct cli *c, struct err *e)
{
    struct store *s;
    char *path;
    bool down = cli_flag(c, "down");
    struct resolved ref;
    struct lineage *l = NULL;
    struct lineage_item *root;
    enum err_code code = place_open(&s, &path, c, NULL, PLACE_READ, e);
    if (code)
        return err_up(e, code);
    code = resolve(&ref, c, s, c->arguments[0], e);
    if (!code)
        code = lineage_open(&l, s, e);
    if (!code)
        code = down ? lineage_down(&root, c->arena, l, &ref.id, e)
                    : lineage_up(&root, c->arena, l, &ref.id, false, e);
    if (!code)
        (c->json ? lineage_dump : lineage_print)(c->out, root, down);
    lineage_close(l);
    store_close(s);
    return err_up(e, code);
}
