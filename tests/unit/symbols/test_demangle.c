/* Linkage names as people read them, and hostile names, which stay as they are. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/symbols.h"

static void demangle_expect(const char *name, const char *wanted)
{
    char *found = symbol_demangle(name);
    cr_assert(eq(str, found, (char *)wanted));
    free(found);
}

Test(unit_demangle, names_of_languages)
{
    demangle_expect("", "");
    demangle_expect("main", "main");
    demangle_expect("_start", "_start");
    demangle_expect("_Z1fii", "f(int, int)");
    demangle_expect("_ZN3fooIiE1xEv", "foo<int>::x()");
    demangle_expect("_ZN1acvT_IiEEv", "a::operator int<int>()");
    demangle_expect("_RNvC6_123foo3bar", "123foo::bar");
    demangle_expect("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt");
    demangle_expect("_Zwrong", "_Zwrong");
    demangle_expect("__shapes_MOD_area", "shapes::area");
    demangle_expect("__a_b_MOD_c_d.constprop.0", "a_b::c_d.constprop.0");
    demangle_expect("__shapes_MOD_", "__shapes_MOD_");
    demangle_expect("___MOD_area", "___MOD_area");
    demangle_expect("__Shapes_MOD_area", "__Shapes_MOD_area");
    demangle_expect("_shapes_MOD_area", "_shapes_MOD_area");
    demangle_expect("_D3app4mainFZv", "app.main()");
    demangle_expect("_Dmain", "D main");
    demangle_expect("_Dwrong", "_Dwrong");
}

/* Without a file of Ada, these are names of C. */
Test(unit_demangle, names_of_ada)
{
    static const char *const names[][3] = {
        { "p__inner", "p.adb", "p.inner" },
        { "p__Oadd", "src/p.ads", "p.\"+\"" },
        { "_ada_main", "main.adb", "main" },
        { "p__inner", "p.c", "p__inner" },
        { "p__inner", NULL, "p__inner" },
        { "_Z1fii", "p.adb", "f(int, int)" },
        { "Strange__Name", "p.adb", "Strange__Name" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *found = symbol_demangle_of_file(names[i][0], names[i][1]);
        cr_assert(eq(str, found, (char *)names[i][2]));
        free(found);
    }
}

/* Each reference to the type before doubles the text. */
Test(unit_demangle, hostile_names_of_d)
{
    char name[4096] = "_D1aFS1b";
    for (size_t at = strlen(name); at + 3 < sizeof name - 1; at += 2)
        strcpy(name + at, "Qc");
    demangle_expect(name, name);
}

/* The longest expansion of a name of LLVM is 29 bytes a byte. */
Test(unit_demangle, a_long_name_of_a_real_program)
{
    char *found = symbol_demangle(
        "_ZNSt6vectorISt4pairImN4llvm9MapVectorImNS2_IPNS1_5ValueEjNS1_8DenseMapIS4_jNS1_12DenseMapInfoIS4_vEENS1_"
        "6detail12DenseMapPairIS4_jEEEES_IS0_IS4_jESaISC_EEEENS5_ImjNS6_ImvEENS9_ImjEEEES_IS0_ImSF_ESaISJ_"
        "EEEEESaISN_EE17_M_realloc_insertIJSN_EEEvN9__gnu_cxx17__normal_iteratorIPSN_SP_EEDpOT_");
    cr_assert(eq(sz, strncmp(found, "void std::vector<std::pair<unsigned long, llvm::MapVector<", 58), 0));
    cr_assert(gt(sz, strlen(found), 7000));
    free(found);
}

/* Each template has twice the one before as its arguments: f(a<int, int>, a<a<int, int>, a<int, int> >, ...). */
static char *doubling_name(size_t length)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char *name = NULL, last[8] = "0";
    size_t size;
    FILE *out = open_memstream(&name, &size);
    fputs("_Z1f1aIiiE", out);
    for (unsigned i = 1; fflush(out) == 0 && size < length; i++) {
        fprintf(out, "S_IS%s_S%s_E", last, last);
        char *at = last + sizeof last - 1;
        *at = '\0';
        for (unsigned rest = i; rest; rest /= 36)
            *--at = digits[rest % 36];
        memmove(last, at, strlen(at) + 1);
    }
    fclose(out);
    return name;
}

