/* while_waiting.c: see base/while_waiting.h. */
#include "base/while_waiting.h"

#include <stddef.h>

static _Thread_local struct {
    void (*work)(void *context);
    void *context;
} mine;

void hd_while_waiting_set(void (*work)(void *context), void *context)
{
    mine.work = work;
    mine.context = context;
}

bool hd_while_waiting_any(void) { return mine.work != NULL; }

void hd_while_waiting_work(void)
{
    if (mine.work != NULL) mine.work(mine.context);
}
