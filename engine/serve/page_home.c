/* Where everything begins: a question, the jobs of the store, and its last runs. */
#include "engine/serve/pages.h"

#include "engine/serve/runs_table.h"

#include <string.h>

static bool is_first_of_job(const json_t *runs, size_t i)
{
    const char *job = json_text(json_array_get(runs, i), "job");
    for (size_t k = 0; k < i; k++)
        if (!strcmp(json_text(json_array_get(runs, k), "job"), job))
            return false;
    return true;
}

void page_home(struct page *p)
{
    p->title = "eqloom";
    page_html(p,
              "<form action=\"/search\" method=\"get\" role=\"search\"><label for=\"q\">Search for "
              "an expression</label>\n<input type=\"text\" id=\"q\" name=\"q\" maxlength=\"2000\" "
              "autocomplete=\"off\" autocapitalize=\"off\" spellcheck=\"false\" "
              "placeholder=\"sin(x)^2 or \\frac{1}{2}\" data-reads=\"q-read\" "
              "aria-describedby=\"q-read\"><output id=\"q-read\" for=\"q\" class=\"reading\">"
              "</output><button>Search</button></form>\n");
    const json_t *runs = page_ask_for(p, false, "log", NULL);
    if (!runs)
        return;
    page_html(p, "<h2>Jobs</h2>\n<ul class=\"jobs\">");
    for (size_t i = 0; i < json_array_size(runs); i++)
        if (is_first_of_job(runs, i)) {
            const char *job = json_text(json_array_get(runs, i), "job");
            page_html(p, "<li>");
            page_link(p, "/job", "name", job, job);
            page_html(p, "</li>\n");
        }
    page_html(p, "</ul>\n");
    if (!json_array_size(runs))
        page_html(p, "<p>Nothing was run in this store yet.</p>\n");
    else
        runs_table_write(p, runs);
}