/* Templates of templates: libiberty's own limit is a name of 1,024 bytes. */
Test(unit_demangle, names_of_three_thousand_bytes)
{
    enum { DEPTH = 80 };
    static const char id[] = "A_template_of_a_usual_library_name";
    char name[4096] = "_ZN1hI", wanted[8192] = "h<";
    size_t n = strlen(name), w = strlen(wanted);
    for (int i = 0; i < DEPTH; i++) {
        n += (size_t)sprintf(name + n, "%zu%s%02dI", sizeof id + 1, id, i);
        w += (size_t)sprintf(wanted + w, "%s%02d<", id, i);
    }
    n += (size_t)sprintf(name + n, "i");
    w += (size_t)sprintf(wanted + w, "int>");
    for (int i = 0; i < DEPTH; i++) {
        n += (size_t)sprintf(name + n, "E");
        w += (size_t)sprintf(wanted + w, " >");
    }
    sprintf(name + n, "E3runEv");
    sprintf(wanted + w, "::run()");
    cr_assert(n > 3000 && n < 4000);
    demangle_expect(name, wanted);
}

/* pair<pair<...>, pair<...> >, 13 deep: each refers to the one before. */
Test(unit_demangle, a_short_name_of_135_kilobytes)
{
    char *found = symbol_demangle(
        "_Z4workISt4pairIS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IS0_IiiES1_ES2_ES3_ES4_ES5_ES6_ES7_ES8_ES9_ESA_ESB_ESC_EEiv");
    cr_assert(eq(sz, strlen(found), 135167));
    cr_assert(eq(int, strncmp(found, "int work<std::pair<std::pair<", 29), 0));
    free(found);
}

/* Longer than what libiberty's recursion is safe for on a usual stack. */
Test(unit_demangle, a_name_of_sixty_thousand_bytes)
{
    enum { PARTS = 300 };
    char *name = malloc(256 * PARTS), *wanted = malloc(256 * PARTS);
    size_t n = (size_t)sprintf(name, "_Z1fIJ"), w = (size_t)sprintf(wanted, "void f<");
    for (int i = 0; i < PARTS; i++) {
        n += (size_t)sprintf(name + n, "203a%0202d", i);
        w += (size_t)sprintf(wanted + w, "%sa%0202d", i ? ", " : "", i);
    }
    sprintf(name + n, "EEvv");
    sprintf(wanted + w, ">()");
    cr_assert(n > 60000 && n < 65536);
    demangle_expect(name, wanted);
    free(name);
    free(wanted);
}

/* What all names together may have beyond the usual is limited. */
Test(unit_demangle, many_short_names_of_endless_text, .timeout = 300)
{
    char *name = doubling_name(250);
    for (int i = 0; i < 1000; i++)
        demangle_expect(name, name);
    free(name);
}

/* Without limits, 250 bytes take minutes and gigabytes, and 1000 bytes would take for ever. */
Test(unit_demangle, a_name_of_endless_text, .timeout = 300)
{
    for (size_t length = 250; length <= 16000; length *= 4) {
        char *name = doubling_name(length);
        demangle_expect(name, name);
        free(name);
    }
}

Test(unit_demangle, a_name_of_endless_steps, .timeout = 300)
{
    char name[512] = "_Zcv";
    for (int i = 0; i < 100; i++)
        strcat(name, "T_I");
    demangle_expect(name, name);
    for (int i = 0; i < 100; i++)
        strcat(name, "E");
    demangle_expect(name, name);
}

/* A short name of the first kind is no different from any other. */
Test(unit_demangle, a_name_that_refers_to_its_parts)
{
    demangle_expect("_Z1f1aIiiES_IS0_S0_E", "f(a<int, int>, a<a<int, int>, a<int, int> >)");
}
