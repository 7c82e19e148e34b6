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
    ERR_AMBIGUOUS,   /* a name or prefix matches several things */
    ERR_CORRUPT,     /* stored bytes are not what they claim to be */
    ERR_IO,          /* the operating system or the store failed */
    ERR_BUSY,        /* another process holds the lock */
    ERR_LIMIT,       /* a stated bound was exceeded */
    ERR_NOMEM,       /* a large allocation failed */
    ERR_CANCELLED,   /* the run was cancelled */
    ERR_UNSUPPORTED, /* newer format, missing device, ... */
    ERR_FAILED,      /* an op failed for a reason of its own */
};

enum { ERR_FRAMES = 8 };

struct err {
    enum err_code code;
    char message[512];
    /* Position in the user's input; line 0: none. */
    char input_file[256];
    int line, column;     /* from 1; columns count code points */
    char input_line[200]; /* the offending line, cut around the column if long */
    int caret;            /* code points before the caret in input_line */
    char hint[200];       /* 'did you mean ...', or empty */
    char detail[3000];    /* lines too long for the message, such as a derivation; or empty */
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
/* Sets the position of an error that has none yet; keeps code and message. */
void err_locate(struct err *e, const struct source_text *source, size_t offset);
void err_hint(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Copies as many whole lines of the text as fit; "..." replaces the rest. */
void err_detail(struct err *e, const char *text);
/* Adds the caller's location if code is not OK; returns code. */
enum err_code err_up_from(struct err *e, enum err_code code, const char *file, int line);
void err_clear(struct err *e);
/* Returns a description for users: "corrupt record", "bad input", ... */
const char *err_code_name(enum err_code code);

/* Returns the nearest of n names to `word` by edit distance (at most 1/3 of its length, at least
 * 1), or NULL. For 'did you mean'. */
const char *err_nearest(const char *word, const char *const *names, size_t n);
/* Adds a hint with the nearest of the names, if any is near enough; returns code. */
enum err_code err_suggest(enum err_code code, const char *word, const char *const *names, size_t n,
                          struct err *e);

/* ---- fatal errors ---- */
/* Writes a line before the process ends. Returns only in the first thread, which must end the
 * process; other threads block. Async-signal-safe. */
void last_words(const char *line, size_t n);
/* Reports lack of memory in one line and ends the process: for allocations too small to be handled
 * one by one. Committed work is kept, and the next run continues from it. */
__attribute__((noreturn)) void out_of_memory(size_t bytes);
/* calloc that calls out_of_memory on failure. */
void *must_calloc(size_t n, size_t size);
