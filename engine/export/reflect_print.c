/* The brief JSON of a message as indented text; see reflect.h. */
#include "engine/export/reflect.h"

#include <stdlib.h>
#include <string.h>

enum { SHORT = 60 }; /* of texts that go on one line with others */

const char *reflect_text(struct arena *a, const json_t *v)
{
    if (json_is_string(v))
        return arena_strdup(a, json_string_value(v));
    if (json_is_real(v))
        return arena_printf(a, "%.10g", json_real_value(v));
    if (json_is_integer(v))
        return arena_printf(a, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    return json_is_true(v)     ? "true"
           : json_is_false(v)  ? "false"
           : json_is_object(v) ? "present"
                               : "";
}

/* Text of several lines begins on a line of its own. */
static void print_plain(FILE *to, const json_t *v, int indent)
{
    struct arena a = {0};
    const char *text = reflect_text(&a, v);
    if (strchr(text, '\n'))
        fprintf(to, "\n%*s", indent, "");
    for (; *text; text++)
        if (*text != '\n')
            fputc(*text, to);
        else if (text[1])
            fprintf(to, "\n%*s", indent, "");
    arena_free(&a);
}

/* Messages of a few plain fields go on one line. */
static bool is_short(json_t *object)
{
    const char *name;
    json_t *v;
    json_object_foreach(object, name, v)
    {
        const char *text = json_string_value(v);
        if (json_is_object(v) || json_is_array(v) ||
            (text && (strlen(text) > SHORT || strchr(text, '\n'))))
            return false;
    }
    return true;
}

/* `hanging`: the first line follows something already written. */
static void print_object(FILE *to, json_t *object, int indent, bool hanging);

static void print_value(FILE *to, json_t *v, int indent)
{
    const char *glue = "", *name;
    json_t *field;
    if (json_is_object(v) && !is_short(v)) {
        print_object(to, v, indent, true);
        return;
    }
    if (!json_is_object(v))
        print_plain(to, v, indent + 4);
    json_object_foreach(v, name, field)
    {
        fprintf(to, "%s%s: ", glue, name);
        print_plain(to, field, 0);
        glue = ", ";
    }
    fputc('\n', to);
}

/* `name` ends in the length of the whole list. */
static void print_list(FILE *to, const char *name, const json_t *list, int indent)
{
    size_t n = json_array_size(list), all = strtoull(strrchr(name, '(') + 1, NULL, 10);
    bool numbers = json_is_number(json_array_get(list, 0));
    fputs(numbers ? "" : "\n", to);
    for (size_t i = 0; i < n; i++) {
        if (numbers) {
            fputc(' ', to);
            print_plain(to, json_array_get(list, i), 0);
        } else {
            fprintf(to, "%*s- ", indent, "");
            print_value(to, json_array_get(list, i), indent + 2);
        }
    }
    if (n < all && !numbers)
        fprintf(to, "%*s... %zu more\n", indent, "", all - n);
    if (numbers)
        fputs(n < all ? " ...\n" : "\n", to);
}

static void print_object(FILE *to, json_t *object, int indent, bool hanging)
{
    const char *name;
    json_t *v;
    json_object_foreach(object, name, v)
    {
        fprintf(to, "%*s%s:", hanging ? 0 : indent, "", name);
        hanging = false;
        if (json_is_array(v)) {
            print_list(to, name, v, indent + 2);
        } else if (json_is_object(v) && !is_short(v)) {
            fputc('\n', to);
            print_object(to, v, indent + 2, false);
        } else {
            fputc(' ', to);
            print_value(to, v, indent);
        }
    }
}

void reflect_print(FILE *to, const ProtobufCMessage *m, enum reflect_expressions as, size_t limit)
{
    json_t *object = reflect_brief(m, as, limit);
    print_object(to, object, 0, false);
    json_decref(object);
}
