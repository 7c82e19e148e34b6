/* The page of a tool: a form of its arguments and options, and its answer. With page.js the answer
 * appears during typing, and each expression is shown as it was parsed. */
#include "engine/serve/serve_page.h"

#include <string.h>

static const struct tool_option *find_option(const struct tool *tool, const char *name)
{
    const struct tool_option *o = tool->options;
    while (o->name && strcmp(o->name, name))
        o++;
    return o;
}

static void write_argument(struct page *p, const struct tool_argument *x, bool first)
{
    const char *name = x->name, *given = page_field(p, name);
    page_printf(
        p,
        "<label for=\"%s\">%s</label>\n<input type=\"text\" id=\"%s\" name=\"%s\" value=\"%s\" "
        "maxlength=\"2000\" autocomplete=\"off\" autocapitalize=\"off\" spellcheck=\"false\" "
        "required data-reads=\"%s-read\" aria-describedby=\"%s-read\"%s>\n"
        "<output id=\"%s-read\" for=\"%s\" class=\"reading\"></output>\n",
        name, x->label, name, name, page_text(p, given), name, name,
        first && !*given ? " autofocus" : "", name, name);
}

static void write_option(struct page *p, const struct tool_option *o)
{
    const char *name = o->name, *given = page_field(p, name);
    if (o->value)
        page_printf(p,
                    "<div class=\"option\"><label for=\"%s\">%s</label> <input type=\"text\" "
                    "id=\"%s\" name=\"%s\" value=\"%s\" maxlength=\"200\" placeholder=\"%s\" "
                    "aria-describedby=\"%s-help\">",
                    name, name, name, name, page_text(p, given), o->value, name);
    else
        page_printf(p,
                    "<div class=\"option\"><input type=\"checkbox\" id=\"%s\" name=\"%s\" "
                    "value=\"1\"%s aria-describedby=\"%s-help\"> <label for=\"%s\">%s</label>",
                    name, name, *given ? " checked" : "", name, name, name);
    page_printf(p, " <small id=\"%s-help\">%s</small></div>\n", name, page_text(p, o->doc));
}

static void write_form(struct page *p, const struct tool *tool)
{
    const struct tool_page *page = tool->page;
    page_printf(p, "<form action=\"/%s\" method=\"get\" role=\"search\" data-live>\n", tool->name);
    for (const struct tool_argument *x = page->arguments; x->name; x++)
        write_argument(p, x, x == page->arguments);
    bool given = false;
    for (const char *const *o = page->options; *o; o++)
        given = given || *page_field(p, *o);
    page_printf(p, "<details%s><summary>Options</summary>\n", given ? " open" : "");
    for (const char *const *o = page->options; *o; o++)
        write_option(p, find_option(tool, *o));
    page_printf(p, "</details>\n<button>%s</button></form>\n", page->submit);
}

static void add(const char **words, const char *word)
{
    size_t n = 0;
    while (words[n])
        n++;
    if (n < PAGE_WORDS)
        words[n] = word;
}

/* Returns false if an argument is missing. */
static bool read_form(const char **words, struct page *p, const struct tool *tool)
{
    add(words, tool->name);
    for (const char *const *name = tool->page->options; *name; name++) {
        const struct tool_option *o = find_option(tool, *name);
        for (const char *value = page_field(p, *name);
             *value;) { /* a field may have several: x>1, y:real */
            size_t n = o->repeats ? strcspn(value, ",") : strlen(value);
            add(words, o->value ? arena_printf(p->arena, "--%s=%.*s", *name, (int)n, value)
                                : arena_printf(p->arena, "--%s", *name));
            value += n;
            value += strspn(value, ", ");
        }
    }
    for (size_t i = 0; find_option(tool, "operators")->name && p->operators[i]; i++)
        add(words, arena_printf(p->arena, "--operators=%s", p->operators[i]));
    add(words, "--");
    for (const struct tool_argument *x = tool->page->arguments; x->name; x++) {
        if (!*page_field(p, x->name))
            return false;
        add(words, page_field(p, x->name));
    }
    return true;
}

void page_tool(struct page *p, const struct tool *tool)
{
    const char *words[PAGE_WORDS + 1] = {NULL};
    p->title = tool->page->title;
    write_form(p, tool);
    page_html(p, "<div id=\"answer\" aria-live=\"polite\">\n");
    const json_t *answers = read_form(words, p, tool) ? page_command(p, false, words) : NULL;
    for (size_t i = 0; i < json_array_size(answers); i++)
        tool->page->write(&p->out, p->arena, json_array_get(answers, i));
    page_html(p, "</div>\n");
}
