/* eqloom doctor: lists the devices and checks that the cards agree with the CPU. The errors of a
 * card's driver stick to their process, and a driver may crash or hang, so cards are examined by
 * processes of their own, `eqloom doctor --part`. After a check that failed, the next process goes
 * on behind it. */
#include "base/isa.h"
#include "base/process/process.h"
#include "engine/tool.h"
#include "ops/doctor/tensor_checks.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATIENCE_S = 120, HANGS = 2 /* parts that gave no answer, until a card is given up */ };

/* ---- a part: in a process of its own, which prints an object a line ---- */

static void say(FILE *to, json_t *x)
{
    json_dumpf(x, to, JSON_COMPACT);
    fputc('\n', to);
    fflush(to);
    json_decref(x);
}

static void say_cards(FILE *to)
{
    int n;
    enum err_code code = gpu_count_cards(&n, NULL);
    if (code)
        say(to, json_pack("{s:s}", "no_card", gpu_why_cpu()));
    for (int i = 0; i < n && !code; i++) {
        char name[32];
        bool cpu;
        struct gpu_card card = {0};
        struct err why;
        snprintf(name, sizeof name, "cuda:%d", i);
        if (gpu_find(&cpu, &card, name, &why))
            say(to, json_pack("{s:s, s:s}", "device", name, "error", why.message));
        else
            say(to, json_pack("{s:s, s:s, s:s, s:s, s:i, s:I}", "device", name, "no_cudnn",
                              card.no_cudnn, "name", card.name, "class", card.class_name, "driver",
                              (int)card.driver, "bytes", (json_int_t)card.bytes));
    }
}

static json_t *not_computed(size_t check, const char *why)
{
    return json_pack("{s:s, s:s, s:b}", "name", tensor_check_name(check), "error", why, "ok", 0);
}

static enum err_code say_check(FILE *to, size_t i, struct gpu_device *card, struct gpu_device *cpu,
                               struct err *e)
{
    struct tensor_check c;
    enum err_code code = tensor_check_run(&c, i, card, cpu, e);
    if (code)
        return err_up(e, code);
    bool near = c.off <= c.tolerance; /* false if it is NaN */
    say(to, json_pack("{s:s, s:f, s:f, s:b, s:b}", "name", c.name, "off",
                      near || c.off > 0 ? c.off : -1.0, "tolerance", c.tolerance, "repeats",
                      c.repeats, "ok", near && c.repeats));
    return OK;
}

/* Ends at the first check that cannot be computed. */
static void say_checks(FILE *to, const char *device, size_t first)
{
    struct gpu_device *cpu = NULL, *card = NULL;
    struct err e;
    size_t i = first, n = tensor_checks_number();
    enum err_code code = gpu_open_cpu(&cpu, NULL, NULL, &e);
    if (!code)
        code = gpu_open(&card, device, NULL, &e);
    while (!code && i < n && !(code = say_check(to, i, card, cpu, &e)))
        i++;
    if (code && i < n)
        say(to, not_computed(i, e.message));
    if (card)
        gpu_close(card);
    if (cpu)
        gpu_close(cpu);
}

/* part: "cards", or "cuda:N+FIRST" */
static enum err_code run_part(const struct tool_args *args, const char *part, struct err *e)
{
    char device[32] = "";
    size_t first;
    if (strcmp(part, "cards") == 0)
        say_cards(args->out);
    else if (sscanf(part, "%31[^+]+%zu", device, &first) == 2)
        say_checks(args->out, device, first);
    else
        return err_fail(e, ERR_INPUT, "--part: '%.40s' is not cards or DEVICE+NUMBER", part);
    return OK;
}

/* ---- the examination: runs the parts ---- */

/* Appends what a part says to `out`. Sets *why to the reason why it ended early, or to "". */
static bool ask(json_t *out, const char **why, const struct tool_args *args, const char *part)
{
    struct arena *a = args->arena;
    const char *given = tool_value(args, "patience");
    unsigned long seconds = given ? strtoul(given, NULL, 10) : PATIENCE_S;
    struct process_end end = {.errors = ""};
    struct err e = {0};
    const char *const argv[] = {"/proc/self/exe", "doctor", "--part", part, NULL};
    int fd = memfd_create("doctor", MFD_CLOEXEC);
    struct process p = {.argv = argv, .in = -1, .out = fd, .limit_ms = 1000 * seconds};
    enum err_code code = fd < 0 ? err_fail(&e, ERR_IO, "no memory for a part's answer")
                                : process_run(&end, a, &p, &e);
    FILE *from = fd < 0 ? NULL : fdopen(fd, "r");
    char line[1024];
    for (from ? rewind(from) : (void)0; from && fgets(line, sizeof line, from);) {
        json_t *x = json_loads(line, 0, NULL);
        if (x)
            json_array_append_new(out, x);
    }
    if (from)
        fclose(from);
    *why = code == ERR_LIMIT   ? arena_printf(a, "no answer in %lu seconds", seconds)
           : code              ? arena_printf(a, "%s", e.message)
           : end.status > 128  ? arena_printf(a, "ended by signal %d", end.status - 128)
           : end.status        ? end.errors
                               : "";
    return code != ERR_LIMIT;
}

static void print_check(FILE *to, const json_t *c)
{
    const char *name, *error = NULL;
    double off = 0, tolerance = 0;
    int repeats = 0, ok = 0;
    json_unpack((json_t *)c, "{s:s, s?:s, s?:f, s?:f, s?:b, s:b}", "name", &name, "error", &error,
                "off", &off, "tolerance", &tolerance, "repeats", &repeats, "ok", &ok);
    if (error)
        fprintf(to, "  WRONG %-22s could not be computed: %s\n", name, error);
    else
        fprintf(to, "  %-5s %-22s differs from the CPU by %.1e, at most %.0e%s\n",
                ok ? "ok" : "WRONG", name, off, tolerance, repeats ? "" : "; two runs differ");
}

