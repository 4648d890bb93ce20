/* complete.c: completions for bash and zsh, from the tables; see command.h. */
#include <string.h>

#include "command/command.h"

/* The words that complete something: capitals stand for anything, so they end a word. */
static void print_words(const tool_option *option, FILE *to)
{
    char words[TOOL_WORDS_MAX];
    option_words(option, " ", words);
    for (const char *at = words; *at != 0;) {
        const size_t length = strcspn(at, " ");
        const size_t fixed = strcspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ ");
        (void)fprintf(to, "%s%.*s", at != words ? " " : "", (int)(fixed < length ? fixed : length),
                      at);
        at += length + (at[length] == ' ');
    }
}

static bool completes_files(const tool_option *option)
{
    return option->value != NULL && strcmp(option->value, "FILE") == 0;
}

static bool completes_folders(const tool_option *option)
{
    return (option->value != NULL && strcmp(option->value, "DIR") == 0) ||
           strcmp(option->name, "DIRECTORY") == 0;
}

/* Whether a folder is among its arguments. */
static bool takes_folder(const tool_command *command)
{
    for (uint32_t i = 0; i < command->option_count; i++)
        if (option_is_argument(&command->options[i]) && completes_folders(&command->options[i]))
            return true;
    return false;
}

static bool has_words(const tool_option *option)
{
    return option->words != NULL || option->explained != NULL;
}

/* What may follow a name: the commands under it, or its options. */
static void print_followers(const tool_command *command, FILE *to)
{
    const char *space = "";
    for (const tool_command *const *at = tool_commands; *at != NULL && command->run == NULL; at++) {
        const bool below = command->name[0] == 0 ? strchr((*at)->name, ' ') == NULL
                                                 : command_is_under(*at, command);
        if (!below || (*at)->name[0] == 0) continue;
        const char *last = strrchr((*at)->name, ' ');
        (void)fprintf(to, "%s%s", space, last != NULL ? last + 1 : (*at)->name);
        space = " ";
    }
    for (uint32_t i = 0; i < command->option_count; i++) {
        const tool_option *option = &command->options[i];
        if (!command_shows(command, option)) continue;
        if (!option_is_argument(option)) (void)fprintf(to, "%s%s", space, option->name);
        else if (has_words(option)) {
            (void)fputs(space, to);
            print_words(option, to);
        } else continue;
        space = " ";
    }
    if (command->name[0] != 0) (void)fprintf(to, "%s--help", space);
}

/* The text; in place of @HEADS the names that commands may follow: "", "bench", "shelf". */
static void print_with_heads(const char *text, FILE *to)
{
    const char *at = strstr(text, "@HEADS");
    bool any = false;
    (void)fprintf(to, "%.*s", (int)(at - text), text);
    for (const tool_command *const *head = tool_commands; *head != NULL; head++) {
        if ((*head)->run != NULL) continue;
        (void)fprintf(to, "%s%s", any ? "|" : "", (*head)->name);
        any = true;
    }
    (void)fputs(at + strlen("@HEADS"), to);
}

static void print_bash_option(const tool_command *command, const tool_option *option, FILE *to)
{
    if (!command_takes(command, option) || option_is_argument(option)) return;
    if (option->value == NULL) return;
    (void)fprintf(to, "        \"%s %s\") ", command->name, option->name);
    if (has_words(option)) {
        (void)fputs("words=\"", to);
        print_words(option, to);
        (void)fprintf(to, "\"%s ;;\n", strcmp(option->value, "LIST") == 0 ? " list=1" : "");
    } else
        (void)fprintf(to, "kind=%s ;;\n",
                      completes_files(option)     ? "files"
                      : completes_folders(option) ? "folders"
                                                  : "any");
}

