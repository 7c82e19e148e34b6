/* The table of commands. */
#include "engine/cli/console/cli.h"

#include <limits.h>
#include <string.h>

#define JSON                                                                                       \
    {                                                                                              \
        "json", 0, NULL, false, "One JSON object a line instead of words."                         \
    }
#define SET                                                                                        \
    {                                                                                              \
        "set", 0, "KEY=VALUE", true, "Set a parameter of the job, or of a node: NODE.KEY=VALUE."   \
    }
#define WAIT                                                                                       \
    {                                                                                              \
        "wait", 0, "[=SECONDS]", false,                                                            \
            "Wait for another writer of the store, for ever or so long."                           \
    }
#define OUTSIDE                                                                                    \
    {                                                                                              \
        "allow-outside", 0, NULL, false, "Let the job name files outside of its directory."        \
    }

static const struct cli_option json_options[] = {JSON, {0}};
static const struct cli_option run_options[] = {
    {"jobs", 'j', "N", false, "Use N threads; all processors if not given."},
    {"keep-going", 'k', NULL, false, "Go on with other elements after a failure (the default)."},
    {"fail-fast", 0, NULL, false, "Stop at the first failed element."},
    {"dry-run", 'n', NULL, false, "Only say what would be done, as 'plan'."},
    SET,
    JSON,
    {"check", 0, NULL, false, "Compute again what is cached and compare the results."},
    {"memory", 0, "SIZE", false, "Bound results in flight: 512M, 4G."},
    {"durable", 0, NULL, false, "Sync every commit to disk."},
    WAIT,
    OUTSIDE,
    {0},
};
static const struct cli_option plan_options[] = {SET, JSON, OUTSIDE, {0}};
static const struct cli_option show_options[] = {
    JSON,
    {"raw", 0, NULL, false, "The stored bytes, as they are."},
    {"limit", 0, "N", false,
     "Elements, array items and rows of tables shown as text; 20 if not given."},
    {0},
};
static const struct cli_option export_options[] = {
    {"format", 'f', "FORMAT", false, "jsonl, tsv, npy, safetensors or raw; else by PATH's ending."},
    {"output", 'o', "PATH", false, "Where to; '-' is standard output (jsonl, tsv, raw)."},
    {0},
};
static const struct cli_option log_options[] = {
    {"limit", 'n', "N", false, "At most N runs; 20 if not given."}, JSON, {0}};
static const struct cli_option tag_options[] = {
    {"force", 'f', NULL, false, "Move a tag that names something else."},
    WAIT,
    JSON,
    {0},
};
static const struct cli_option untag_options[] = {WAIT, JSON, {0}};
static const struct cli_option lineage_options[] = {
    {"down", 'd', NULL, false, "What was made with it, instead of what it was made from."},
    JSON,
    {0},
};
static const struct cli_option query_options[] = {
    {"job", 0, "JOB", false, "Only records that nodes of this job hold now."},
    {"node", 0, "NODE", false, "Only records that nodes of this name hold now."},
    {"op", 0, "OP", false, "Only records that this op made."},
    {"since", 0, "TIME", false,
     "Only records made at this time or later: 2026-11-22[T14:30[:15]]."},
    {"until", 0, "TIME", false, "Only records made before this time."},
    {"limit", 'n', "N", false, "At most N records."},
    JSON,
    {0},
};
static const struct cli_option diff_options[] = {
    {"limit", 'n', "N", false, "Elements listed of each sort; 20 if not given."}, JSON, {0}};
static const struct cli_option gc_options[] = {
    {"dry-run", 'n', NULL, false, "Only count."},
    {"keep-runs", 0, "N", false, "Keep what the last N runs of each job made; 3 if not given."},
    WAIT,
    JSON,
    {0},
};
static const struct cli_option fsck_options[] = {
    {"repair", 0, NULL, false, "Set bad records aside, so that the next run makes them again."},
    {"wait", 0, "[=SECONDS]", false, "With --repair: wait for another writer of the store."},
    JSON,
    {0},
};
static const struct cli_option pack_options[] = {
    {"output", 'o', "FILE", false, "The file to write."}, JSON, {0}};
