/* The op `image-labels`: pictures -> labels for training: the symbols of their LaTeX, or keywords
 * that RAKE extracts from their papers' abstracts. */
#include "base/map.h"
#include "base/text/utf8.h"
#include "base/text/words.h"
#include "engine/op.h"
#include "image.pb-c.h"
#include "ops/latex/study/search/keywords.h"
#include "schemas/canonical.h"
#include "token.pb-c.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct names {
    const char **names;
    size_t n;
};

/* ---- symbols that are visible in the picture ---- */

/* Commands whose argument is a name. */
static const char naming[] = "\\begin \\end \\label \\ref \\eqref \\cite \\tag";
static const char arranging[] =
    "\\left \\right \\middle \\big \\Big \\bigg \\Bigg \\bigl \\bigr \\Bigl \\Bigr \\biggl \\biggr "
    "\\Biggl \\Biggr \\quad \\qquad \\displaystyle \\textstyle \\nonumber \\notag \\limits "
    "\\nolimits \\hspace \\vspace \\phantom \\scriptstyle \\hfill \\mbox \\text \\textrm \\mathrm "
    "\\rm \\hskip \\kern \\relax \\intertext \\hline";

/* Returns the length of the group that begins here, or 0 if there is none. */
static size_t group_length(const char *s)
{
    const char *end = *s == '{' ? strchr(s, '}') : NULL;
    return end ? (size_t)(end - s) + 1 : 0;
}

/* Returns the distinct symbols in the order of the text: letters, numbers, other characters, and
 * commands with their backslash, except those that arrange or name. */
static struct names latex_symbols(struct arena *a, const char *latex)
{
    struct name_map seen = {0};
    size_t len = strlen(latex);
    struct names out = {arena_array(a, const char *, len + 1), 0};
    for (size_t at = 0, size; at < len; at += size) {
        const char *s = latex + at;
        size = 1;
        bool counts = !isspace((unsigned char)*s) && !strchr("{}&^_~$#%", *s);
        if (*s == '\\' && isalpha((unsigned char)s[1])) {
            while (isalpha((unsigned char)s[size]))
                size++;
        } else if (*s == '\\') {
            size = s[1] ? 2 : 1;
            counts = s[1] && strchr("{}|#%&$_", s[1]);
        } else if (isdigit((unsigned char)*s)) {
            while (isdigit((unsigned char)s[size]))
                size++;
        } else if ((unsigned char)*s >= 0x80) {
            size = utf8_character((const uint8_t *)s, len - at);
            counts = size >= 1 && size <= 4;
            size = counts ? size : 1;
        }
        const char *symbol = arena_strndup(a, s, size);
        if (word_in(naming, symbol, strlen(symbol))) {
            size += group_length(s + size);
            counts = false;
        }
        bool added = false;
        if (counts && !word_in(arranging, symbol, strlen(symbol)))
            name_map_put(&seen, symbol, 0, &added);
        if (added)
            out.names[out.n++] = symbol;
    }
    name_map_free(&seen);
    return out;
}

/* ---- keywords, by RAKE (Rose et al. 2010): candidates are runs of words between stop words and
 * punctuation. A word's score is its degree (the sum of the lengths of the candidates that contain
 * it) divided by its frequency; a candidate's score is the sum over its words ---- */

static const char stop_words[] =
    "a about above after all also although among an and any are as at be because been before being "
    "below between both but by can cannot could did do does done down due during each either et "
    "etc even few for from further give given gives had has have having hence here how however i "
    "if in into is it its itself just may might more most much must nor not now of off on once "
    "only or other our out over own per same shall should show shows since so some such than that "
    "the their them then there therefore these they this those through thus to too under until up "
    "upon us use used using very via was we well were what when where whether which while who "
    "whose why will with within without would yet you your";

/* A candidate for a label: a keyword of one text, or a label that pictures have. */
struct candidate {
    const char *name;
    double score;
    const uint32_t *words; /* (n_words), of a keyword */
    size_t n_words;
};

/* Orders by decreasing score, then by name. */
static int compare_candidates(const void *x, const void *y)
{
    const struct candidate *p = x, *q = y;
    return p->score != q->score ? (p->score < q->score ? 1 : -1) : strcmp(p->name, q->name);
}

struct rake {
    struct arena *a;
    struct name_map index; /* of words */
    struct word {
        double degree, frequency;
    } * words;
    size_t n_words;
    struct candidate *found; /* in the order of the text */
    size_t n;
};

static void end_candidate(struct rake *r, const char *const *run, size_t n)
{
    if (!n)
        return;
    uint32_t *words = arena_array(r->a, uint32_t, n);
    const char *text = run[0];
    for (size_t i = 0; i < n; i++) {
        bool added;
        uint64_t at = *name_map_put(&r->index, run[i], r->n_words, &added);
        r->n_words += added;
        r->words[at].frequency++;
        r->words[at].degree += (double)n;
        words[i] = (uint32_t)at;
        text = i ? arena_printf(r->a, "%s %s", text, run[i]) : text;
    }
    r->found[r->n++] = (struct candidate){text, 0, words, n};
}

