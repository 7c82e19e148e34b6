/* The sequence number of the last write that was acknowledged, in a file beside the tables.
 *
 * RocksDB replays its log up to the first entry that it cannot read and cannot tell an entry that
 * was never finished from one that went bad later. We can: what comes back from the log must reach
 * what was acknowledged. */
#ifndef STORE_WATERMARK_H
#define STORE_WATERMARK_H

#include <pthread.h>
#include <stdint.h>

struct watermark {
    int fd; /* -1: none is kept */
    uint64_t value;
    pthread_mutex_t lock;
};

/* What the file of this database says; 0 if it says nothing. */
uint64_t watermark_read(const char *db_path);
/* Begins at `value`. A file that cannot be written is done without. */
void watermark_open(struct watermark *w, const char *db_path, uint64_t value);
void watermark_raise(struct watermark *w, uint64_t value);
void watermark_close(struct watermark *w);

#endif
