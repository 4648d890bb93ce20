/* tool_words.c: what tool.h promises of main.c, for the program under mpirun. */
#include <stdarg.h>
#include <stdio.h>

#include "tool.h"

void tool_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fputs("heddle-mpi: ", stderr);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
}

int tool_refuse(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tool_say("%s", text);
    return TOOL_REFUSED;
}

int tool_try(heddle_status status, const char *what)
{
    if (status == HEDDLE_OK) return TOOL_OK;
    tool_say("%s: %s", what, heddle_last_error());
    return TOOL_FAILED;
}