/* A word has letters, digits and non-ASCII characters, and hyphens, apostrophes and dots inside. */
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
    for (size_t length; *text; text += length ? length : 1) {
        length = word_length(text);
        const char *word = arena_strndup(r->a, text, length);
        bool is_number = word[strspn(word, "0123456789.-")] == 0;
        if (length ? is_number || word_in(stop_words, word, length) : *text != ' ') {
            end_candidate(r, run, n);
            n = 0;
        } else if (length) {
            run[n++] = word;
        }
    }
    end_candidate(r, run, n);
}

/* Returns the best distinct candidates: a third of the number of distinct words, rounded up. */
static struct names rake_keywords(struct arena *a, const char *text)
{
    const char *folded = keywords_fold(a, text);
    size_t most = strlen(folded) / 2 + 2;
    struct rake r = {.a = a,
                     .words = arena_array(a, struct word, most),
                     .found = arena_array(a, struct candidate, most)};
    find_candidates(&r, folded);
    for (size_t i = 0; i < r.n; i++)
        for (size_t k = 0; k < r.found[i].n_words; k++) {
            const struct word *w = &r.words[r.found[i].words[k]];
            r.found[i].score += w->degree / w->frequency;
        }
    qsort(r.found, r.n, sizeof *r.found, compare_candidates);
    struct names out = {arena_array(a, const char *, r.n + 1), 0};
    for (size_t i = 0; i < r.n && out.n < (r.n_words + 2) / 3; i++)
        if (!i || strcmp(r.found[i].name, r.found[i - 1].name))
            out.names[out.n++] = r.found[i].name;
    name_map_free(&r.index);
    return out;
}

/* ---- labels ---- */

struct labels {
    struct arena *a;
    bool keywords;
    uint64_t n;
    Eqloom__Place **place;
    struct names *of; /* (n): labels of each picture */
    struct name_map papers;
    struct names *by_paper;
};

/* Summarizes an image by all its fields but the pixels. */
static enum err_code summarize(struct span *out, struct arena *a, struct op_ctx *ctx,
                               const ProtobufCMessage *element, struct err *e)
{
    Eqloom__Image image = *(const Eqloom__Image *)element;
    image.pixels = (ProtobufCBinaryData){0};
    return err_up(e, canonical_pack(out, a, &image.base, e));
}

static enum err_code load_papers(struct labels *x, struct op_ctx *ctx, struct err *e)
{
    uint64_t n = op_count(ctx, "papers");
    enum err_code code = OK;
    x->by_paper = arena_array(x->a, struct names, n + 1);
    for (uint64_t i = 0; i < n && !code; i++) {
        const Eqloom__Paper *p = NULL;
        if ((code = op_get_in(&p, ctx, "papers", i, x->a, e)))
            break;
        x->by_paper[i] = rake_keywords(x->a, p->abstract[0] ? p->abstract : p->title);
        name_map_put(&x->papers, p->paper, i, NULL);
    }
    return err_up(e, code);
}

static enum err_code load_images(struct labels *x, struct op_ctx *ctx, struct err *e)
{
    static Eqloom__Place nowhere = EQLOOM__PLACE__INIT;
    x->n = op_count(ctx, "images");
    x->of = arena_array(x->a, struct names, x->n + 1);
    x->place = arena_array(x->a, Eqloom__Place *, x->n + 1);
    for (uint64_t i = 0; i < x->n; i++) {
        struct span s;
        const Eqloom__Image *image = NULL;
        enum err_code code = op_summary(&s, ctx, "images", i, e);
        if (!code)
            code = canonical_unpack(&image, x->a, &eqloom__image__descriptor, s, e);
        if (code)
            return err_up(e, code);
        x->place[i] = image->place ? image->place : &nowhere;
        const uint64_t *paper = name_map_get(&x->papers, x->place[i]->paper);
        if (x->keywords && paper)
            x->of[i] = x->by_paper[*paper];
        else if (!x->keywords)
            x->of[i] = latex_symbols(x->a, image->latex);
    }
    return OK;
}

/* Chooses the `most` most frequent labels that at least `least` pictures have. */
static void choose(Eqloom__Vocabulary *v, const struct labels *x, size_t most, double least)
{
    struct name_map index = {0};
    size_t n = 0, all = 0;
    for (uint64_t i = 0; i < x->n; i++)
        all += x->of[i].n;
    struct candidate *found = arena_array(x->a, struct candidate, all + 1);
    for (uint64_t i = 0; i < x->n; i++)
        for (size_t k = 0; k < x->of[i].n; k++) {
            bool added;
            uint64_t at = *name_map_put(&index, x->of[i].names[k], n, &added);
            n += added;
            found[at].name = x->of[i].names[k];
            found[at].score++;
        }
    name_map_free(&index);
    qsort(found, n, sizeof *found, compare_candidates);
    v->tokens = arena_array(x->a, char *, n + 1);
    while (v->n_tokens < n && v->n_tokens < most && found[v->n_tokens].score >= least) {
        v->tokens[v->n_tokens] = (char *)found[v->n_tokens].name;
        v->n_tokens++;
    }
}

