/* eqloom lineage: what a record was made from, or what was made with it. */
#include "engine/cli/cmd/cmd.h"

#include "engine/cli/provenance/lineage.h"
#include "engine/cli/records/resolve.h"

enum err_code cli_lineage(int *status, struct cli *c, struct err *e)
{
    bool down = cli_flag(c, "down");
    struct resolved ref;
    struct lineage *l = NULL;
    struct lineage_item *root;
    enum err_code code = resolve(&ref, c, c->arguments[0], e);
    if (!code)
        code = lineage_open(&l, c->store, e);
    if (!code)
        code = down ? lineage_down(&root, c->arena, l, &ref.id, e)
                    : lineage_up(&root, c->arena, l, &ref.id, false, e);
    if (!code)
        (c->json ? lineage_dump : lineage_print)(c->out, root, down);
    lineage_close(l);
    return err_up(e, code);
}
