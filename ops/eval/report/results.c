/* Kinds of evaluations, and their figures; see results.h. */
#include "ops/eval/report/results.h"

#include "ops/eval/report/figures.h"

#include <string.h>

static const struct result_figure clusters[] = {
    {"kmeans_accuracy", "K-means", RESULT_PERCENT, RESULT_SCORE,
     "K-means with as many centres as there are clusters. The accuracy is the fraction of each "
     "cluster that has its label, averaged over clusters; labels are assigned to clusters one to "
     "one so as to maximise it."},
    {"kmeans_accuracy_greedy", "greedy", RESULT_PERCENT, RESULT_SCORE,
     "The same with labels assigned greedily, the largest fraction first."},
    {"precision@1", "P@1", RESULT_PERCENT, RESULT_SCORE, NULL},
    {"precision@5", "P@5", RESULT_PERCENT, RESULT_SCORE,
     "Retrieval: every expression is a query against all others, ranked by cosine. P@k is the "
     "number of the first k that are equivalent to the query, divided by the most that are "
     "possible."},
    {"precision@10", "P@10", RESULT_PERCENT, RESULT_SCORE, NULL},
    {"precision@15", "P@15", RESULT_PERCENT, RESULT_SCORE, NULL},
    {"precision@20", "P@20", RESULT_PERCENT, RESULT_SCORE, NULL},
    {"mrr", "MRR", RESULT_PERCENT, RESULT_SCORE,
     "Mean of 1 / rank of the first equivalent expression."},
    {"ranking_error", "ranking error", RESULT_PERCENT, RESULT_LOSS,
     "The share of all triples of an expression, one equivalent to it and one that is not, in "
     "which the last is nearer."},
    {"clusters", "clusters", RESULT_COUNT, RESULT_SETTING, NULL},
    {"sequences", "expressions", RESULT_COUNT, RESULT_SETTING, NULL},
    {"dimensions", "dimensions", RESULT_COUNT, RESULT_SETTING, NULL},
    {NULL},
};

static const struct result_figure triples[] = {
    {"triple_hinge", "triple loss", RESULT_FRACTION, RESULT_LOSS,
     "The mean over all triples of the amount by which the cosine of the equivalent pair falls "
     "short of the larger of the other two plus 1."},
    {"siamese_loss", "Siamese loss", RESULT_FRACTION, RESULT_LOSS,
     "Half of the mean amounts by which cosines of equivalent expressions fall short of 1 and "
     "those of others exceed -1."},
    {NULL},
};

static const struct result_figure understanding[] = {
    {"accuracy", "right", RESULT_PERCENT, RESULT_SCORE,
     "A query is answered by the candidate whose vector is most similar by cosine. One candidate "
     "is equal to the query but written differently."},
    {"like_query", "near the query", RESULT_PERCENT, RESULT_ASIDE,
     "How often a near miss of the query is chosen: one operator or number is changed, and "
     "equality is refuted."},
    {"like_answer", "near the answer", RESULT_PERCENT, RESULT_ASIDE,
     "How often a near miss of the right answer is chosen."},
    {"random", "by guessing", RESULT_PERCENT, RESULT_SETTING, NULL},
    {"questions", "questions", RESULT_COUNT, RESULT_SETTING, NULL},
    {NULL},
};

static const struct result_figure mistakes[] = {
    {"mistake_precision", "precision", RESULT_PERCENT, RESULT_SCORE,
     "The share of mistakes among the steps classified as mistakes. A step is classified as a "
     "mistake if the cosine of its two sides is below the threshold."},
    {"mistake_recall", "recall", RESULT_PERCENT, RESULT_SCORE,
     "The share of the mistakes that are classified as such."},
    {"mistake_f1", "F1", RESULT_PERCENT, RESULT_SCORE,
     "The harmonic mean of precision and "
     "recall."},
    {"no_mistake_precision", "right steps: precision", RESULT_PERCENT, RESULT_SCORE,
     "The same for finding the right steps."},
    {"no_mistake_recall", "recall", RESULT_PERCENT, RESULT_SCORE, NULL},
    {"no_mistake_f1", "F1", RESULT_PERCENT, RESULT_SCORE, NULL},
    {"auc", "AUC", RESULT_PERCENT, RESULT_SCORE,
     "The probability that a wrong step's cosine is below a right one's, whatever the threshold; "
     "50 is chance."},
    {"threshold", "threshold", RESULT_FRACTION, RESULT_ASIDE,
     "The mean of the lowest cosine of right steps, over derivations set apart for calibration."},
    {"steps", "steps", RESULT_COUNT, RESULT_SETTING, NULL},
    {"mistakes", "mistakes", RESULT_COUNT, RESULT_SETTING, NULL},
    {"derivations", "derivations", RESULT_COUNT, RESULT_SETTING, NULL},
    {NULL},
};

