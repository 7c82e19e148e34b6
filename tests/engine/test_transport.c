/* The bounds of transports, whatever the other side does. */
#include "engine/remote/transport.h"
#include "engine/run/run.h"
#include "tests/unit.h"

#include <limits.h>

static struct run_options options;
static struct session session = {.options = &options, .deadline_ns = UINT64_MAX};
static struct err e;

static enum err_code ask(char *said, size_t n, const char *script, struct transport_request q)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    struct transport t = {.scratch = "/tmp", .patience_s = 3600, .session = &session};
    FILE *out = NULL;
    q.argv = argv;
    if (!q.limit_bytes)
        q.limit_bytes = 1 << 20;
    e = (struct err){0};
    enum err_code code = transport_run(&out, &t, &q, &e);
    if (!code) {
        said[fread(said, 1, n - 1, out)] = 0;
        fclose(out);
    }
    return code;
}

TEST(a_transfer_takes_its_time_in_all)
{
    char said[100] = "";
    struct transport_request in_time = {.until_ns = transport_until(3600)};
    assert_int_equal(ask(said, sizeof said, "echo here", in_time), OK);
    assert_string_equal(said, "here\n");
    /* However busy it is, and also if it watches itself. */
    static const char *const endless[] = {"sleep 1000000",
                                          "while :; do printf 12345678; sleep 0.01; done"};
    for (int i = 0; i < 4; i++) {
        struct transport_request late = {.until_ns = transport_until(0), .watches_itself = i & 1};
        assert_int_equal(ask(said, sizeof said, endless[i / 2], late), ERR_IO);
        assert_string_equal(e.message, "sh takes longer than a transfer may");
    }
}

TEST(a_transfer_is_no_longer_than_was_asked_for)
{
    char said[100] = "";
    struct transport_request q = {.until_ns = transport_until(3600), .limit_bytes = 50};
    assert_int_equal(ask(said, sizeof said, "printf %49s x", q), OK);
    assert_int_equal(strlen(said), 49);
    assert_int_equal(ask(said, sizeof said, "printf %51s x; printf %51s y", q), ERR_IO);
    assert_non_null(strstr(e.message, "sh sends more than"));
    q.begin = "eqpack\n";
    assert_int_equal(ask(said, sizeof said, "echo welcome; sleep 1000000", q), ERR_IO);
    assert_string_equal(e.message, "sh does not send a pack");
}

TEST(a_folder_has_so_many_packs)
{
    struct name_map names = {0};
    char name[100];
    for (unsigned i = 0; i < TRANSPORT_LIST_NAMES; i++) {
        snprintf(name, sizeof name, "%064x.pack", i);
        assert_int_equal(transport_add_name(&names, name, &e), OK);
    }
    assert_int_equal(transport_add_name(&names, "other.pack", &e), OK); /* is none */
    snprintf(name, sizeof name, "%064x.pack", UINT_MAX);
    e = (struct err){0};
    assert_int_equal(transport_add_name(&names, name, &e), ERR_IO);
    assert_string_equal(e.message, "a folder with more than 262144 packs");
    assert_int_equal(names.n, TRANSPORT_LIST_NAMES);
    name_map_free(&names);
}