static const char bash_start[] =
    "# Completion of heddle for bash: made by 'heddle help --completion bash'.\n"
    "_heddle()\n"
    "{\n"
    "    local line=${COMP_LINE:0:COMP_POINT} words=\"\" kind=\"\" list=\"\" command=\"\" "
    "help=\"\" cur prev part\n"
    "    local -a given\n"
    "    read -ra given <<< \"$line\"\n"
    "    [[ $line != *[[:space:]] ]] || given+=(\"\")\n"
    "    cur=${given[-1]} prev=${given[-2]}\n"
    "    if [[ $cur == --*=* ]]; then prev=${cur%%=*} cur=${cur#*=}; fi\n"
    "    # What help is asked on is completed as it would be without help.\n"
    "    if [[ ${given[1]} == help && ${#given[@]} -gt 2 && ${given[2]} != -* ]]; then\n"
    "        help=1 given=(\"${given[0]}\" \"${given[@]:2}\")\n"
    "    fi\n"
    "    for part in \"${given[@]:1:2}\"; do\n"
    "        case \"${command:+$command }$part\" in\n";

static const char bash_middle[] = "                command=\"${command:+$command }$part\" ;;\n"
                                  "            *) break ;;\n"
                                  "        esac\n"
                                  "    done\n"
                                  "    case \"$command $prev\" in\n";

static const char bash_end[] =
    "        esac\n"
    "    fi\n"
    "    [[ -z $help ]] || kind=\"\"\n"
    "    [[ -z $help || $command == @(@HEADS) ]] || words=\"\"\n"
    "    case $kind in\n"
    "        files) mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
    "        folders) mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
    "        any) COMPREPLY=() ;;\n"
    "        *)\n"
    "            part=\"\"\n"
    "            [[ -z $list || $cur != *,* ]] || part=${cur%,*},\n"
    "            mapfile -t COMPREPLY < <(compgen -P \"$part\" -W \"$words\" -- "
    "\"${cur#\"$part\"}\") ;;\n"
    "    esac\n"
    "    # Readline ends the word to be replaced at a colon and at an equals sign.\n"
    "    part=${cur%\"${cur##*[:=]}\"}\n"
    "    [[ -z $part ]] || COMPREPLY=(\"${COMPREPLY[@]#\"$part\"}\")\n"
    "    [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *: ]] || compopt -o nospace 2> /dev/null\n"
    "    [[ $kind != files && $kind != folders ]] || compopt -o filenames 2> /dev/null\n"
    "    return 0\n"
    "}\n"
    "complete -F _heddle heddle\n";

void complete_bash(FILE *to)
{
    const char *bar = "            ";
    (void)fputs(bash_start, to);
    for (const tool_command *const *at = tool_commands; *at != NULL; at++) {
        if ((*at)->name[0] == 0) continue;
        (void)fprintf(to, "%s\"%s\"", bar, (*at)->name);
        bar = " | \\\n            ";
    }
    (void)fputs(")\n", to);
    (void)fputs(bash_middle, to);
    for (const tool_command *const *at = tool_commands; *at != NULL; at++)
        for (uint32_t i = 0; i < (*at)->option_count; i++)
            print_bash_option(*at, &(*at)->options[i], to);
    (void)fputs("    esac\n"
                "    if [[ -z $words && -z $kind ]]; then\n"
                "        case \"$command\" in\n",
                to);
    for (const tool_command *const *at = tool_commands; *at != NULL; at++) {
        (void)fprintf(to, "            \"%s\") words=\"", (*at)->name);
        print_followers(*at, to);
        (void)fputs("\" ", to);
        if (takes_folder(*at)) (void)fputs("; [[ $cur == -* ]] || kind=folders ", to);
        (void)fputs(";;\n", to);
    }
    print_with_heads(bash_end, to);
}

/* -------------------------------------------------------------------------------------------- zsh */

/* Text inside '...[...]' of _arguments. */
static void print_zsh_text(const char *text, FILE *to)
{
    for (; *text != 0; text++) {
        if (*text == '\'') (void)fputs("'\\''", to);
        else if (*text == '[' || *text == ']' || *text == ':' || *text == '\\')
            (void)fprintf(to, "\\%c", *text);
        else (void)fputc(*text, to);
    }
}

