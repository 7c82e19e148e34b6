/* Error values. A fallible function returns enum err_code and fills one fixed-size struct err,
 * which never allocates: the message is written once, where the error arises; each caller on the
 * way up adds only its place. Every function here accepts e == NULL.
 *
 *     return err_fail(e, ERR_CORRUPT, "record %s: digest differs", hex);
 *     if (err_up(e, store_get(&rec, s, id, e))) goto out;
 */
#pragma once

#include <stddef.h>

enum err_code {
    OK = 0,
    ERR_NOTFOUND,    /* expected absence */
    ERR_INPUT,       /* the user's input or usage is wrong: exit status 2 */
    ERR_AMBIGUOUS,   /* a name or prefix stands for several things */
    ERR_CORRUPT,     /* stored bytes are not what they claim to be */
    ERR_IO,          /* the operating system or the store refused */
    ERR_BUSY,        /* somebody else holds it */
    ERR_LIMIT,       /* a stated bound was passed */
    ERR_NOMEM,       /* a large allocation failed */
    ERR_CANCELLED,   /* the run was told to stop */
    ERR_UNSUPPORTED, /* newer format, missing device, ... */
    ERR_FAILED,      /* an op's work failed for a reason of its own */
};

enum { ERR_FRAMES = 8 };

struct err {
    enum err_code code;
    char message[512];
    /* Where in the user's input: line 0 means nowhere. */
    char input_file[256];
    int line, column;     /* from 1; columns count code points */
    char input_line[200]; /* the offending line, cut around the column if long */
    int caret;            /* code points before the caret in input_line */
    char hint[200];       /* 'did you mean ...', or empty */
    char detail[3000];    /* lines that a message has no room for, such as a derivation; or empty */
    int n_frames;
    struct {
        const char *file;
        int line;
    } frames[ERR_FRAMES];
};

/* A text being parsed, for positions in errors. */
struct source_text {
    const char *name; /* path as the user wrote it, or "<argument>" */
    const char *text;
    size_t len;
};

#define err_fail(e, code, ...) err_fail_from((e), (code), __FILE__, __LINE__, __VA_ARGS__)
#define err_fail_at(e, source, offset, ...)                                                        \
    err_fail_at_from((e), (source), (offset), __FILE__, __LINE__, __VA_ARGS__)
#define err_up(e, call) err_up_from((e), (call), __FILE__, __LINE__)

enum err_code err_fail_from(struct err *e, enum err_code code, const char *file, int line,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));
/* ERR_INPUT at a byte offset of a source text. */
enum err_code err_fail_at_from(struct err *e, const struct source_text *source, size_t offset,
                               const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Sets the position of an error that has none yet; code and message stay. */
void err_locate(struct err *e, const struct source_text *source, size_t offset);
void err_hint(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Whole lines of the text, as many as there is room for; "..." stands for the others. */
void err_detail(struct err *e, const char *text);
/* Adds the caller's place when code is not OK; returns code. */
enum err_code err_up_from(struct err *e, enum err_code code, const char *file, int line);
void err_clear(struct err *e);
/* "corrupt record", "bad input", ...: a word for people. */
const char *err_code_name(enum err_code code);

/* The nearest of n names to `word` by edit distance (at most 1/3 of its length, at least 1), or
 * NULL: for 'did you mean'. */
const char *err_nearest(const char *word, const char *const *names, size_t n);
/* Hints at the nearest of the names, if there is one; returns code. */
enum err_code err_suggest(enum err_code code, const char *word, const char *const *names, size_t n,
                          struct err *e);

/* ---- when the process cannot go on ---- */
/* Writes the line before the process ends. Only the first thread comes back, to end it: others that
 * run into the same wait for that. Safe in a signal handler. */
void last_words(const char *line, size_t n);
/* Says so in one line and ends the process: for allocations too small to be handled one by one.
 * Nothing committed is lost; the next run goes on. */
__attribute__((noreturn)) void out_of_memory(size_t bytes);
/* calloc, or out_of_memory. */
void *must_calloc(size_t n, size_t size);
