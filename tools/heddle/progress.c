/* progress.c: one line of stderr, drawn over itself. */
#include "progress.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define BAR 30

static struct {
    uint32_t steps, step; /* step counts from 1; 0 before the first */
    bool terminal, drawn;
    double from, span; /* of the step, as shares of the bar */
    double part;       /* of the step that is done */
    char text[80];
} bar;

static double shown(void)
{
    const double done = bar.from + bar.part * bar.span;
    return done > 1 ? 1 : done;
}

static void draw(void)
{
    if (!bar.terminal || bar.steps == 0 || bar.step == 0) return;
    const double done = shown();
    char cells[BAR + 1];
    for (int i = 0; i < BAR; i++) cells[i] = (double)i < done * BAR ? '#' : '.';
    cells[BAR] = '\0';
    (void)fprintf(stderr, "\r\033[K[%s] %3.0f %%  %s", cells, done * 100, bar.text);
    (void)fflush(stderr);
    bar.drawn = true;
}

void progress_start(uint32_t steps)
{
    bar.steps = steps;
    bar.step = 0;
    bar.from = bar.span = bar.part = 0;
    bar.terminal = isatty(STDERR_FILENO) == 1;
}

void progress_step(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(bar.text, sizeof bar.text, format, arguments);
    va_end(arguments);
    bar.span = 1.0 / (double)bar.steps;
    bar.from = (double)bar.step++ * bar.span;
    bar.part = 0;
    draw();
}

void progress_go(uint32_t step, const char *text)
{
    const double done = shown();
    (void)snprintf(bar.text, sizeof bar.text, "%s", text);
    bar.from = done;
    bar.span = step < bar.steps ? (1 - done) / (double)(bar.steps - step) : 0;
    bar.step = step + 1;
    bar.part = 0;
    draw();
}

void progress_done(void)
{
    bar.from = 1;
    bar.part = 0;
    draw();
}

void progress_label(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(bar.text, sizeof bar.text, format, arguments);
    va_end(arguments);
    draw();
}

void progress_part(double part)
{
    bar.part = part;
    draw();
}

void progress_hide(void)
{
    if (!bar.drawn) return;
    (void)fputs("\r\033[K", stderr);
    (void)fflush(stderr);
    bar.drawn = false;
}
