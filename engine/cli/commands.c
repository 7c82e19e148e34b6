/* The table of commands: their options, help and functions. */
#include "engine/cli/cmd/cmd.h"

#include <limits.h>
#include <string.h>

/* clang-format off */
#define OPTIONS(...) (const struct tool_option[]){__VA_ARGS__, {0}}
#define SET                                                                                        \
    {"set", "KEY=VALUE", true, "Set a parameter of the job, or of a node: NODE.KEY=VALUE."}
#define WAIT                                                                                       \
    {"wait", "[=SECONDS]", false,                                                                  \
     "Wait while another process writes the store, for at most SECONDS if given."}
#define OUTSIDE                                                                                    \
    {"allow-outside", NULL, false, "Let the job read files outside its directory."}
#define LATEX                                                                                      \
    {"latex", NULL, false, "Write expressions as LaTeX; in JSON, as an additional field."}
#define PREFIX                                                                                     \
    {"prefix", NULL, false, "Write expressions in prefix tokens; JSON always has them."}
#define LIMIT(doc) {"limit", "N", false, doc, 'n'}
/* clang-format on */

static const struct cli_command own_commands[] = {
    {"run", "JOB [NODE...]", 1, UINT_MAX, CLI_STORE_OWN, cli_run,
     "Run a job: compute what is missing or out of date",
     "Reads the job file, plans, and computes every result that is missing or whose inputs have "
     "changed; all others are taken from the store. With NODE, only these nodes and what they "
     "need. If there is no store, one is created: in the current directory if the job is below "
     "it, else beside the job.\n\n"
     "At the end the job's exports are written to out/JOB beside the store, and the tables of "
     "reports are printed, long ones in part: those of reports that NODE names and of reports "
     "that no other node reads.\n\n"
     "Ctrl-C (SIGINT, SIGTERM) ends the run within about a second: unfinished work is dropped, "
     "finished results are kept, and the next run continues from there. A second Ctrl-C ends it "
     "at once.",
     "eqloom run jobs/quickstart.yaml\n"
     "eqloom run jobs/quickstart.yaml model -j2 --set seed=7 --set model.steps=2000",
     OPTIONS({"jobs", "N", false, "Use N threads; the default is one for each processor.", 'j'},
             {"keep-going", NULL, false,
              "Continue with other elements after a failure (the "
              "default).",
              'k'},
             {"fail-fast", NULL, false, "Stop at the first failed element."},
             {"dry-run", NULL, false, "Only show what would be done, like 'plan'.", 'n'}, SET,
             TOOL_JSON,
             {"check", NULL, false,
              "Compute cached results again and compare; replace wrong ones that came in packs."},
             {"durable", NULL, false, "Sync every commit to disk."},
             {"remote", "ADDRESS", false,
              "Share results through a folder, ssh://HOST[:PORT]/PATH or s3://BUCKET[/PREFIX]; "
              "the default is $EQLOOM_REMOTE, else the job's setting. 'none': do not share."},
             {"on", "EXECUTOR", false,
              "slurm: compute maps and chains on Slurm (docs/slurm.md); here: on this machine. "
              "The default is the job's setting."},
             WAIT, OUTSIDE),
     "0: done. 1: something failed. 2: the job or its input is wrong; nothing was changed. 130: "
     "interrupted."},
    {"plan", "JOB [NODE...]", 1, UINT_MAX, CLI_STORE_OWN, cli_plan,
     "Show what a run would do, and why",
     "Writes nothing. Nodes that read the output of a node that would run 'may run': if that "
     "output comes out as before, they do not.",
     "eqloom plan jobs/quickstart.yaml", OPTIONS(SET, TOOL_JSON, OUTSIDE)},
    {"status", "JOB", 1, 1, CLI_STORE_OWN, cli_plan,
     "Show what the last run did and which nodes are up to date",
     "For each node: its state in the last run, its elements, and whether it is up to date or "
     "the next run would compute it again.",
     "eqloom status jobs/quickstart.yaml", OPTIONS(SET, TOOL_JSON, OUTSIDE)},
    {"table", "JOB [NODE...]", 1, UINT_MAX, CLI_STORE_OWN, cli_table,
     "Print figures of evaluations, a row for each variant",
     "Columns are the parameters given by --param, or those in which the variants of a matrix "
     "differ, and the figures given by --metric, or all figures. A parameter may belong to any "
     "node above the evaluation. Rows are the evaluations that are up to date, or those that "
     "NODE names.\n\n"
     "With --best, only the best row by METRIC (the first of --metric if it is not given): with "
     "--param, the best of all rows that agree in these. Lower losses and errors are better. In "
     "LaTeX the best of each column is bold.",
     "eqloom table jobs/quickstart.yaml --metric mrr --param model.steps\n"
     "eqloom table jobs/quickstart.yaml --best=mrr --format latex",
     OPTIONS({"metric", "NAME", true, "A figure to show: mrr, ranking_error, ..."},
             {"param", "KEY", true, "A parameter to show: KEY, or NODE.KEY for that of one node."},
             {"best", "[=METRIC]", false, "Only the best row, or the best for the same --param."},
             {"format", "FORMAT", false, "text, tsv, jsonl or latex.", 'f'}, SET, TOOL_JSON,
             OUTSIDE)},
    {"why", "JOB NODE | REF", 1, 2, CLI_STORE_OWN, cli_why,
     "Explain why a node ran or a record was made, and what has changed",
     "NODE is a node of JOB. JOB/NODE as the only argument means the job file of the job's last "
     "run. Any other REF, or at least four digits of an id, means a record: which op made it, "
     "from what and when, and whether the job's last run still makes it.",
     "eqloom why jobs/quickstart.yaml egraphs\n"
     "eqloom why quickstart/egraphs\n"
     "eqloom why 3fa9",
     OPTIONS(SET, TOOL_JSON, OUTSIDE)},
    {"show", "REF", 1, 1, CLI_STORE_READ, cli_show,
     "Print a record or the beginning of a collection",
     "REF is a node's output (JOB/NODE, JOB/NODE.ROLE, or NODE if only one job has it), another "
     "name that 'ls' lists, or at least four digits of an id. If REF is ambiguous, its "
     "candidates are listed. With -o, an image is written as a PNG.",
     "eqloom show quickstart/clusters\n"
     "eqloom show 3fa9 --json",
     OPTIONS(TOOL_JSON, LATEX, PREFIX, TOOL_DOT, TOOL_GRAMMAR,
             {"raw", NULL, false, "Write the stored bytes unchanged."},
             {"output", "FILE", false, "Write the image to a PNG file.", 'o'},
             LIMIT("Print at most N elements, list items and table rows; 20 if not given. JSON has "
                   "all elements of a collection, or N of them and their labels."))},
    {"ls", "[PREFIX]", 0, 1, CLI_STORE_READ, cli_ls, "List the names in the store",
     "Outputs of nodes (JOB/NODE), refs of jobs and tags (tag/NAME) that begin with PREFIX, "
     "with kind, id and number of elements. If a name refers to a missing or damaged record, "
     "this is reported, and the exit status is 1.",
     "eqloom ls quickstart/\n"
     "eqloom ls tag/",
     OPTIONS(TOOL_JSON)},
    {"export", "REF", 1, 1, CLI_STORE_READ, cli_export,
     "Write a record or collection for other programs",
     "jsonl: one object per line, one for each element of a collection. tsv: one row for each "
     "item of the element's first list of messages (a cluster's members), with the element's "
     "number and its other plain fields repeated. npy: embeddings as a float32 matrix, with "
     "PATH.jsonl naming the rows. safetensors: the tensors of a checkpoint under PyTorch's "
     "names, with PATH.json for architecture and vocabulary (docs/embed.py loads both). raw: "
     "the bytes of a file, or of a record.\n\n"
     "A file appears whole or not at all. Of a link, name the file that it leads to: none is "
     "followed but the system's own, such as /dev/stdout.",
     "eqloom export quickstart/clusters -o clusters.jsonl\n"
     "eqloom export quickstart/trained-vectors -o vectors.npy\n"
     "eqloom export quickstart/model -o model.safetensors",
     OPTIONS({"format", "FORMAT", false,
              "jsonl, tsv, npy, safetensors or raw; the default is PATH's ending.", 'f'},
             {"output", "PATH", false,
              "The file to write; '-', or no option, is standard output (jsonl, tsv, raw).", 'o'})},
    {"log", "[JOB|RUN]", 0, 1, CLI_STORE_OWN, cli_log,
     "List runs, newest first, or the nodes of one run",
     "JOB is a job's name or its file; RUN is JOB/NUMBER. A run that had nothing to do leaves "
     "no entry. A run that ended without recording its end (a crash, a power cut) is "
     "'killed'.\n\n"
     "For each node of a run: how many of its elements (of a training: segments) were computed "
     "(ran), how many keep their result because a change of their inputs cannot matter (reused; "
     "'why' names the witness), and how many were in the store (cached).",
     "eqloom log quickstart\n"
     "eqloom log quickstart/12",
     OPTIONS(LIMIT("List at most N runs; 20 if not given."), TOOL_JSON)},
    {"lineage", "REF", 1, 1, CLI_STORE_READ, cli_lineage,
     "Show what something was made from, or what was made with it",
     "A tree from REF up to the files, seeds and parameters it was made from; with --down, to "
     "everything in the store that was made with it. From an element, a map is followed element by "
     "element; from a collection, as a whole. A rule leads to the e-graphs in which it matched; an "
     "e-graph goes back to its expression and to the rules that matched. Parameters are shown "
     "where they differ from the op's defaults; '(above)' marks what was shown already.",
     "eqloom lineage quickstart/model\n"
     "eqloom lineage --down quickstart/rules",
     OPTIONS({"down", NULL, false, "What was made with it, instead of what it was made from.", 'd'},
             TOOL_JSON)},
    {"query", "KIND [PROGRAM]", 1, 2, CLI_STORE_READ, cli_query, "Find records by their contents",
     "Lists records of a kind: all, or those that PROGRAM selects. PROGRAM is written in the "
     "language of jq (see jq(1)) and reads a record as 'eqloom show REF --json' prints it: an "
     "object with id, kind, bytes and value, the record's fields. It selects a record if it "
     "yields anything but false and null. What it yields is printed unless it is true; with "
     "--json it is the member 'yields'.\n\n"
     "The options are faster than the same condition in PROGRAM, because they do not read the "
     "records.",
     "eqloom query cluster '.value.members | length > 50' --job quickstart\n"
     "eqloom query cluster '.value.seed.infix | test(\"sin\")'\n"
     "eqloom query checkpoint '.value.metrics[-1].value < 1'\n"
     "eqloom query egraph '.bytes > 1e6' --limit 10\n"
     "eqloom query checkpoint .value.step --op train --since 2026-11-22",
     OPTIONS(LATEX, PREFIX,
             {"job", "JOB", false, "Only records in the current outputs of this job's nodes."},
             {"node", "NODE", false, "Only records in the current outputs of nodes of this name."},
             {"op", "OP", false, "Only records that this op made."},
             {"since", "TIME", false,
              "Only records made at TIME or later, like 2026-11-22 or 2026-11-22T14:30."},
             {"until", "TIME", false, "Only records made before TIME."},
             LIMIT("List at most N records."), TOOL_JSON),
     "0: done. 1: some records were too large for jq. 2: the program is wrong."},
    {"diff", "A B", 2, 2, CLI_STORE_READ, cli_diff, "Show how two records or two runs differ",
     "A and B are REFs as for 'show', of one kind. Collections: elements added (+), removed "
     "(-), and changed (~: the same name, another id) with the fields that differ. Other "
     "records: the fields that differ; values of reports and the last of each metric side by "
     "side, with their difference.\n\n"
     "Or A and B are runs, JOB/NUMBER or the name of a job for its last run: what each node "
     "made, how many elements were added (+) and removed (-), its time, and the parameters and "
     "report values that differ.",
     "eqloom diff tag/v1 quickstart/clusters\n"
     "eqloom diff trained-eval untrained-eval\n"
     "eqloom diff quickstart/1 quickstart/2",
     OPTIONS(LIMIT("List at most N elements each of those added, removed and changed; 20 if not "
                   "given."),
             TOOL_JSON),
     "0: they are the same. 3: they differ."},
    {"tag", "NAME REF", 2, 2, CLI_STORE_WRITE, cli_tag,
     "Name a record, so that it is kept and found",
     "Adds the name tag/NAME to the record that REF names; NAME alone is enough if no node has "
     "that name. Runs never change a tag, and gc keeps it with everything it refers to. 'eqloom "
     "ls tag/' lists tags.",
     "eqloom tag v1 quickstart/model\n"
     "eqloom show tag/v1\n"
     "eqloom tag --force v1 best",
     OPTIONS({"force", NULL, false, "Move a tag that names something else.", 'f'}, WAIT,
             TOOL_JSON)},
    {"untag", "NAME", 1, 1, CLI_STORE_WRITE, cli_untag, "Remove a tag",
     "The record stays in the store until gc finds that nothing else refers to it.",
     "eqloom untag v1", OPTIONS(WAIT, TOOL_JSON)},
    {"gc", "", 0, 0, CLI_STORE_WRITE, cli_gc, "Remove records that nothing refers to any more",
     "Keeps tags and refs, the results of the last runs of each job, and everything that these "
     "refer to.",
     "eqloom gc --dry-run",
     OPTIONS({"dry-run", NULL, false, "Only count.", 'n'},
             {"keep-runs", "N", false,
              "Keep the results of the last N runs of each job; 3 if not given."},
             WAIT, TOOL_JSON)},
    {"fsck", "", 0, 0, CLI_STORE_OWN, cli_fsck, "Check every record of the store",
     "Reads and hashes everything and reports damage. With --repair, damaged records are set "
     "aside, and the names of lost records that no job's last run made are removed and "
     "reported. The names of those that the next run of a job makes again stay, and count as "
     "faults until that run.",
     "eqloom fsck --repair",
     OPTIONS({"repair", NULL, false,
              "Set damaged records aside, so that the next run computes them again."},
             WAIT, TOOL_JSON),
     "0: the store is sound, or --repair has set aside what was damaged. 1: faults were found; "
     "the last line tells whether --repair or the next run repairs them."},
    {"stats", "", 0, 0, CLI_STORE_READ, cli_stats, "Count what the store holds",
     "For each kind of record: their number, their bytes, the bytes they take in the store, and "
     "how many are compressed with a dictionary.",
     "eqloom stats", OPTIONS(TOOL_JSON)},
    {"pack", "REF...", 1, UINT_MAX, CLI_STORE_READ, cli_pack,
     "Write records and everything they refer to into one file",
     "REF is as for 'show'. Refs keep their names.",
     "eqloom pack quickstart/clusters quickstart/model -o quickstart.pack",
     OPTIONS({"output", "FILE", false, "The file to write.", 'o'}, TOOL_JSON)},
    {"unpack", "FILE", 1, 1, CLI_STORE_OWN, cli_unpack,
     "Read the records of a packed file into the store",
     "Every record is verified before it is stored, and records that the store has are skipped: "
     "an interrupted unpack is continued by repeating it. A ref that names another record in "
     "this store is not changed, and neither is a cached result. New cached results are used, but "
     "count as claims until 'run --check' has computed them here. If there is no store, one is "
     "created.",
     "eqloom unpack quickstart.pack", OPTIONS(WAIT, TOOL_JSON)},
    {"backup", "DIR", 1, 1, CLI_STORE_WRITE, cli_backup, "Copy the store as it is now",
     "DIR, which must not exist, becomes a store. On the same file system its tables are hard "
     "links where possible: they take no space, but are lost if the disk is.",
     "eqloom backup /mnt/backup/eqloom-2026-11-22", OPTIONS(WAIT)},
    {"compact", "", 0, 0, CLI_STORE_WRITE, cli_compact, "Make the store smaller",
     "Recompresses records at a high level, with new dictionaries, and frees the space of "
     "records that gc removed. Prints the size before and after.",
     "eqloom compact", OPTIONS(WAIT, TOOL_JSON)},
    {"ops", "[OP]", 0, 1, CLI_STORE_OWN, cli_ops, "List the ops that nodes may use",
     "With OP, describes its inputs, outputs and parameters.",
     "eqloom ops\n"
     "eqloom ops saturate",
     OPTIONS({"markdown", NULL, false, "The reference, as in docs/ops.md."})},
    {"serve", "", 0, 0, CLI_STORE_OWN, cli_serve,
     "Search, explanations, runs and records in a browser",
     "Prints an address and serves pages there until Ctrl-C: search while typing, explanations, "
     "the graph of a job with its stale nodes, the progress of runs, records and their lineage. "
     "A page shows the output of commands, which it lists.\n\n"
     "Only this machine can connect, unless --address is given, and everybody who can connect "
     "can read the whole store. Nothing can be changed. Requests must name localhost or a "
     "numeric address, and requests from pages of other sites are refused. A command for a page "
     "takes at most 30 seconds, and its memory is bounded.",
     "eqloom serve --port 0",
     OPTIONS({"port", "N", false, "The port; 8421 if not given, 0 chooses a free one.", 'p'},
             {"address", "ADDRESS", false,
              "A numeric address of this machine; 127.0.0.1 if not given."},
             {"operators", "FILE", true, "A file of user-defined operators (docs/operators.md)."})},
    {"init", "[DIR]", 0, 1, CLI_STORE_OWN, cli_init, "Write a small job to start from",
     "Writes job.yaml, a rule file, a template file and the schema of job files into DIR, or "
     "the current directory. Existing files are not replaced.",
     "eqloom init my-job\neqloom run my-job/job.yaml", NULL},
    {"work", "JOB NODE", 2, 2, CLI_STORE_OWN, cli_work,
     "Compute a block of a node for a run on a cluster",
     "For the jobs that 'eqloom run --on slurm' submits, not for use by hand. The block's "
     "inputs and its result are packs in FOLDER.",
     NULL,
     OPTIONS({"folder", "FOLDER", false, "The node's folder in the spool."},
             {"batch", "N", false, "The batch; $SLURM_ARRAY_TASK_ID is the block's number in it."},
             {"jobs", "N", false, "Use N threads; else $SLURM_CPUS_PER_TASK, or one.", 'j'}, SET,
             OUTSIDE)},
    {"schema", "[jobs|templates]", 0, 1, CLI_STORE_OWN, cli_schema,
     "Print the JSON Schema of job files or template files, for editors",
     "Editors with the YAML language server find the schema by the first line of a file: '# "
     "yaml-language-server: $schema=eqloom.schema.json'. The schemas are also kept in jobs/; "
     "that of job files is generated from the table of ops.",
     "eqloom schema > eqloom.schema.json\n"
     "eqloom schema templates > templates.schema.json",
     NULL},
};

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
                                              .summary = t->summary,
                                              .help = t->help,
                                              .example = t->example,
                                              .exit_codes = t->exit_codes,
                                              .options = t->options,
                                              .run = cli_tool,
                                              .tool = t};
    }
    *n = n_own + n_tools;
    return all;
}
