#include "ops/images/rake.h"

#include "base/map.h"
#include "ops/latex/study/search/keywords.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Sorted. */
static const char *const stop_words[] = {
    "a",       "about",     "above",   "after", "all",    "also",   "although", "among",  "an",
    "and",     "any",       "are",     "as",    "at",     "be",     "because",  "been",   "before",
    "being",   "below",     "between", "both",  "but",    "by",     "can",      "cannot", "could",
    "did",     "do",        "does",    "done",  "down",   "due",    "during",   "each",   "either",
    "et",      "etc",       "even",    "few",   "for",    "from",   "further",  "give",   "given",
    "gives",   "had",       "has",     "have",  "having", "hence",  "here",     "how",    "however",
    "i",       "if",        "in",      "into",  "is",     "it",     "its",      "itself", "just",
    "may",     "might",     "more",    "most",  "much",   "must",   "nor",      "not",    "now",
    "of",      "off",       "on",      "once",  "only",   "or",     "other",    "our",    "out",
    "over",    "own",       "per",     "same",  "shall",  "should", "show",     "shows",  "since",
    "so",      "some",      "such",    "than",  "that",   "the",    "their",    "them",   "then",
    "there",   "therefore", "these",   "they",  "this",   "those",  "through",  "thus",   "to",
    "too",     "under",     "until",   "up",    "upon",   "us",     "use",      "used",   "using",
    "very",    "via",       "was",     "we",    "well",   "were",   "what",     "when",   "where",
    "whether", "which",     "while",   "who",   "whose",  "why",    "will",     "with",   "within",
    "without", "would",     "yet",     "you",   "your",
};

static int compare_words(const void *key, const void *item)
{
    return strcmp(key, *(const char *const *)item);
}

static bool is_stop(const char *word)
{
    return bsearch(word, stop_words, sizeof stop_words / sizeof *stop_words, sizeof *stop_words,
                   compare_words) != NULL;
}

static bool is_number(const char *word)
{
    return word[strspn(word, "0123456789.-")] == 0;
}

struct word {
    double degree, frequency;
};

struct rake {
    struct arena *a;
    struct name_map index; /* of words */
    struct word *words;
    size_t n_words;
    uint32_t **candidates; /* each: how many words, and which; in the order of the text */
    const char **texts;
    size_t n;
};

static void end_candidate(struct rake *r, const char *const *run, size_t n)
{
    if (!n)
        return;
    uint32_t *candidate = arena_array(r->a, uint32_t, n + 1);
    const char *text = run[0];
    candidate[0] = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        bool added;
        uint64_t at = *name_map_put(&r->index, run[i], r->n_words, &added);
        r->n_words += added;
        r->words[at].frequency++;
        r->words[at].degree += (double)n;
        candidate[i + 1] = (uint32_t)at;
        text = i ? arena_printf(r->a, "%s %s", text, run[i]) : text;
    }
    r->candidates[r->n] = candidate;
    r->texts[r->n++] = text;
}

/* Letters, digits and what is beyond ASCII; hyphens and apostrophes within. */
static size_t word_length(const char *s)
{
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || (unsigned char)s[n] >= 0x80 ||
           (n && (s[n] == '-' || s[n] == '\'' || s[n] == '.') && isalnum((unsigned char)s[n + 1])))
        n++;
    return n;
}

static void find_candidates(struct rake *r, const char *text)
{
    const char **run = arena_array(r->a, const char *, strlen(text) + 1);
    size_t n = 0;
    while (*text) {
        size_t length = word_length(text);
        const char *word = length ? arena_strndup(r->a, text, length) : "";
        bool ends = length ? is_stop(word) || is_number(word) : *text != ' ';
        if (ends) {
            end_candidate(r, run, n);
            n = 0;
        } else if (length) {
            run[n++] = word;
        }
        text += length ? length : 1;
    }
    end_candidate(r, run, n);
}

static int compare_keywords(const void *x, const void *y)
{
    const struct rake_keyword *p = x, *q = y;
    return p->score != q->score ? (p->score < q->score ? 1 : -1) : strcmp(p->text, q->text);
}

size_t rake_keywords(struct rake_keyword **out, struct arena *a, const char *text)
{
    const char *folded = keywords_fold(a, text);
    size_t most = strlen(folded) / 2 + 2, n = 0;
    struct rake r = {.a = a,
                     .words = arena_array(a, struct word, most),
                     .candidates = arena_array(a, uint32_t *, most),
                     .texts = arena_array(a, const char *, most)};
    struct name_map seen = {0};
    find_candidates(&r, folded);
    *out = arena_array(a, struct rake_keyword, r.n + 1);
    for (size_t i = 0; i < r.n; i++) {
        bool added;
        double score = 0;
        for (uint32_t k = 1; k <= r.candidates[i][0]; k++) {
            const struct word *w = &r.words[r.candidates[i][k]];
            score += w->degree / w->frequency;
        }
        name_map_put(&seen, r.texts[i], 0, &added);
        if (added)
            (*out)[n++] = (struct rake_keyword){r.texts[i], score};
    }
    qsort(*out, n, sizeof **out, compare_keywords);
    size_t third = (r.n_words + 2) / 3;
    name_map_free(&seen);
    name_map_free(&r.index);
    return n < third ? n : third;
}
