/* What a store from elsewhere says of its files (LISTED), under a sum that fits: whatever it names,
 * an answer, and the file that it blames. The first byte chooses between all files and one. */
#include "store/db/rocks_internal.h"

#include "base/digest.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[] = "/tmp/fuzz-listed-XXXXXX";

static void write_file(const char *name, struct span bytes, const char *end)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "wb");
    if (!f || (bytes.len && fwrite(bytes.data, bytes.len, 1, f) != 1) || fputs(end, f) < 0 ||
        fclose(f))
        abort();
}

static void remove_directory(void)
{
    static const char *const names[] = {"MANIFEST-000005", "000007.sst", "LISTED"};
    char path[64];
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        unlink(path);
    }
    rmdir(directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    if (!made) {
        if (!mkdtemp(directory) || atexit(remove_directory))
            abort();
        write_file("MANIFEST-000005", span_str("the list"), "");
        write_file("000007.sst", span_str("a table"), "");
        made = true;
    }
    if (size == 0)
        return 0;
    char hex[DIGEST_HEX], sum[16], bad[64];
    struct span text = span_of(data + 1, size - 1);
    struct digest d = digest_of(&text, 1);
    snprintf(sum, sizeof sum, "%.8s\n", digest_hex(hex, &d));
    write_file("LISTED", text, sum);
    if (!listed_is_whole(bad, directory, data[0] & 1 ? "000007.sst" : NULL) &&
        (strchr(bad, '/') || access(directory, F_OK) != 0))
        __builtin_trap();
    return 0;
}