/* Returns whether all is well. */
static bool examine_ops(json_t *ops, const struct tool_args *args, const char *device)
{
    bool good = true;
    int hangs = 0;
    for (size_t done = 0, all = tensor_checks_number(); done < all;) {
        const char *why;
        hangs += !ask(ops, &why, args, arena_printf(args->arena, "%s+%zu", device, done));
        size_t n = json_array_size(ops);
        size_t failed = hangs == HANGS ? all : n < all ? n + (*why || n == done) : n;
        for (; n < failed; n++)
            json_array_append_new(ops, not_computed(n, *why ? why : "no answer"));
        for (; done < n; done++) {
            const json_t *c = json_array_get(ops, done);
            print_check(args->out, c);
            good &= json_is_true(json_object_get(c, "ok"));
        }
        good &= !*why;
        if (*why && done == all)
            fprintf(args->out, "  the last process: %s\n", why);
    }
    return good;
}

static bool examine_card(json_t *card, const struct tool_args *args)
{
    const char *device = "", *error = NULL, *name = "", *class = "", *no_cudnn = "";
    int driver = 0;
    json_int_t bytes = 0;
    json_unpack(card, "{s:s, s?:s, s?:s, s?:s, s?:s, s?:i, s?:I}", "device", &device, "error",
                &error, "name", &name, "class", &class, "no_cudnn", &no_cudnn, "driver", &driver,
                "bytes", &bytes);
    if (error) {
        fprintf(args->out, "%s: %s\n", device, error);
        return false;
    }
    fprintf(args->out, "%s: %s, %lld MiB, driver %d.%d, %s\n", device, name, (long long)bytes >> 20,
            driver / 1000, driver % 1000 / 10, class);
    if (*no_cudnn)
        fprintf(args->out,
                "  no cuDNN, so convolutions and long attention are computed as matrix "
                "products: %s\n",
                no_cudnn);
    json_t *ops = json_array();
    json_object_set_new(card, "ops", ops);
    return examine_ops(ops, args, device);
}

/* Fills `out`, which is printed at the end with --json; returns whether all is well. */
static bool examine(json_t *out, const struct tool_args *args)
{
    const char *bf16 = gpu_cpu_bf16(), *why;
    bool good = true;
    json_t *cards = json_array(), *x;
    size_t i;
    json_object_set_new(out, "processor", json_string(cpu_isa()));
    json_object_set_new(out, "bf16", bf16 ? json_string(bf16) : json_null());
    json_object_set_new(out, "cards", cards);
    fprintf(args->out, "processor: %s, bf16 %s%s\n", cpu_isa(), bf16 ? "by " : "computed as f32",
            bf16 ? bf16 : "");
    ask(cards, &why, args, "cards");
    const json_t *none = json_object_get(json_array_get(cards, 0), "no_card");
    if (none) {
        fprintf(args->out, "%s\n", json_string_value(none));
        json_object_set(out, "no_card", (json_t *)none);
        json_array_clear(cards);
    }
    if (*why) {
        fprintf(args->out, "cards: %s\n", why);
        json_object_set_new(out, "error", json_string(why));
    }
    json_array_foreach(cards, i, x)
        good &= examine_card(x, args);
    return good && !*why;
}

/* With --json, the text output is discarded. */
static enum err_code run(int *exit_status, const struct tool_args *given, struct err *e)
{
    struct tool_args quiet = *given, *args = &quiet;
    const char *part = tool_value(given, "part");
    if (part)
        return err_up(e, run_part(given, part, e));
    const char *patience = tool_value(given, "patience");
    if (patience && (strspn(patience, "0123456789") != strlen(patience) || atol(patience) < 1 ||
                     strlen(patience) > 6))
        return err_fail(e, ERR_INPUT, "--patience: '%.40s' is no number of seconds", patience);
    if (args->json && !(args->out = fopen("/dev/null", "w")))
        return err_fail(e, ERR_IO, "cannot open /dev/null");
    json_t *out = json_object();
    *exit_status = examine(out, args) ? 0 : 1;
    if (args->json) {
        fclose(args->out);
        json_dumpf(out, given->out, JSON_COMPACT);
        fputc('\n', given->out);
    }
    json_decref(out);
    return OK;
}

static const struct tool_option options[] = {
    TOOL_JSON,
    {"patience", "SECONDS", false,
     "How long a card's process may take (120); when two of them gave no answer, the card's other "
     "checks are not made.",
     0},
    {"part", "PART", false,
     "Print what a part finds, as a line of JSON each, in this process: `cards`, or the checks of "
     "a device from a number on, `cuda:0+0`. For debuggers and compute-sanitizer.",
     0},
    {0}};

const struct tool tool_doctor = {
    .name = "doctor",
    .arguments = "",
    .summary = "List the devices to compute with, and check them",
    .help = "Prints the processor's class, and the cards with their driver and libraries, or "
            "the reason why there is no card. Runs each tensor op on each card and on the CPU "
            "with the same inputs, and twice on the card to check that the bytes are equal. "
            "Whatever a check does to the driver, the others are run.",
    .example = "eqloom doctor\n"
               "eqloom doctor --json",
    .exit_codes = "0: everything is well, with or without a card. 1: an op on a card is wrong, or "
                  "could not be computed.",
    .options = options,
    .run = run,
};
