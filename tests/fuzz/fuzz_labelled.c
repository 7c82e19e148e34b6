/* Any bytes as a file of equations or of a bibliography: what is read is there, the rest is said.
 * The first byte chooses. */
#include "ops/latex/papers/citations.h"
#include "ops/latex/papers/labelled.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const Eqloom__Paper *p)
{
    if (p->n_sections != 1)
        abort();
    for (size_t i = 0; i < p->sections[0]->n_equations; i++) {
        const Eqloom__Equation *q = p->sections[0]->equations[i];
        if (!*q->latex && !*q->mathml && q->place->number != i)
            abort();
    }
    for (size_t i = 0; i < p->n_problems; i++)
        if (!*p->problems[i]->reason)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct citations c = {.a = &a};
    if (size == 0)
        return 0;
    char *text = arena_strndup(&a, (const char *)data + 1, size - 1);
    size_t len = size - 1;
    switch (data[0] % 4) {
    case 0: check(labelled_read(&a, "f", text, len)); break;
    case 1: check(mathml_read(&a, "f", text, strlen(text))); break;
    case 2: citations_id_of_name(&a, text); break;
    default:
        citations_key(&c, (struct piece){"*", 1});
        citations_scan(&c, (struct piece){text, len});
        citations_scan_bib(&c, (struct piece){text, len});
        citations_sort(&c);
        citations_free(&c);
    }
    arena_free(&a);
    return 0;
}