static const struct cli_option write_options[] = {
    {"wait", 0, "[=SECONDS]", false, "Wait for another writer of the store."}, JSON, {0}};
static const struct cli_option ops_options[] = {
    {"markdown", 0, NULL, false, "The whole reference, as in docs/ops.md."}, JSON, {0}};

static const struct cli_command own_commands[] = {
    {"run", "JOB [NODE...]", 1, UINT_MAX, "Make true what a job file says",
     "Reads the job, plans, and computes what is missing or stale; what is known already is not "
     "computed again. With nodes, only these and what they need. The store is created if there "
     "is none: in the current directory if the job lies below it, else beside the job.\n\n"
     "At the end the job's exports are written to out/JOB beside the store, and tables of "
     "reports that no other node reads are printed, of long ones the first rows.\n\n"
     "Ctrl-C (SIGINT, SIGTERM) ends the run within about a second: what is in flight and not "
     "done by then is dropped, what is done stays. A second one ends it at once. The next run "
     "goes on from there.",
     "eqloom run jobs/quickstart.yaml\n"
     "eqloom run jobs/quickstart.yaml model -j2 --set seed=7 --set model.steps=2000",
     "0: done. 1: something failed. 2: the job or its input is wrong; nothing was changed. "
     "130: interrupted.",
     run_options, cli_run, NULL},
    {"plan", "JOB [NODE...]", 1, UINT_MAX, "Say what a run would do, and why",
     "Writes nothing. Below a node that would run, decisions depend on what it gives: if that is "
     "what it gave before, nothing more runs. These nodes 'may run'.",
     "eqloom plan jobs/quickstart.yaml", NULL, plan_options, cli_plan, NULL},
    {"status", "JOB", 1, 1, "Say what the last run did and what is current",
     "For each node: what became of it in the last run, its elements, and whether it is current "
     "or would be made again.",
     "eqloom status jobs/quickstart.yaml", NULL, plan_options, cli_status, NULL},
    {"why", "JOB NODE | REF", 1, 2,
     "Say why a node ran or an artifact was made, and what differs now",
     "NODE is a node of JOB. With one argument, JOB/NODE, the job file is that of the job's last "
     "run. REF is any other ref or at least four digits of an id: what made it, from what, when, "
     "and what became of that in the job's last run.",
     "eqloom why jobs/quickstart.yaml egraphs\neqloom why quickstart/egraphs\neqloom why 3fa9",
     NULL, plan_options, cli_why, NULL},
    {"show", "REF", 1, 1, "Print a record or the beginning of a collection",
     "REF is a node's output (JOB/NODE, JOB/NODE.ROLE, or NODE if only one job has it), another "
     "ref, or at least four digits of an id. An ambiguous one lists what it could mean.",
     "eqloom show quickstart/clusters\neqloom show 3fa9 --json", NULL, show_options, cli_show,
     NULL},
    {"ls", "[PREFIX]", 0, 1, "List what the store holds by name",
     "Names that begin with PREFIX: the outputs of nodes (JOB/NODE), refs of jobs and tags, with "
     "kind, id and number of elements.",
     "eqloom ls quickstart/\neqloom ls tag/", NULL, json_options, cli_ls, NULL},
    {"export", "REF", 1, 1, "Write a record or collection for other programs",
     "jsonl: one object a line, an element of a collection each. tsv: one row for each item of "
     "the element's first list of messages (a cluster's members), with the element's number and "
     "its other plain fields repeated. npy: embeddings as a float32 matrix, with PATH.jsonl "
     "naming the rows. safetensors: the tensors of a checkpoint under PyTorch's names, with "
     "PATH.json "
     "for architecture and vocabulary (docs/embed.py loads both). raw: the "
     "bytes of a file, or of a record.",
     "eqloom export quickstart/clusters -o clusters.jsonl\n"
     "eqloom export quickstart/trained-vectors -o vectors.npy\n"
     "eqloom export quickstart/model -o model.safetensors",
     NULL, export_options, cli_export, NULL},
    {"log", "[JOB|RUN]", 0, 1, "List runs, newest first; or the nodes of one",
     "JOB is a job's name or its file; RUN is JOB/NUMBER. A run in which nothing had to be done "
     "leaves no entry. 'killed' is a run that ended without a word.\n\n"
     "For each node of a run: how many of its elements (a training's segments) were computed "
     "(ran), how many proved to stand (reused; 'why' says by which proofs) and how many known "
     "before (cached).",
     "eqloom log quickstart\neqloom log quickstart/12", NULL, log_options, cli_log, NULL},
    {"lineage", "REF", 1, 1, "Say what something was made from, or what was made with it",
     "A tree from REF up to the files, seeds and parameters that it goes back to; with --down, to "
     "everything in the store that goes back to it. A map is followed element by element from an "
     "element, as a whole from a collection. A rule leads to the e-graphs in which it matched and "
     "to "
     "what was made from those; an e-graph goes back to its expression and to the rules that "
     "matched. Parameters are shown where they are not the op's defaults; '(above)' marks what was "
     "shown already.",
     "eqloom lineage quickstart/model\neqloom lineage --down quickstart/rules", NULL,
     lineage_options, cli_lineage, NULL},
    {"query", "KIND [PROGRAM]", 1, 2, "Find records by what they say",
     "Records of a kind that PROGRAM selects, or all of them. PROGRAM is written in the language "
     "of "
     "jq (see jq(1)) and gets a record as 'eqloom show REF --json' prints it: an object with id, "
     "kind, bytes and value, the record's fields. A record is selected if the program yields "
     "anything but false and null. What it yields is printed, if it is more than true; with "
     "--json it is the member 'yields'.\n\n"
     "The options are faster than the same question in PROGRAM: they need not read the records.",
     "eqloom query cluster '.value.members | length > 50' --job quickstart\n"
     "eqloom query cluster '.value.seed.prefix | test(\"\\\\bsin\\\\b\")'\n"
     "eqloom query checkpoint '.value.metrics[-1].value < 1'\n"
     "eqloom query egraph '.bytes > 1e6' --limit 10\n"
     "eqloom query checkpoint .value.step --op train --since 2026-11-22",
     "0: done. 1: some records were too large for jq. 2: the program is wrong.", query_options,
     cli_query, NULL},
    {"diff", "A B", 2, 2, "Say how two artifacts or two runs differ",
     "A and B are REFs as for 'show', of one kind. Collections: elements added (+), removed (-), "
     "and changed (~: gone and come under one name) with the fields that differ. Other records: "
     "the fields that differ; figures of reports and the last of each metric side by side, with "
     "their difference.\n\n"
     "Or A and B are runs, JOB/NUMBER or a job's last one: what each node made, how many elements "
     "came (+) and went (-), its time, and the parameters and figures that differ. Which elements, "
     "'eqloom diff' says of the ids in the table.",
     "eqloom diff tag/v1 quickstart/clusters\neqloom diff trained-eval untrained-eval\n"
     "eqloom diff quickstart/1 quickstart/2",
     "0: they are the same. 3: they differ.", diff_options, cli_diff, NULL},
    {"tag", "NAME REF", 2, 2, "Name something, so that it is kept and found",
     "Gives what REF stands for the name tag/NAME (NAME for short, unless a node is called so). "
     "A tag is a pin: runs never change it and gc keeps it, with all that it refers to. No job can "
     "be named 'tag' "
     "and no job's refs begin with 'tag/'. 'eqloom ls tag/' lists tags.",
     "eqloom tag v1 quickstart/model\neqloom show tag/v1\neqloom tag --force v1 best", NULL,
     tag_options, cli_tag, NULL},
    {"untag", "NAME", 1, 1, "Take a tag away",
     "What it named stays in the store until gc finds that nothing else refers to it.",
     "eqloom untag v1", NULL, untag_options, cli_untag, NULL},
    {"gc", "", 0, 0, "Remove what nothing refers to any more",
     "Kept are tags and refs, what the last runs of each job made, and all that these refer to.",
     "eqloom gc --dry-run", NULL, gc_options, cli_gc, NULL},
    {"fsck", "", 0, 0, "Check every record of the store",
     "Reads and hashes everything and names what is bad. With --repair, bad records are set aside "
     "and the next run makes them again.",
     "eqloom fsck --repair",
     "0: the store is sound, or --repair has set aside what was bad. 1: faults were found.",
     fsck_options, cli_fsck, NULL},
    {"stats", "", 0, 0, "Count what the store holds",
     "For each kind of record: how many, the bytes of their payloads, the bytes stored, and how "
     "many are compressed under a dictionary.",
     "eqloom stats", NULL, json_options, cli_stats, NULL},
    {"pack", "REF...", 1, UINT_MAX, "Write artifacts and all that they refer to into one file",
     "REF as for 'show'. Refs keep their names.",
     "eqloom pack quickstart/clusters quickstart/model -o quickstart.pack", NULL, pack_options,
     cli_pack, NULL},
    {"unpack", "FILE", 1, 1, "Take artifacts from a packed file into the store",
     "Every record is verified before it is stored; what the store has already is skipped, so "
     "that an unpacking that was cut off is gone on with by doing it again. A ref that leads "
     "elsewhere in this store stays as it is. The store is created if there is none.",
     "eqloom unpack quickstart.pack", NULL, write_options, cli_unpack, NULL},
    {"backup", "DIR", 1, 1, "Make a copy of the store as it is now",
     "DIR, which must not exist, becomes a store. On the same file system, where it has them, its "
     "tables are hard links, which cost no space and change with the original: against failing "
     "disks, copy DIR elsewhere. Else they are copied.",
     "eqloom backup /mnt/backup/eqloom-2024-05-01", NULL, write_options, cli_backup, NULL},
    {"compact", "", 0, 0, "Recompress everything and give back unused space",
     "Runs compress what they store fast. This compresses all records again at a high level, small "
     "ones under freshly trained dictionaries. Then it rewrites the tables, so that what 'gc' "
     "removed is free at once.",
     "eqloom compact", NULL, write_options, cli_compact, NULL},
    {"ops", "[OP]", 0, 1, "List the ops that nodes may use",
     "With OP, its inputs, outputs and parameters.", "eqloom ops\neqloom ops saturate", NULL,
     ops_options, cli_ops, NULL},
    {"schema", "", 0, 0, "Print the JSON Schema of job files, for editors",
     "Made from the table of ops; also shipped as docs/eqloom.schema.json.",
     "eqloom schema > eqloom.schema.json", NULL, json_options, cli_schema, NULL},
};