static const struct result_figure distances[] = {
    {"closer", "closer", RESULT_COUNT, RESULT_ASIDE,
     "The number of queries for which this model's nearest expression is closer to the query, by "
     "tree edit distance, than the other model's."},
    {"other_closer", "the other closer", RESULT_COUNT, RESULT_ASIDE,
     "The number of queries for which the other model's nearest expression is closer."},
    {"as_close", "alike", RESULT_COUNT, RESULT_ASIDE, NULL},
    {"distance", "edits", RESULT_MEAN, RESULT_ASIDE,
     "The mean tree edit distance from the query "
     "to the nearest expression."},
    {"other_distance", "the other's", RESULT_MEAN, RESULT_ASIDE, NULL},
    {"core_closer", "a f + b: closer", RESULT_COUNT, RESULT_ASIDE,
     "The same up to constant terms and factors."},
    {"core_other_closer", "the other closer", RESULT_COUNT, RESULT_ASIDE, NULL},
    {"core_as_close", "alike", RESULT_COUNT, RESULT_ASIDE, NULL},
    {"core_distance", "edits", RESULT_MEAN, RESULT_ASIDE, NULL},
    {"core_other_distance", "the other's", RESULT_MEAN, RESULT_ASIDE, NULL},
    {"queries", "queries", RESULT_COUNT, RESULT_SETTING, NULL},
    {"pool", "expressions", RESULT_COUNT, RESULT_SETTING, NULL},
    {NULL},
};

static const struct result_figure analogies[] = {
    {"accuracy@1", "right", RESULT_PERCENT, RESULT_SCORE,
     "x1 is to y1 as x2 is to the expression whose vector is nearest to y1 - x1 + x2. An answer is "
     "right if it equals y2, in whatever form."},
    {"accuracy@5", "among five", RESULT_PERCENT, RESULT_SCORE, "One of the five nearest is right."},
    {"analogies", "analogies", RESULT_COUNT, RESULT_SETTING, NULL},
    {"pool", "other expressions", RESULT_COUNT, RESULT_SETTING, NULL},
    {NULL},
};

static const struct result_figure generation[] = {
    {"accuracy@1", "right @1", RESULT_PERCENT, RESULT_SCORE,
     "How often the first k outputs of the model contain one that differs from the input and "
     "equals it."},
    {"accuracy@5", "@5", RESULT_PERCENT, RESULT_SCORE, NULL},
    {"accuracy@10", "@10", RESULT_PERCENT, RESULT_SCORE, NULL},
    {"accuracy@50", "@50", RESULT_PERCENT, RESULT_SCORE, NULL},
    {"first_equal", "first: equal", RESULT_PERCENT, RESULT_ASIDE,
     "The verdicts on the first "
     "output."},
    {"first_same", "the input", RESULT_PERCENT, RESULT_ASIDE, NULL},
    {"first_undecided", "undecided", RESULT_PERCENT, RESULT_ASIDE, NULL},
    {"first_refuted", "refuted", RESULT_PERCENT, RESULT_ASIDE, NULL},
    {"first_malformed", "malformed", RESULT_PERCENT, RESULT_ASIDE, NULL},
    {"without_result", "nothing", RESULT_PERCENT, RESULT_ASIDE, NULL},
    {"inputs", "inputs", RESULT_COUNT, RESULT_SETTING, NULL},
    {NULL},
};

