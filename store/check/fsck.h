/* The state of a check, shared by the files of fsck. */
#pragma once

#include "base/map.h"
#include "store/check/faults.h"
#include "store/check/idtable.h"
#include "store/internal.h"
#include "store/maintain.h"

struct fsck {
    struct store *store;
    bool repair, drop_refs;
    bool damaged;       /* files of the database are bad: */
    struct err damage;  /* the first of them */
    const char *family; /* being scanned */
    struct faults faults;
    struct fsck_result result;
    struct id_table ids;      /* of all records, in order; flags: their state (fsck_records.c) */
    struct digest_map others; /* id -> the same, of ids that the scan did not come to */
    struct digest *bad;       /* records for quarantine */
    size_t n_bad, cap_bad;
    enum err_code stop; /* the store could not be read, for another reason than damage */
    struct err why_stop;
};

/* The id is NULL where it concerns no record in particular. */
void fsck_report(struct fsck *f, const struct digest *id, const char *what);
/* OK unless the check itself has failed. */
enum err_code fsck_stop_error(const struct fsck *f, struct err *e);

/* ---- records ---- */

/* Lists all; to be called first. */
enum err_code fsck_list_objects(struct fsck *f, struct err *e);
/* For store_scan: checks one, and rejects it if it is bad. */
enum err_code fsck_check_object(void *arg, struct span key, struct span value, struct err *e);
/* When all have been checked: rejects records that refer to rejected ones, until nothing changes.
 */
enum err_code fsck_check_links(struct fsck *f, struct err *e);
/* For message_visit_ids: ERR_NOTFOUND unless the record is good, as far as has been checked. A
 * record that is missing is reported once. */
enum err_code fsck_check_link(void *arg, const uint8_t id[32], struct err *e);