static const struct cli_option *tool_options(struct arena *a, const struct tool *t)
{
    size_t n = 0;
    while (t->options && t->options[n].name)
        n++;
    struct cli_option *options = arena_array(a, struct cli_option, n + 2);
    for (size_t i = 0; i < n; i++)
        options[i] =
            (struct cli_option){t->options[i].name, t->options[i].letter, t->options[i].value,
                                t->options[i].repeats, t->options[i].doc};
    options[n] = (struct cli_option)JSON;
    return options;
}

/* Tools may begin their summaries in lower case. */
static const char *capitalized(struct arena *a, const char *text)
{
    char *copy = arena_strdup(a, text);
    if (*copy >= 'a' && *copy <= 'z')
        *copy -= 'a' - 'A';
    return copy;
}

const struct cli_command *cli_commands(size_t *n, struct arena *a)
{
    const size_t n_own = sizeof own_commands / sizeof *own_commands;
    size_t n_tools = 0;
    while (tool_table[n_tools])
        n_tools++;
    struct cli_command *all = arena_array(a, struct cli_command, n_own + n_tools);
    memcpy(all, own_commands, sizeof own_commands);
    for (size_t i = 0; i < n_tools; i++) {
        const struct tool *t = tool_table[i];
        all[n_own + i] = (struct cli_command){.name = t->name,
                                              .arguments = t->arguments ? t->arguments : "",
                                              .max_arguments = UINT_MAX,
                                              .summary = capitalized(a, t->summary),
                                              .help = t->help,
                                              .example = t->example,
                                              .exit_codes = t->exit_codes,
                                              .options = tool_options(a, t),
                                              .run = cli_tool,
                                              .tool = t};
    }
    *n = n_own + n_tools;
    return all;
}
