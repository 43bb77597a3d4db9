/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bash completion, written from the same tables as --help. Words are plain (letters, digits,
 * "-", "_", "."), so they need no quoting. Bash breaks words at "=", which is why the value
 * in "--set key=value" is found by looking two words back.
 */
#include "verbs.h"

#include <stdio.h>
#include <string.h>

static void put_flags(const cli_verb *verb)
{
    fputs("--help", stdout);
    if (verb->repeated)
        printf(" --%s", verb->repeated->key);
    if (verb->also_repeated)
        printf(" --%s", verb->also_repeated->key);
    for (size_t i = 0; i < verb->flags->count; i++) {
        if (verb->flags->options[i].help)
            printf(" --%s", verb->flags->options[i].key);
    }
    for (size_t i = 0; verb->words && verb->words[i]; i++)
        printf(" %s", verb->words[i]);
}

static void put_verbs(void)
{
    for (size_t i = 0; cli_verbs[i]; i++)
        printf("%s%s", i ? " " : "", cli_verbs[i]->name);
}

/* Calls `each` for every key that a configuration can have. */
static void each_key(void (*each)(const tacit_section *, const tacit_option *))
{
    for (size_t s = 0; s < tacit_experiment_section_count; s++) {
        for (size_t i = 0; i < tacit_experiment_sections[s]->count; i++)
            each(tacit_experiment_sections[s], &tacit_experiment_sections[s]->options[i]);
    }
    for (size_t p = 0; tacit_protocols[p]; p++) {
        for (size_t i = 0; i < tacit_protocols[p]->options.count; i++)
            each(&tacit_protocols[p]->options, &tacit_protocols[p]->options.options[i]);
    }
}

static void put_key(const tacit_section *section, const tacit_option *option)
{
    printf(" %s.%s=", section->name, option->key);
}

static void put_choices(const tacit_section *section, const tacit_option *option)
{
    if (option->type != TACIT_OPT_CHOICE && option->type != TACIT_OPT_BOOL)
        return;
    printf("        %s.%s) words='", section->name, option->key);
    if (option->type == TACIT_OPT_BOOL)
        fputs("true false", stdout);
    for (size_t i = 0; option->type == TACIT_OPT_CHOICE && option->choices[i]; i++)
        printf("%s%s", i ? " " : "", option->choices[i]);
    puts("' ;;");
}

static void put_protocol_names(void)
{
    fputs("        protocol.name) words='", stdout);
    for (size_t i = 0; tacit_protocols[i]; i++)
        printf("%s%s", i ? " " : "", tacit_protocols[i]->name);
    puts("' ;;");
}

/* What follows a flag that takes a value: nothing to offer unless it is a folder or a file. */
static void put_flag_values(const cli_verb *verb)
{
    for (size_t i = 0; i < verb->flags->count; i++) {
        const tacit_option *option = &verb->flags->options[i];
        if (!option->help || option->type == TACIT_OPT_BOOL)
            continue;
        const char *value = option->value_name ? option->value_name : "";
        const char *offer = strcmp(value, "DIR") == 0    ? "-d"
                            : strcmp(value, "FILE") == 0 ? "-f"
                                                         : "";
        printf("    %s:--%s", verb->name, option->key);
        if (option->letter)
            printf("|%s:-%c", verb->name, option->letter);
        if (*offer)
            printf(") mapfile -t COMPREPLY < <(compgen %s -- \"$cur\"); return ;;\n", offer);
        else
            puts(") return ;;");
    }
}

/* "    run:--set|run:-s|sweep:--vary": behind these comes a key. */
static void put_key_flags(void)
{
    const char *before = "    ";
    for (size_t i = 0; cli_verbs[i]; i++) {
        const cli_verb *verb = cli_verbs[i];
        const tacit_option *flags[] = {verb->repeated, verb->also_repeated};
        for (size_t k = 0; k < 2; k++) {
            if (!flags[k])
                continue;
            printf("%s%s:--%s", before, verb->name, flags[k]->key);
            before = "|";
            if (flags[k]->letter)
                printf("|%s:-%c", verb->name, flags[k]->letter);
        }
    }
}

void cli_print_completion(void)
{
    puts("# bash completion for tacit; made by: tacit help --completion bash");
    puts("_tacit_set()\n{\n    local key=$1 cur=$2 words=''");
    puts("    case $key in");
    put_protocol_names();
    each_key(put_choices);
    puts("    esac");
    puts("    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n}\n");
    puts("_tacit()\n{\n    local cur=${COMP_WORDS[COMP_CWORD]} prev='' before='' verb='' words=''");
    puts("    COMPREPLY=()");
    puts("    if [ \"$COMP_CWORD\" -ge 1 ]; then prev=${COMP_WORDS[COMP_CWORD-1]}; fi");
    puts("    if [ \"$COMP_CWORD\" -ge 2 ]; then before=${COMP_WORDS[COMP_CWORD-2]}; "
         "verb=${COMP_WORDS[1]}; fi");
    fputs("    if [ \"$COMP_CWORD\" -le 1 ]; then\n        mapfile -t COMPREPLY < <(compgen -W '",
          stdout);
    put_verbs();
    puts(" --help --version' -- \"$cur\")\n        return\n    fi");
    puts("    if [ \"$cur\" = = ]; then _tacit_set \"$prev\" ''; return; fi");
    puts("    if [ \"$prev\" = = ]; then _tacit_set \"$before\" \"$cur\"; return; fi");
    puts("    case $verb:$prev in");
    put_key_flags();
    fputs(") compopt -o nospace; mapfile -t COMPREPLY < <(compgen -W '", stdout);
    each_key(put_key);
    puts("' -- \"$cur\"); return ;;");
    for (size_t i = 0; cli_verbs[i]; i++)
        put_flag_values(cli_verbs[i]);
    puts("    esac\n    case $verb in");
    for (size_t i = 0; cli_verbs[i]; i++) {
        printf("    %s) words='", cli_verbs[i]->name);
        put_flags(cli_verbs[i]);
        puts("' ;;");
    }
    puts("    esac");
    fputs("    if [ \"$verb\" = help ]; then words=\"$words ", stdout);
    put_verbs();
    puts(" protocols\"; fi");
    puts("    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")");
    puts("    if [[ \" run sweep \" = *\" $verb \"* && $cur != -* ]]; then\n"
         "        compopt -o filenames\n"
         "        mapfile -t COMPREPLY < <(compgen -f -X '!*.yaml' -- \"$cur\"; "
         "compgen -d -- \"$cur\")\n    fi\n}\ncomplete -F _tacit tacit");
}
