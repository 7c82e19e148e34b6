/* Parts by hash; see split.h. The test part takes the lowest hashes and the validation part the
 * highest, so changing the fraction of one never moves anything between the other two parts. */
#include "ops/corpus/split.h"

#include "base/digest.h"
#include "base/span.h"

const char *const split_names[SPLIT_PARTS] = {"train", "valid", "test"};

double split_place(uint64_t seed, const char *prefix)
{
    uint8_t number[8];
    put_le(number, seed, 8);
    struct span parts[] = {span_str("eqloom split"), span_of(number, 8), span_str(prefix)};
    struct digest d = digest_of(parts, 3);
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | d.bytes[i];
    return (double)(bits >> 11) * 0x1p-53;
}

enum split_part split_part(uint64_t seed, const char *prefix, double valid, double test)
{
    double at = split_place(seed, prefix);
    return at < test ? SPLIT_TEST : at >= 1 - valid ? SPLIT_VALID : SPLIT_TRAIN;
}
