/* YAML trees: shapes, positions, and every refusal. */
#include "base/text/yaml.h"
#include "tests/unit.h"

/* What was parsed last. */
static struct arena arena;
static struct source_text source;
static struct err err;

static enum err_code parse(const struct yaml_node **out, const char *text)
{
    source = (struct source_text){"test.yaml", text, strlen(text)};
    err_clear(&err);
    arena_reset(&arena);
    return yaml_parse(out, &arena, &source, &err);
}

static const struct yaml_node *parse_ok(const char *text)
{
    const struct yaml_node *root = NULL;
    if (parse(&root, text))
        fail_msg("%s", err.message);
    return root;
}

static void assert_refused(const char *text, int line, int column, const char *message)
{
    const struct yaml_node *root;
    assert_int_not_equal(parse(&root, text), OK);
    assert_null(root);
    if (!strstr(err.message, message) || err.line != line || err.column != column)
        fail_msg("%d:%d: %s (expected %d:%d %s)", err.line, err.column, err.message, line, column,
                 message);
}

TEST(shapes)
{
    const struct yaml_node *root =
        parse_ok("# a job\na: 1\nb: [x, 'y z', \"q\\n\"]\nc:\n  d: |\n    two\n    lines\n  e:\n");
    assert_int_equal(root->type, YAML_MAPPING);
    assert_int_equal(root->n, 3);
    assert_int_equal(root->offset, 8);
    const struct yaml_node *b = yaml_get(root, "b");
    assert_int_equal(b->type, YAML_SEQUENCE);
    assert_int_equal(b->n, 3);
    assert_string_equal(b->items[1]->text, "y z");
    assert_int_equal(b->items[1]->style, YAML_QUOTED);
    assert_string_equal(b->items[2]->text, "q\n");
    assert_int_equal(strncmp(source.text + b->items[0]->offset, "x,", 2), 0);
    const struct yaml_node *c = yaml_get(root, "c");
    assert_int_equal(source.text[b->items[1]->offset], '\'');
    assert_string_equal(yaml_get(c, "d")->text, "two\nlines\n");
    assert_int_equal(yaml_get(c, "d")->style, YAML_BLOCK);
    assert_true(yaml_is_null(yaml_get(c, "e")));
    assert_int_equal(source.text[yaml_get(c, "e")->offset], 'e');
    assert_false(yaml_is_null(yaml_get(root, "a")));
    assert_null(yaml_get(root, "z"));
}

TEST(offsets_after_wide_characters)
{
    const struct yaml_node *root = parse_ok("\"\xc3\xa4\xe2\x82\xac\": \xf0\x9f\x98\x80\nkey: v\n");
    assert_string_equal(root->pairs[0].key->text, "\xc3\xa4\xe2\x82\xac");
    assert_int_equal(strncmp(source.text + root->pairs[1].key->offset, "key", 3), 0);
    assert_int_equal(strncmp(source.text + root->pairs[0].value->offset, "\xf0\x9f", 2), 0);
}

/* A parameter of a job is a plain scalar, but not within {} and []. */
TEST(placeholders)
{
    const struct yaml_node *root = parse_ok("a: {n: \"x${y}z\"}\nb: ${c}/d\n# ${no\n");
    assert_string_equal(yaml_get(yaml_get(root, "a"), "n")->text, "x${y}z");
    assert_string_equal(yaml_get(root, "b")->text, "${c}/d");
    assert_int_equal(parse(&root, "a: {seed: ${seed}}"), ERR_INPUT);
    assert_non_null(strstr(err.hint, "\"${name}\""));
}

TEST(empty)
{
    assert_null(parse_ok(""));
    assert_null(parse_ok("\xef\xbb\xbf"));
    assert_null(parse_ok("# nothing\n"));
}