static void print_zsh_value(const tool_option *option, FILE *to)
{
    if (completes_files(option)) (void)fputs("_files", to);
    else if (completes_folders(option)) (void)fputs("_files -/", to);
    else if (!has_words(option)) (void)fputc(' ', to);
    else if (option->value != NULL && strcmp(option->value, "LIST") == 0) {
        (void)fputs("_sequence compadd -S \"\" - ", to);
        print_words(option, to);
    } else {
        (void)fputs("(", to);
        print_words(option, to);
        (void)fputs(")", to);
    }
}

static void print_zsh_option(const tool_option *option, FILE *to)
{
    if (option_is_argument(option)) {
        (void)fprintf(to, " \\\n        '%s:%s:", option->usual != NULL ? ":" : "", option->name);
        print_zsh_value(option, to);
        (void)fputc('\'', to);
        return;
    }
    (void)fprintf(to, " \\\n        '%s%s[", option->name,
                  option->value == NULL ? ""
                  : option->joined      ? "=-"
                                        : "=");
    print_zsh_text(option->text, to);
    (void)fputc(']', to);
    if (option->value != NULL) {
        (void)fprintf(to, "%s:%s:", option->joined ? ":" : "", option->value);
        print_zsh_value(option, to);
    }
    (void)fputc('\'', to);
}

static void print_zsh_name(const char *name, FILE *to)
{
    (void)fputs("_heddle", to);
    if (*name != 0) (void)fputc('_', to);
    for (; *name != 0; name++) (void)fputc(*name == ' ' ? '_' : *name, to);
}

/* What help is asked on is completed as it would be without help, except for options. */
static const char zsh_help[] =
    "    if (( CURRENT > 2 )) && [[ $words[2] == help && $words[3] != -* ]]; then\n"
    "        words=($words[1] ${words[3,-1]})\n"
    "        (( CURRENT-- ))\n"
    "        (( CURRENT == 2 )) || [[ $words[2] == (@HEADS) && CURRENT -eq 3 ]] || return\n"
    "    fi\n";

/* The options of a command; of a head, its commands first. */
static void print_zsh_command(const tool_command *command, FILE *to)
{
    print_zsh_name(command->name, to);
    (void)fputs("()\n{\n", to);
    if (command->name[0] == 0) print_with_heads(zsh_help, to);
    if (command->run == NULL) {
        (void)fputs("    local -a commands=(\n", to);
        for (const tool_command *const *at = tool_commands; *at != NULL; at++) {
            const bool below = command->name[0] == 0 ? strchr((*at)->name, ' ') == NULL
                                                     : command_is_under(*at, command);
            const char *last = strrchr((*at)->name, ' ');
            if (!below || (*at)->name[0] == 0) continue;
            (void)fprintf(to, "        '%s:", last != NULL ? last + 1 : (*at)->name);
            print_zsh_text((*at)->summary, to);
            (void)fputs("'\n", to);
        }
        (void)fputs("    )\n"
                    "    if (( CURRENT == 2 )); then\n"
                    "        _describe command commands\n"
                    "        return\n"
                    "    fi\n"
                    "    local name=$words[2]\n"
                    "    shift words\n"
                    "    (( CURRENT-- ))\n    (( $+functions[",
                    to);
        print_zsh_name(command->name, to);
        (void)fputs("_$name] )) && ", to);
        print_zsh_name(command->name, to);
        (void)fputs("_$name\n}\n", to);
        return;
    }
    (void)fputs("    _arguments '--help[says what it takes]'", to);
    for (uint32_t i = 0; i < command->option_count; i++)
        if (command_shows(command, &command->options[i]))
            print_zsh_option(&command->options[i], to);
    (void)fputs("\n}\n", to);
}

void complete_zsh(FILE *to)
{
    (void)fputs("#compdef heddle\n"
                "# Completion of heddle for zsh: made by 'heddle help --completion zsh'.\n",
                to);
    for (const tool_command *const *at = tool_commands; *at != NULL; at++)
        print_zsh_command(*at, to);
    (void)fputs("_heddle \"$@\"\n", to);
}