static const struct result_figure labelled[] = {
    {"accuracy", "accuracy", RESULT_PERCENT, RESULT_SCORE,
     "How often the nearest other equation has the same label."},
    {"ranking_error", "ranking error", RESULT_PERCENT, RESULT_LOSS,
     "The share of all triples of an equation, one with its label and one with another, in which "
     "the last is nearer."},
    {"categories", "labels", RESULT_COUNT, RESULT_SETTING, NULL},
    {"equations", "equations", RESULT_COUNT, RESULT_SETTING, NULL},
    {"dimensions", "dimensions", RESULT_COUNT, RESULT_SETTING, NULL},
    {NULL},
};

static const struct result_figure papers[] = {
    {"ranking_error", "ranking error", RESULT_PERCENT, RESULT_LOSS,
     "The share of all triples of an equation, one of its paper and one of another, in which the "
     "last is nearer."},
    {"ranking_bound", "bound", RESULT_PERCENT, RESULT_ASIDE,
     "The error plus 3 sqrt(max n ln(1/delta) / (2 N)) for N equations, n of them in one paper: an "
     "upper bound on the expected error over triples of any equations. A bound above 100 is "
     "vacuous. All bounds assume that the papers are drawn independently, each with all its "
     "equations, and that equations of different papers are independent."},
    {"ranking_bound_triples", "by triples", RESULT_PERCENT, RESULT_ASIDE,
     "The error's upper bound from the triples that share a paper."},
    {"sampled_error", "sampled error", RESULT_PERCENT, RESULT_ASIDE,
     "The ranking error of a "
     "random sample of triples."},
    {"sampled_bound", "bound", RESULT_PERCENT, RESULT_ASIDE,
     "The upper bound from a colouring of "
     "the sampled triples."},
    {"accuracy", "nearest", RESULT_PERCENT, RESULT_SCORE,
     "How often the nearest other equation is from the same paper."},
    {"delta", "delta", RESULT_FRACTION, RESULT_SETTING, NULL},
    {"papers", "papers", RESULT_COUNT, RESULT_SETTING, NULL},
    {"equations", "equations", RESULT_COUNT, RESULT_SETTING, NULL},
    {"dimensions", "dimensions", RESULT_COUNT, RESULT_SETTING, NULL},
    {NULL},
};

static const struct result_figure search[] = {
    {"precision@10", "P@10", RESULT_PERCENT, RESULT_SCORE,
     "The share of the first k equations found whose section contains a keyword of the query."},
    {"precision@10_error", "+-", RESULT_PERCENT, RESULT_ASIDE,
     "Its standard error over queries, or over folders of drawn ones."},
    {"precision@10_gain", "P@10 gained", RESULT_PERCENT, RESULT_ASIDE,
     "The gain over the baseline for the same queries ..."},
    {"precision@10_gain_error", "+-", RESULT_PERCENT, RESULT_ASIDE, "... and its standard error."},
    {"precision@100", "P@100", RESULT_PERCENT, RESULT_SCORE, NULL},
    {"precision@1000", "P@1000", RESULT_PERCENT, RESULT_SCORE, NULL},
    {"umap", "uMAP", RESULT_MEAN, RESULT_SCORE,
     "The sum of P@k over the ranks k up to 1,000 that hold a relevant equation."},
    {"chance", "relevant at all", RESULT_PERCENT, RESULT_SETTING, "The P@k of a random order."},
    {"recall", "index recall", RESULT_PERCENT, RESULT_ASIDE,
     "The share of the 1,000 nearest that the approximate index finds."},
    {"queries", "queries", RESULT_COUNT, RESULT_SETTING, NULL},
    {"equations", "equations", RESULT_COUNT, RESULT_SETTING, NULL},
    {"dimensions", "dimensions", RESULT_COUNT, RESULT_SETTING, NULL},
    {NULL},
};

static const struct result_figure masking[] = {
    {"character_accuracy", "characters", RESULT_PERCENT, RESULT_SCORE,
     "How often the most probable character of a hidden node is the right one."},
    {"most_frequent", "the most frequent", RESULT_PERCENT, RESULT_SETTING,
     "How often the most frequent character is the right one."},
    {"tag_accuracy", "tags", RESULT_PERCENT, RESULT_SCORE, NULL},
    {"attribute_accuracy", "attributes", RESULT_PERCENT, RESULT_SCORE, NULL},
    {"masking_loss", "loss", RESULT_FRACTION, RESULT_LOSS,
     "The mean cross entropy of the three "
     "predictions."},
    {"hidden_nodes", "hidden nodes", RESULT_COUNT, RESULT_SETTING, NULL},
    {"hidden_characters", "with a character", RESULT_COUNT, RESULT_SETTING, NULL},
    {"equations", "equations", RESULT_COUNT, RESULT_SETTING, NULL},
    {NULL},
};

