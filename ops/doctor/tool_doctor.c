/* eqloom doctor: lists the devices and checks that the cards agree with the CPU. */
#include "base/isa.h"
#include "engine/tool.h"
#include "ops/doctor/tensor_checks.h"

#include <jansson.h>

/* Prints one line for each op. */
static enum err_code check_ops(json_t *out, bool *good, struct gpu_device *card,
                               const struct tool_args *args, struct err *e)
{
    struct gpu_device *cpu;
    json_t *all = json_array();
    json_object_set_new(out, "ops", all);
    enum err_code code = gpu_open_cpu(&cpu, NULL, NULL, e);
    if (code)
        return err_up(e, code);
    for (size_t i = 0; i < tensor_checks_number() && !code; i++) {
        struct tensor_check c;
        if ((code = err_up(e, tensor_check_run(&c, i, card, cpu, e))))
            break;
        bool near = c.off <= c.tolerance; /* false if it is NaN */
        *good &= near && c.repeats;
        fprintf(args->out, "  %-5s %-18s differs from the CPU by %.1e, at most %.0e%s\n",
                near && c.repeats ? "ok" : "WRONG", c.name, c.off, c.tolerance,
                c.repeats ? "" : "; two runs differ");
        json_array_append_new(all, json_pack("{ss sf sf sb}", "name", c.name, "off",
                                             near || c.off > 0 ? c.off : -1.0, "tolerance",
                                             c.tolerance, "repeats", c.repeats));
    }
    gpu_close(cpu);
    return code;
}

static enum err_code examine_card(json_t *cards, bool *good, int index,
                                  const struct tool_args *args, struct err *e)
{
    char name[32];
    bool cpu;
    struct gpu_card card;
    struct gpu_device *d;
    snprintf(name, sizeof name, "cuda:%d", index);
    enum err_code code = gpu_find(&cpu, &card, name, e);
    if (code)
        return err_up(e, code);
    fprintf(args->out, "%s: %s, %zu MiB, driver %d.%d, %s\n", name, card.name, card.bytes >> 20,
            card.driver / 1000, card.driver % 1000 / 10, card.class_name);
    if (card.no_cudnn[0])
        fprintf(args->out,
                "  no cuDNN, so convolutions and long attention are computed as matrix "
                "products: %s\n",
                card.no_cudnn);
    json_t *out = json_pack("{s:s, s:s, s:s, s:s, s:i, s:I}", "device", name, "no_cudnn",
                            card.no_cudnn, "name", card.name, "class", card.class_name, "driver",
                            (int)card.driver, "bytes", (json_int_t)card.bytes);
    json_array_append_new(cards, out);
    if ((code = gpu_open(&d, name, NULL, e)))
        return err_up(e, code);
    code = err_up(e, check_ops(out, good, d, args, e));
    gpu_close(d);
    return code;
}

/* With --json, the text output is discarded. */
static enum err_code run(int *exit_status, const struct tool_args *given, struct err *e)
{
    struct tool_args quiet = *given, *args = &quiet;
    const char *bf16 = gpu_cpu_bf16();
    json_t *cards = json_array();
    json_t *out =
        json_pack("{s:s, s:s?, s:O}", "processor", cpu_isa(), "bf16", bf16, "cards", cards);
    bool good = true;
    int n;
    enum err_code code = OK;
    if (args->json && !(args->out = fopen("/dev/null", "w"))) {
        json_decref(cards);
        json_decref(out);
        return err_fail(e, ERR_IO, "cannot open /dev/null");
    }
    fprintf(args->out, "processor: %s, bf16 %s%s\n", cpu_isa(), bf16 ? "by " : "computed as f32",
            bf16 ? bf16 : "");
    const char *why = gpu_why_cpu();
    if (why) {
        fprintf(args->out, "%s\n", why);
        json_object_set_new(out, "no_card", json_string(why));
    } else if (!(code = err_up(e, gpu_count_cards(&n, e)))) {
        for (int i = 0; i < n && !code; i++)
            code = err_up(e, examine_card(cards, &good, i, args, e));
    }
    if (args->json) {
        fclose(args->out);
        if (!code) {
            json_dumpf(out, given->out, JSON_COMPACT);
            fputc('\n', given->out);
        }
    }
    json_decref(cards);
    json_decref(out);
    *exit_status = good ? 0 : 1;
    return code;
}

static const struct tool_option options[] = {TOOL_JSON, {0}};

const struct tool tool_doctor = {
    .name = "doctor",
    .arguments = "",
    .summary = "List the devices to compute with, and check them",
    .help = "Prints the processor's class, and the cards with their driver and libraries, or "
            "the reason why there is no card. Runs each tensor op on each card and on the CPU "
            "with the same inputs, and twice on the card to check that the bytes are equal.",
    .example = "eqloom doctor\n"
               "eqloom doctor --json",
    .exit_codes = "0: everything is well, with or without a card. 1: an op on a card is wrong.",
    .options = options,
    .run = run,
};