TEST(refusals)
{
    assert_refused("a: 1\nb: 2\na: 3\n", 3, 1, "'a' occurs twice");
    assert_refused("a: !!int 1\n", 1, 4, "tags");
    assert_refused("a: ! 1\n", 1, 4, "tags");
    assert_refused("a: !x [1]\n", 1, 4, "tags");
    assert_refused("a: &x {k: 1}\nb: *x\n", 1, 4, "anchors");
    assert_refused("&x a: 1\n", 1, 1, "anchors");
    assert_refused("b: *x\n", 1, 4, "aliases ('*...') are not supported");
    assert_refused("[a]: 1\n", 1, 1, "key must be");
    assert_refused("<<: 1\n", 1, 1, "merge keys");
    assert_refused("a: 1\n---\nb: 2\n", 2, 1, "second document");
    assert_refused("a: \"\\0\"\n", 1, 4, "NUL");
    assert_refused("a: \xff\n", 1, 4, "not UTF-8");
    assert_refused("a: b: c\n", 1, 5, "YAML: mapping values are not allowed in this context");
    assert_refused("a:\n  b: 1\n c: 2\n", 3, 2, "YAML: did not find expected key");
    assert_refused("a: [1, 2}\n", 1, 9, "expected ',' or ']' while parsing a flow sequence");
    assert_refused("a: [1, 2\nb: 3\n", 2, 2, "a flow sequence that begins in line 1");
    assert_refused("a: @b\n", 1, 4, "YAML:");
    assert_refused("a: \"\\q\"\n", 1, 5, "unknown escape character");
    assert_refused("a: x\x01\n", 1, 5, "control character");
    assert_refused("? ::\t:", 1, 6, "YAML:");
    /* After wide characters and a byte order mark, too. */
    assert_refused("\xc3\xa4: \xf0\x9f\x98\x80\x01\n", 1, 5, "control character");
    assert_refused("\xef\xbb\xbf\xc3\xa4: b: c\n", 1, 6, "mapping values");
    /* What is not closed is shown where it begins. */
    assert_refused("x: 1\na: [1,\n 2\n", 2, 4, "YAML:");
    assert_refused("a: 'open\nb: 2\n", 1, 4, "unexpected end of stream");
    assert_refused("a:\n\tb: 1\n", 2, 1, "indent by spaces");
    /* Readers of YAML differ here. */
    assert_refused("a: 'b'#c\n", 1, 7, "a comment begins after a space");
    assert_refused("a: [b]#c\n", 1, 7, "a comment begins after a space");
    assert_refused("a: b\xe2\x80\xa8 c\n", 1, 5, "a line separator of Unicode");
    assert_refused("a: b\xc2\x85\n", 1, 5, "a line separator of Unicode");
}

/* Texts that span lines, in each of YAML's ways. */
TEST(lines)
{
    const struct yaml_node *root =
        parse_ok("plain: one\n  two\n\n  three\nliteral: |-\n    a\n      b\n\n    c\n"
                 "folded: >\n  a\n  b\n\n  c\nkept: |+\n  a\n\nsingle: 'a\n  b ''c'''\r\n"
                 "double: \"a \\\n  b\\tc\\u00e4\\N\"\nurl: http://x:1/#y\n");
    assert_string_equal(yaml_get(root, "plain")->text, "one two\nthree");
    assert_string_equal(yaml_get(root, "literal")->text, "a\n  b\n\nc");
    assert_string_equal(yaml_get(root, "folded")->text, "a b\nc\n");
    assert_string_equal(yaml_get(root, "kept")->text, "a\n\n");
    assert_string_equal(yaml_get(root, "single")->text, "a b 'c'");
    assert_string_equal(yaml_get(root, "double")->text, "a b\tc\xc3\xa4\xc2\x85");
    assert_string_equal(yaml_get(root, "url")->text, "http://x:1/#y");
    assert_int_equal(source.text[yaml_get(root, "literal")->offset], '|');
    assert_int_equal(source.text[yaml_get(root, "folded")->offset], '>');
    assert_int_equal(source.text[yaml_get(root, "double")->offset], '"');
}

/* A list's omitted item has no key to point at. */
TEST(omitted)
{
    const struct yaml_node *root = parse_ok("a:\nb:\n-\n- x\n");
    assert_true(yaml_is_null(yaml_get(root, "a")));
    assert_true(yaml_is_null(yaml_get(root, "b")->items[0]));
    assert_int_equal(yaml_get(root, "b")->items[0]->offset, 7);
}

TEST(bounds)
{
    const struct yaml_node *root;
    char deep[2 * YAML_MAX_DEPTH + 8] = "";
    memset(deep, '[', YAML_MAX_DEPTH + 1);
    memset(deep + YAML_MAX_DEPTH + 1, ']', YAML_MAX_DEPTH + 1);
    assert_int_equal(parse(&root, deep), ERR_INPUT);
    assert_int_equal(err.column, YAML_MAX_DEPTH + 1);
    char *many = malloc(2 * YAML_MAX_NODES + 3);
    for (size_t i = 0; i <= YAML_MAX_NODES; i++)
        memcpy(many + 2 * i, i ? "1," : "[ ", 3);
    assert_int_equal(parse(&root, many), ERR_INPUT);
    assert_true(err.line == 1 && err.column > YAML_MAX_NODES);
    free(many);
}

TEST(expectations)
{
    const struct yaml_node *root = parse_ok("files: 1\nfils: 2\n");
    static const char *const names[] = {"files", "op"};
    assert_int_equal(yaml_only_keys(root, names, 2, "a node", &err), ERR_INPUT);
    assert_string_equal(err.message, "unknown key 'fils' in a node");
    assert_string_equal(err.hint, "did you mean 'files'?");
    assert_int_equal(err.line, 2);
    assert_int_equal(yaml_expect(yaml_get(root, "files"), YAML_SEQUENCE, "files", &err), ERR_INPUT);
    assert_string_equal(err.message, "files must be a list, not a value");
}
