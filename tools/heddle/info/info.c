/* info.c: `heddle info`: what this library is and what it can run on. */
#include <stdio.h>

#include "engine/engine.h"
#include "read.h"
#include "tool.h"

static void print_tables(heddle_device *device)
{
    uint32_t count = 0, column = 0;
    const hd_table_ops *const *tables = device->engine->tables(device, &count);
    (void)printf("  tables    %u compiled\n", count);
    for (uint32_t i = 0; i < count; i++) {
        column = i % 4;
        (void)printf("%s%-20s%s", column == 0 ? "            " : " ", tables[i]->name,
                     column == 3 || i + 1 == count ? "\n" : "");
    }
}

static int print_device(const char *name)
{
    heddle_device_info info = HEDDLE_DEVICE_INFO_INIT;
    heddle_device *device = NULL;
    int status = tool_try(heddle_device_open(name, &device), name);
    if (status != TOOL_OK) return status;
    status = tool_try(heddle_device_get_info(device, &info), name);
    if (status == TOOL_OK) {
        (void)printf("\n%s\n", name);
        (void)printf("  name      %s\n", info.name);
        (void)printf("  %s   %u\n", info.kind == HEDDLE_DEVICE_CUDA ? "SMs    " : "threads",
                     info.threads);
        (void)printf("  features  %s\n", info.features);
        (void)printf("  memory    %s, %s free\n", tool_size_text((double)info.memory_total),
                     tool_size_text((double)info.memory_free));
        print_tables(device);
    }
    heddle_device_close(device);
    return status;
}

static int info_command(const tool_command *command, int argc, char **argv)
{
    const uint32_t gpus = heddle_cuda_device_count();
    int status = command_read(command, argc, argv, NULL);
    if (status != TOOL_OK) return status;
    (void)printf("heddle      %s, ABI %u\n", heddle_version_string(), heddle_abi_version());
    (void)printf("CUDA engine %s\n", !heddle_cuda_is_built() ? "not built"
                                     : gpus == 0             ? "built, no GPU found"
                                                             : "built");
    status = print_device("cpu");
    for (uint32_t i = 0; i < gpus; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "cuda:%u", i);
        const int one = print_device(name);
        if (status == TOOL_OK) status = one;
    }
    return status;
}

const tool_command info_page = {
    .name = "info", .summary = "devices, memory, features, compiled tables", .run = info_command};
