#include "engine/export/job_mark.h"

#include "base/os.h"
#include "base/text/html.h"

#include <string.h>
#include <time.h>

/* Of the node's files and those of what it reads; inputs come before a node. */
static int64_t newest_file(struct arena *a, const struct job *job, uint32_t node)
{
    bool *reads = arena_array(a, bool, job->n_nodes);
    int64_t newest = 0;
    reads[node] = true;
    for (size_t i = node + 1; i-- > 0;) {
        const struct node *n = &job->nodes[i];
        struct os_stat st;
        if (!reads[i])
            continue;
        for (size_t k = 0; k < op_count_inputs(n->op); k++)
            for (size_t s = 0; s < n->inputs[k].n_sources; s++)
                reads[n->inputs[k].sources[s].node] = true;
        for (size_t f = 0; f < n->n_files; f++)
            if (!os_stat(&st, n->files[f], NULL) && st.modified_ns > newest)
                newest = st.modified_ns;
    }
    return newest;
}

static void write_mark(struct buf *out, struct arena *a, const struct job *job, uint32_t node)
{
    int64_t newest = newest_file(a, job, node);
    time_t seconds = (time_t)(newest / 1000000000);
    struct tm day;
    char text[40];
    buf_puts(out, "<p id=\"job\">Job <b>");
    html_text(out, job->name);
    buf_puts(out, "</b>");
    for (size_t i = 0; i < job->n_params; i++) {
        buf_puts(out, i ? ", " : ": ");
        html_text(out, job->params[i].name);
        buf_putc(out, ' ');
        html_count(out, job->params[i].text);
    }
    if (newest && gmtime_r(&seconds, &day) && strftime(text, sizeof text, "%Y-%m-%d", &day))
        buf_printf(out, "; inputs of <time>%s</time>", text);
    buf_puts(out, "</p>");
}

void job_mark(struct buf *out, struct arena *a, struct span page, const struct job *job,
              uint32_t node)
{
    size_t len = strlen(JOB_MARK);
    const char *at = memmem(page.data, page.len, JOB_MARK, len);
    size_t before = at ? (size_t)(at - (const char *)page.data) : page.len;
    buf_add(out, page.data, before);
    if (!at)
        return;
    write_mark(out, a, job, node);
    buf_add(out, at + len, page.len - before - len);
}
