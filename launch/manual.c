/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec -man NAME: shows a page of the manual that lies beside this program, bin/../share/man.
 *
 * man(1) shows it where it is installed. Otherwise the page is printed as plain text; that needs only the few requests
 * and escapes of roff that tools/manual/roff.py writes. */
#include "launch/manual.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "launch/alloc.h"
#include "launch/say.h"
#include "launch/wrap.h"

#define WIDTH  80
#define MARGIN 4
#define INDENT 12 /* of what terms mean */

/* The directory of pages; "" if this program cannot find itself. */
static const char *manual_folder(void)
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    if (length < 0)
        return "";
    program[length] = '\0';
    for (int i = 0; i < 2; i++)
        if (strrchr(program, '/'))
            *strrchr(program, '/') = '\0';
    return mur_alloc_text("%s/%s", program, MUR_MANUAL);
}

/* The page's name as its file has it, whatever capitals the user wrote; NULL: it is not in this section. */
static char *find_page(const char *folder, char section, const char *name)
{
    DIR *directory = opendir(mur_alloc_text("%s/man%c", folder, section));
    char *found = NULL;

    for (struct dirent *entry; directory && !found && (entry = readdir(directory));) {
        char *dot = strrchr(entry->d_name, '.');

        if (dot && strcmp(dot, ".gz") == 0) {
            *dot = '\0';
            dot = strrchr(entry->d_name, '.');
        }
        if (dot && dot[1] == section && (size_t)(dot - entry->d_name) == strlen(name) &&
            strncasecmp(entry->d_name, name, strlen(name)) == 0)
            found = mur_alloc_text("%.*s", (int)(dot - entry->d_name), entry->d_name);
    }
    if (directory)
        closedir(directory);
    return found;
}

/* Replaces the escapes of a line, in place: \fB and the like vanish, \(aq and the like become a character. */
static void plain(char *line)
{
    static const char *const names[] = {"aq'", "ga`", "ha^", "ti~"};
    char *to = line;

    for (const char *from = line; *from; from++) {
        if (*from != '\\') {
            *to++ = *from;
            continue;
        }
        from++;
        if (*from == 'f' && from[1]) {
            from++;
        } else if (*from == '(' && from[1] && from[2]) {
            for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
                if (strncmp(from + 1, names[i], 2) == 0)
                    *to++ = names[i][2];
            from += 2;
        } else if (*from == 'e') {
            *to++ = '\\';
        } else if (*from != '&') {
            *to++ = *from;
        }
        if (!*from)
            break;
    }
    *to = '\0';
}

/* Prints what a line of the page says. `term` is 2 behind .TP, when the next line is the term, then 1. */
static void print_line(char *line, int *term, bool *is_code)
{
    if (strncmp(line, ".SH ", 4) == 0) {
        char *heading = line + 4 + (line[4] == '"');

        plain(heading);
        printf("\n%.*s\n", (int)strcspn(heading, "\""), heading);
    } else if (strcmp(line, ".TP") == 0) {
        *term = 2;
        putchar('\n');
    } else if (strcmp(line, ".PP") == 0) {
        putchar('\n');
    } else if (strcmp(line, ".nf") == 0 || strcmp(line, ".fi") == 0) {
        *is_code = line[1] == 'n';
    } else if (*line != '.') {
        int indent = *term == 1 ? INDENT : MARGIN;

        plain(line);
        if (*is_code)
            printf("%*s%s\n", *line ? 2 * MARGIN : 0, "", line);
        else
            printf("%*s", indent, ""), mur_wrap_print(line, indent, indent, WIDTH);
        if (*term == 2)
            *term = 1;
        else if (*term == 1)
            *term = 0;
    }
}

static int print_page(const char *folder, const char *path)
{
    FILE *page = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    int term = 0;
    bool is_code = false;

    if (!page) {
        mur_say("-man: cannot read %s: %s (there is no man program, either)", path, strerror(errno));
        return MUR_EXIT_TROUBLE;
    }
    while ((length = getline(&line, &size, page)) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, ".so ", 4) == 0) {
            fclose(page);
            return print_page(folder, mur_alloc_text("%s/%s", folder, line + 4));
        }
        print_line(line, &term, &is_code);
    }
    free(line);
    fclose(page);
    return fflush(stdout) ? MUR_EXIT_TROUBLE : 0;
}

int mur_manual_show(const char *name)
{
    const char *folder = manual_folder();

    for (const char *section = "1378"; *section; section++) {
        char number[2] = {*section, '\0'};
        char *found = find_page(folder, *section, name);

        if (!found)
            continue;
        execlp("man", "man", "-M", folder, number, found, (char *)NULL);
        return print_page(folder, mur_alloc_text("%s/man%c/%s.%c", folder, *section, found, *section));
    }
    mur_say("-man: there is no page '%s' below %s; try mpiexec, murmur or MPI_Send", name, folder);
    return MUR_EXIT_USAGE;
}
