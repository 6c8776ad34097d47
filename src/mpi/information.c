/* SPDX-License-Identifier: BSD-3-Clause */
/* Printing what this library is, how it is set and what it counts: murmur-info, and MUR_INFO=1 in a job. Settings come
 * from the table in base/settings.c, counters from tool/meter.h. */
#include "mpi/information.h"

#include <inttypes.h>

#include "base/settings.h"
#include "boot/process.h"
#include "mpi/bodies.h"
#include "mpi/found.h"
#include "tool/meter.h"

#ifdef NDEBUG
#define CHECKS "without assertions"
#else
#define CHECKS "with assertions"
#endif
static const char build[] = "C compiler " __VERSION__ ", " CHECKS;

static const char *version(void)
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;

    mur_mpi_get_library_version(text, &length);
    return text;
}

/* ---- for people ---- */

static void print_settings(FILE *out)
{
    fprintf(out, "\n%-22s %10s %10s  %-12s  %s\n", "setting", "value", "default", "unit", "meaning");
    for (size_t i = 0; i < mur_setting_count; i++) {
        const struct mur_setting *setting = &mur_setting_table[i];

        fprintf(out, "%-22s %10ld %10ld  %-12s  %s\n", setting->name, *mur_setting_value(setting),
                setting->default_value, setting->unit, setting->meaning);
    }
    for (size_t i = 0; i < mur_text_setting_count; i++) {
        const struct mur_text_setting *setting = &mur_text_setting_table[i];

        fprintf(out, "%-22s %10s %10s  %-12s  %s\n", setting->name, mur_text_setting_value(setting), "", "text",
                setting->meaning);
    }
}

void mur_information_print(FILE *out)
{
    struct mur_found found[MUR_FOUND_MAX];
    int count = mur_found_list(found);

    fprintf(out, "%s\n%-26s %s\n%-26s shm, tcp\n", version(), "build", build, "transports");
    for (int i = 0; i < count; i++)
        fprintf(out, "%-26s %s\n", found[i].name, found[i].value);
    if (mur_process.phase == MUR_PHASE_RUNNING)
        fprintf(out, "%-26s %s, %d ranks, host %s\n", "job", mur_process.job_id, mur_process.size, mur_process.host);
    print_settings(out);
}

void mur_information_print_counters(FILE *out)
{
    mur_tool_lock();
    mur_meters_setup();
    mur_tool_unlock();
    fprintf(out, "\n%-34s %-8s %-8s %s\n", "counter", "part", "unit", "meaning");
    for (int i = 0; i < mur_meter_count; i++)
        fprintf(out, "%-34s %-8s %-8s %s\n", mur_meters[i].name, mur_meters[i].part, mur_meters[i].unit,
                mur_meters[i].description);
}

/* ---- for programs ---- */

static void quote(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        if ((unsigned char)*text < ' ')
            fprintf(out, "\\u%04x", (unsigned)*text);
        else
            fputc(*text, out);
    }
    fputc('"', out);
}

/* "name": "text", with what comes before it. */
static void member(FILE *out, const char *before, const char *name, const char *text)
{
    fputs(before, out);
    quote(out, name);
    fputs(": ", out);
    quote(out, text);
}

static void print_settings_json(FILE *out)
{
    const char *before = "\n    {";

    for (size_t i = 0; i < mur_setting_count; i++) {
        const struct mur_setting *setting = &mur_setting_table[i];

        member(out, before, "name", setting->name);
        fprintf(out, ", \"value\": %ld, \"default\": %ld, \"minimum\": %ld, \"maximum\": %ld",
                *mur_setting_value(setting), setting->default_value, setting->minimum, setting->maximum);
        fprintf(out, ", \"changes\": %s", setting->change == MUR_ANY_TIME ? "\"any time\"" : "\"before start\"");
        member(out, ", ", "part", setting->part);
        member(out, ", ", "unit", setting->unit);
        member(out, ", ", "meaning", setting->meaning);
        before = "},\n    {";
    }
    for (size_t i = 0; i < mur_text_setting_count; i++) {
        const struct mur_text_setting *setting = &mur_text_setting_table[i];

        member(out, before, "name", setting->name);
        member(out, ", ", "value", mur_text_setting_value(setting));
        fputs(", \"default\": \"\", \"changes\": \"never\"", out);
        member(out, ", ", "part", setting->part);
        member(out, ", ", "unit", "text");
        member(out, ", ", "meaning", setting->meaning);
    }
    fputs("}\n  ]", out);
}

static void print_counters_json(FILE *out)
{
    mur_tool_lock();
    mur_meters_setup();
    mur_tool_unlock();
    for (int i = 0; i < mur_meter_count; i++) {
        const struct mur_meter *meter = &mur_meters[i];

        member(out, i ? "},\n    {" : "\n    {", "name", meter->name);
        if (meter->bind == MPI_T_BIND_NO_OBJECT)
            fprintf(out, ", \"value\": %" PRIu64, meter->read(meter, NULL, 0));
        member(out, ", ", "part", meter->part);
        member(out, ", ", "unit", meter->unit);
        member(out, ", ", "meaning", meter->description);
    }
    fputs(mur_meter_count ? "}\n  ]" : "]", out);
}

void mur_information_print_json(FILE *out)
{
    struct mur_found found[MUR_FOUND_MAX];
    int count = mur_found_list(found);

    member(out, "{\n  ", "version", version());
    member(out, ",\n  ", "build", build);
    fputs(",\n  \"transports\": [\"shm\", \"tcp\"],\n  \"found\": {", out);
    for (int i = 0; i < count; i++)
        member(out, i ? ",\n    " : "\n    ", found[i].name, found[i].value);
    fputs("\n  },\n  \"settings\": [", out);
    print_settings_json(out);
    fputs(",\n  \"counters\": [", out);
    print_counters_json(out);
    fputs("\n}\n", out);
}
