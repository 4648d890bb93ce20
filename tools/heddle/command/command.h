/*
 * command.h: the commands of the tool and what they take, in tables. The parser goes by these tables, and the help,
 * the manual pages and the completions are printed from them, so that none of them says anything else.
 *
 *   read.c      reads arguments by a command's table; readers for numbers, words and texts
 *   help.c      a command's help
 *   man.c       its manual page
 *   complete.c  completions for bash and zsh
 *   text.c      paragraphs in lines; the words of an option in a sentence
 *
 * The tables stand beside what they are for: bench/subjects.c, shelf/options.c and so on. commands.c lists them.
 */
#ifndef TOOL_COMMAND_H
#define TOOL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A word that an option takes, and what it means. */
typedef struct tool_word {
    const char *name, *text;
} tool_word;

/*
 * An option, or an argument that has a place: then `name` does not begin with '-'. Either `words` or `explained` may
 * say all that it takes; capitals in a word stand for anything, as in "zipf:S".
 */
typedef struct tool_option {
    const char *name;  /* "--keys" */
    const char *value; /* "LIST" may have commas; FILE and DIR are completed; NULL: a switch */
    const char *words; /* "32 64" */
    const tool_word *explained; /* the last one has no name */
    const char *usual; /* what holds when it is not given; an argument without it is needed */
    const char *wants; /* what it takes, where there are no words: "counts from 1 to 2^40" */
    const char *text;  /* what it is for; NULL: an older name, which help leaves out */
    /* False when the text is no value for it. A switch has the text "". */
    bool (*read)(void *to, const struct tool_option *option, const char *text);
    size_t at;       /* where the reader puts the value: an offset, or what it likes */
    uint32_t first;  /* of option_word: the number of the first word */
    uint32_t takers; /* bits of those commands of a family that take it; 0: all */
    bool joined;     /* its value only comes behind '=', and may be left out */
} tool_option;

typedef struct tool_command {
    const char *name;    /* "bench map" */
    const char *summary; /* a line */
    const char *
        text; /* paragraphs with empty lines between; lines that begin with a blank stay as they are */
    const tool_option *options;
    uint32_t option_count;
    uint32_t bit;      /* in tool_option.takers */
    const char *after; /* paragraphs behind the options */
    const char *examples;
    /* Returns an exit status; argv[0] is the last word of the name. NULL: a head of other commands. */
    int (*run)(const struct tool_command *command, int argc, char **argv);
} tool_command;

/* commands.c; the first one is the tool itself, the last one is NULL. */
extern const tool_command *const tool_commands[];
/* main.c: the command that the arguments name, and how many of them its name takes up. */
const tool_command *command_find(int argc, char **argv, int *words);

/* ------------------------------------------------------------------------------------------ read.c */

/* Reads the arguments by the command's table into `to`. TOOL_OK, or TOOL_REFUSED when it has said why. */
int command_read(const tool_command *command, int argc, char **argv, void *to);

bool option_text(void *to, const tool_option *option, const char *text); /* const char * */
bool option_word(void *to, const tool_option *option,
                 const char *text); /* uint32_t: which word, from `first` on */
bool option_bits(void *to, const tool_option *option,
                 const char *text); /* uint32_t: a number among the words */
bool option_count(void *to, const tool_option *option,
                  const char *text); /* uint64_t: "16M", from `first` on */
bool option_number(void *to, const tool_option *option,
                   const char *text); /* uint64_t: digits, from `first` on */
bool option_true(void *to, const tool_option *option, const char *text);  /* bool, of a switch */
bool option_false(void *to, const tool_option *option, const char *text); /* bool, of a switch */

/* Whether a command takes an option of its table, and whether help shows it. */
bool command_takes(const tool_command *command, const tool_option *option);
bool command_shows(const tool_command *command, const tool_option *option);
bool option_is_argument(const tool_option *option);
/* Whether a command is one of those whose names begin with that of `head`. */
bool command_is_under(const tool_command *command, const tool_command *head);

/* ------------------------------------------------------------------------------------------ text.c */

/* Prints paragraphs in lines of `width` columns behind `margin` blanks; the first line has `column` columns already. */
void text_print(FILE *to, const char *text, int column, int margin, int width);
/* The words of an option, with something between them; an empty text where it takes anything. */
#define TOOL_WORDS_MAX 512
void option_words(const tool_option *option, const char *between, char words[TOOL_WORDS_MAX]);
/* What it is for, what it takes and what holds else: "the scheme: auto, cuckoo [auto]". */
#define TOOL_SENTENCE_MAX 1024
void option_sentence(const tool_option *option, char sentence[TOOL_SENTENCE_MAX]);

/* -------------------------------------------------------------------------- help.c, man.c, complete.c */

#define TOOL_EXIT_STATUS                                                                           \
    "Exit status: 0 done and verified, 1 failed or a wrong answer, 2 the request makes no sense, " \
    "or its device is not there."

void command_help(const tool_command *command, FILE *to);
/* "[options] DIRECTORY": what stands behind the name. */
void command_synopsis(const tool_command *command, char *synopsis, size_t size);
/* A manual page, as man reads it. */
void command_manual(const tool_command *command, FILE *to);
void complete_bash(FILE *to);
void complete_zsh(FILE *to);

#endif