static int compare_numbers(const void *x, const void *y)
{
    uint32_t p = *(const uint32_t *)x, q = *(const uint32_t *)y;
    return (p > q) - (p < q);
}

static enum err_code emit_labels(struct op_ctx *ctx, const struct labels *x,
                                 const Eqloom__Vocabulary *v, struct err *e)
{
    struct name_map index = {0};
    struct digest id;
    enum err_code code = op_emit(&id, ctx, "vocabulary", &v->base, e);
    for (size_t i = 0; i < v->n_tokens; i++)
        name_map_put(&index, v->tokens[i], i, NULL);
    for (uint64_t i = 0; i < x->n && !code; i++) {
        Eqloom__Labels labels = EQLOOM__LABELS__INIT;
        labels.place = x->place[i];
        labels.vocabulary_id = (ProtobufCBinaryData){DIGEST_SIZE, id.bytes};
        labels.labels = arena_array(x->a, uint32_t, x->of[i].n + 1);
        for (size_t k = 0; k < x->of[i].n; k++) {
            const uint64_t *at = name_map_get(&index, x->of[i].names[k]);
            if (at)
                labels.labels[labels.n_labels++] = (uint32_t)*at;
        }
        qsort(labels.labels, labels.n_labels, sizeof *labels.labels, compare_numbers);
        code = op_emit(NULL, ctx, "labels", &labels.base, e);
    }
    name_map_free(&index);
    return err_up(e, code);
}

static enum err_code run(struct op_ctx *ctx, void *state, struct err *e)
{
    struct labels x = {.a = op_arena(ctx),
                       .keywords = !strcmp(op_string(ctx, "labels"), "keywords")};
    Eqloom__Vocabulary chosen = EQLOOM__VOCABULARY__INIT, *v = &chosen;
    Eqloom__Vocabulary *given;
    enum err_code code = OK;
    v->encoding = x.keywords ? "abstract-keywords" : "latex-symbols";
    if (x.keywords && !op_count(ctx, "papers"))
        code = err_fail(e, ERR_INPUT, "keywords come from abstracts: connect the input 'papers'");
    if (!code && x.keywords)
        code = load_papers(&x, ctx, e);
    if (!code)
        code = load_images(&x, ctx, e);
    if (!code && op_count(ctx, "vocabulary")) {
        code = op_get(&given, ctx, "vocabulary", 0, e);
        v = code ? v : given;
        if (!code && strcmp(v->encoding, chosen.encoding))
            code = err_fail(e, ERR_INPUT, "the vocabulary encodes %s, not %s", v->encoding,
                            chosen.encoding);
    } else if (!code) {
        choose(v, &x, (size_t)op_int(ctx, "most"), (double)op_int(ctx, "least"));
    }
    if (!code)
        code = emit_labels(ctx, &x, v, e);
    name_map_free(&x.papers);
    return err_up(e, code);
}

const struct op op_image_labels = {
    .name = "image-labels",
    .version = 1,
    .node = OP_TASK,
    .doc =
        "Labels pictures for training. Symbols are the letters, numbers, signs and commands of the "
        "LaTeX, except those that arrange or name. Keywords are the best third of those that RAKE "
        "extracts from the abstract (Rose et al. 2010).",
    .params =
        OP_PARAMS({"labels", OP_ENUM, "symbols", "symbols|keywords", 0, 0,
                   "The symbols of a picture's LaTeX, or keywords of its paper's abstract."},
                  {"most", OP_INT, "1500", NULL, 1, 1e6,
                   "Maximum number of labels; the most frequent are chosen."},
                  {"least", OP_INT, "2", NULL, 1, 1e9, "Minimum number of pictures of a label."}),
    .inputs =
        OP_PORTS({"images", KIND_IMAGE, OP_COLLECTION, false, "Pictures with LaTeX, or of papers."},
                 {"papers", KIND_PAPER, OP_COLLECTION, true,
                  "For keywords: their abstracts, or the title of a paper without one."},
                 {"vocabulary", KIND_VOCABULARY, OP_ONE, true,
                  "Labels to use; if it is not connected, labels are chosen."}),
    .outputs = OP_PORTS(
        {"labels", KIND_LABELS, OP_COLLECTION, false, "One record per picture, in order."},
        {"vocabulary", KIND_VOCABULARY, OP_ONE, false, "The labels, the most frequent first."}),
    .run = run,
    .summarize = summarize,
};