static const struct result_kind kinds[] = {
    {"kmeans_accuracy", "", NULL, "in per cent", clusters},
    {"triple_hinge", "triples", "Triples and pairs", "mean losses", triples},
    {"like_query", "understanding", "Semantic understanding", "in per cent of the questions",
     understanding},
    {"mistake_f1", "mistakes", "Mistake detection", "in per cent, except the threshold", mistakes},
    {"core_closer", "distances", "Distance analysis",
     "numbers of queries, and mean numbers of edits", distances},
    {"analogies", "analogies", "Embedding algebra", "in per cent of the analogies", analogies, 4},
    {"without_result", "generation", "Generation", "in per cent of the inputs", generation},
    {"papers", "papers", "Held-out papers", "in per cent", papers},
    {"categories", "labelled", "Labelled equations", "in per cent", labelled},
    {"umap", "search", "Search by equations", "in per cent, except uMAP", search},
    {"hidden_characters", "masking", "Hidden nodes of equations", "in per cent, except the loss",
     masking},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

const double *report_value(const Eqloom__Report *r, const char *name)
{
    for (size_t i = 0; i < r->n_values; i++)
        if (strcmp(r->values[i]->name, name) == 0)
            return &r->values[i]->value;
    return NULL;
}

int results_sense(const char *figure)
{
    for (size_t k = 0; k < KINDS; k++)
        for (const struct result_figure *f = kinds[k].figures; f->name; f++)
            if (strcmp(f->name, figure) == 0)
                return f->role == RESULT_SCORE ? 1 : f->role == RESULT_LOSS ? -1 : 0;
    return 0;
}

enum err_code results_sort(struct results **out, size_t *n, struct arena *a,
                           Eqloom__Report *const *reports, size_t n_reports, struct err *e)
{
    *out = arena_array(a, struct results, KINDS);
    *n = 0;
    for (size_t i = 0, k = 0; i < n_reports; i++, k = 0) {
        while (k < KINDS && !report_value(reports[i], kinds[k].key))
            k++;
        if (k == KINDS)
            return err_fail(e, ERR_INPUT, "report %zu, '%.60s', is not from an evaluation", i + 1,
                            reports[i]->title);
    }
    for (size_t k = 0; k < KINDS; k++) {
        struct results *r = &(*out)[*n];
        *r = (struct results){&kinds[k], arena_array(a, const Eqloom__Report *, n_reports + 1), 0};
        for (size_t i = 0; i < n_reports; i++)
            if (report_value(reports[i], kinds[k].key))
                r->rows[r->n++] = reports[i];
        *n += r->n > 0;
    }
    return OK;
}

bool results_have(const struct results *r, const struct result_figure *f)
{
    for (size_t i = 0; i < r->n; i++)
        if (report_value(r->rows[i], f->name))
            return true;
    return false;
}

bool results_share(const struct results *r, const struct result_figure *f)
{
    const double *first = report_value(r->rows[0], f->name);
    for (size_t i = 0; i < r->n && first; i++) {
        const double *v = report_value(r->rows[i], f->name);
        if (!v || *v != *first)
            return false;
    }
    return first && f->role == RESULT_SETTING;
}

bool results_best(const struct results *r, const struct result_figure *f, double value)
{
    if (r->n < 2 || (f->role != RESULT_SCORE && f->role != RESULT_LOSS))
        return false;
    for (size_t i = 0; i < r->n; i++) {
        const double *v = report_value(r->rows[i], f->name);
        if (v && (f->role == RESULT_SCORE ? *v > value : *v < value))
            return false;
    }
    return true;
}

char *result_text(struct arena *a, const struct result_figure *f, double value)
{
    switch (f->form) {
    case RESULT_PERCENT: return arena_printf(a, "%.1f", 100 * value);
    case RESULT_COUNT: return arena_printf(a, "%.0f", value);
    case RESULT_MEAN: return arena_printf(a, "%.1f", value);
    case RESULT_FRACTION: break;
    }
    return arena_printf(a, "%.3f", value);
}

Eqloom__Table *results_table(struct arena *a, const struct results *r, const char *title)
{
    char **columns = arena_array(a, char *, 1 + FIGURES_MOST);
    size_t n = 1;
    columns[0] = "";
    for (const struct result_figure *f = r->kind->figures; f->name; f++)
        if (results_have(r, f))
            columns[n++] = (char *)f->title;
    Eqloom__Table *out = table_of(a, title, columns, n, r->n);
    out->note = (char *)r->kind->note;
    for (size_t i = 0; i < r->n; i++) {
        char **cell = table_row(a, out);
        *cell++ = r->rows[i]->title;
        for (const struct result_figure *f = r->kind->figures; f->name; f++) {
            const double *v = report_value(r->rows[i], f->name);
            if (results_have(r, f))
                *cell++ = v ? result_text(a, f, *v) : "-";
        }
    }
    return out;
}

void results_values(Eqloom__Value **values, size_t *n, struct arena *a, const struct results *r)
{
    const char *kind = r->kind->name;
    for (size_t i = 0; i < r->n; i++) {
        for (const struct result_figure *f = r->kind->figures; f->name; f++) {
            const double *v = report_value(r->rows[i], f->name);
            if (!v)
                continue;
            Eqloom__Value *value = values[(*n)++] = arena_new(a, Eqloom__Value);
            eqloom__value__init(value);
            value->name =
                arena_printf(a, "%s%s%s.%s", kind, *kind ? "." : "", r->rows[i]->title, f->name);
            value->value = *v;
        }
    }
}

/* ---- side by side ---- */

static const Eqloom__Table *examples_of(const Eqloom__Report *r, size_t columns)
{
    return r->n_tables > 1 && r->tables[1]->n_columns >= columns + 2 ? r->tables[1] : NULL;
}

static bool same_questions(const Eqloom__Table *x, const Eqloom__Table *y, size_t columns)
{
    bool same = x && y && x->n_rows == y->n_rows;
    for (size_t i = 0; same && i < x->n_rows; i++)
        for (size_t k = 0; same && k < columns; k++)
            same = strcmp(x->rows[i]->cells[k], y->rows[i]->cells[k]) == 0;
    return same;
}

static Eqloom__Table *together(struct arena *a, const Eqloom__Report *const *rows, size_t n,
                               size_t asked)
{
    const Eqloom__Table *first = examples_of(rows[0], asked);
    char **columns = arena_array(a, char *, asked + n);
    for (size_t k = 0; k < asked; k++)
        columns[k] = first->columns[k];
    for (size_t m = 0; m < n; m++)
        columns[asked + m] = rows[m]->title;
    Eqloom__Table *out = table_of(a, arena_printf(a, "%s side by side", first->title), columns,
                                  asked + n, first->n_rows);
    out->note = "Answers in brackets are wrong.";
    for (size_t i = 0; i < first->n_rows; i++) {
        char **cell = table_row(a, out);
        for (size_t k = 0; k < asked; k++)
            *cell++ = first->rows[i]->cells[k];
        for (size_t m = 0; m < n; m++) {
            char **of = examples_of(rows[m], asked)->rows[i]->cells + asked;
            *cell++ = strcmp(of[1], "1") == 0 ? of[0] : arena_printf(a, "[%s]", of[0]);
        }
    }
    return out;
}

Eqloom__Table **results_together(size_t *n, struct arena *a, const struct results *r)
{
    Eqloom__Table **out = arena_array(a, Eqloom__Table *, r->n + 1);
    bool *taken = arena_array(a, bool, r->n + 1);
    size_t asked = r->kind->asked;
    *n = 0;
    for (size_t i = 0; i < r->n && asked; i++) {
        const Eqloom__Report **same = arena_array(a, const Eqloom__Report *, r->n);
        size_t of = 0;
        for (size_t k = i; k < r->n; k++)
            if (!taken[k] && same_questions(examples_of(r->rows[i], asked),
                                            examples_of(r->rows[k], asked), asked)) {
                same[of++] = r->rows[k];
                taken[k] = true;
            }
        if (of > 1)
            out[(*n)++] = together(a, same, of, asked);
    }
    return out;
}
