/* The mark of what was acknowledged; see rocks_internal.h. The file has the number twice, 8 bytes
 * little-endian each; the lower one counts, so that neither a kill between the two nor a flipped
 * bit raises a false alarm. */
#include "store/db/rocks_internal.h"

#include "base/span.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static void file_name(char path[PATH_MAX], const char *db_path)
{
    snprintf(path, PATH_MAX, "%s/ACKNOWLEDGED", db_path);
}

uint64_t watermark_read(const char *db_path)
{
    char path[PATH_MAX];
    uint8_t bytes[16];
    uint64_t first = 0, second = 0;
    file_name(path, db_path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    if (pread(fd, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes) {
        first = get_le(bytes, 8);
        second = get_le(bytes + 8, 8);
    }
    close(fd);
    return first < second ? first : second;
}

static void write_value(struct watermark *w)
{
    uint8_t bytes[16];
    put_le(bytes, w->value, 8);
    put_le(bytes + 8, w->value, 8);
    /* A full disk: the mark stays behind, which only makes it less strict. */
    if (pwrite(w->fd, bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return;
}

void watermark_open(struct watermark *w, const char *db_path, uint64_t value)
{
    char path[PATH_MAX];
    file_name(path, db_path);
    *w = (struct watermark){.fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666),
                            .value = value};
    pthread_mutex_init(&w->lock, NULL);
    if (w->fd >= 0)
        write_value(w);
}

void watermark_raise(struct watermark *w, uint64_t value)
{
    if (w->fd < 0)
        return;
    pthread_mutex_lock(&w->lock);
    if (value > w->value) {
        w->value = value;
        write_value(w);
    }
    pthread_mutex_unlock(&w->lock);
}

void watermark_close(struct watermark *w)
{
    if (w->fd < 0)
        return;
    close(w->fd);
    pthread_mutex_destroy(&w->lock);
    w->fd = -1;
}
