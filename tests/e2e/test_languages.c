/* Programs in Fortran and Ada: their compilers add the probes, and functions have the names of the source. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/run.h"
#include "support/scenario.h"

static void languages_write(const char *name, const char *text)
{
    FILE *file = fopen(test_path(name), "w");
    cr_assert(ne(ptr, file, NULL));
    fputs(text, file);
    fclose(file);
}

static void languages_need(const char *compiler)
{
    char *found = run_well("command -v %s || true", compiler);
    const bool none = !*found;
    free(found);
    if (none)
        cr_skip_test("%s is not installed", compiler);
}

static void languages_write_fortran(void)
{
    languages_write("shapes.f90", "module shapes\n"
                                  "contains\n"
                                  "  integer function area(side)\n"
                                  "    integer, intent(in) :: side\n"
                                  "    area = side * side\n"
                                  "  end function area\n"
                                  "end module shapes\n"
                                  "program sums\n"
                                  "  use shapes\n"
                                  "  integer :: i, total\n"
                                  "  total = 0\n"
                                  "  do i = 1, 10\n"
                                  "    total = total + area(i)\n"
                                  "  end do\n"
                                  "  print '(i0)', total\n"
                                  "end program sums\n");
}

/* Without flags of the user: `dwell cc` adds them. A name as displayed is one that commands accept. */
Test(e2e_languages, fortran)
{
    languages_need("gfortran");
    languages_write_fortran();
    char *text = run_well("$DWELL cc --show gfortran -O0 -c shapes.f90 | grep -c -- ' -finstrument-functions '; "
                          "$DWELL cc gfortran -O0 shapes.f90 -o shapes; $DWELL record -q ./shapes; "
                          "$DWELL report --by function --filter module=shapes --columns calls --format csv | "
                          "tail -n +2 | tr -d '\\r' | cut -d, -f1,5 | LC_ALL=C sort; "
                          "$DWELL callers shapes::area --format json | jq -c '[.rows[0] | .function, .calls]'");
    cr_expect(eq(str, text, "1\n385\nMAIN__,1\nmain,1\nshapes::area,10\n[\"MAIN__\",10]\n"));
    free(text);
}

/* GNAT's drivers compile several languages, so their lines stay as they are, as the help of `dwell cc` says. */
Test(e2e_languages, ada)
{
    languages_need("gnatmake");
    languages_write("sums.ads", "package Sums is\n"
                                "   function Square (N : Integer) return Integer;\n"
                                "end Sums;\n");
    languages_write("sums.adb", "package body Sums is\n"
                                "   function Square (N : Integer) return Integer is\n"
                                "   begin\n"
                                "      return N * N;\n"
                                "   end Square;\n"
                                "end Sums;\n");
    languages_write("go.adb", "with Sums;\n"
                              "procedure Go is\n"
                              "   Total : Integer := 0;\n"
                              "begin\n"
                              "   for I in 1 .. 7 loop\n"
                              "      Total := Total + Sums.Square (I);\n"
                              "   end loop;\n"
                              "   if Total /= 140 then\n"
                              "      raise Program_Error;\n"
                              "   end if;\n"
                              "end Go;\n");
    char *text = run_well("$DWELL cc --show gnatmake go.adb; gnatmake -q -g go.adb -cargs -finstrument-functions >&2; "
                          "$DWELL record -q ./go; "
                          "$DWELL report --by function --columns calls --format csv | "
                          "tr -d '\\r' | grep -E '^(go|sums[.]square),' | cut -d, -f1,5 | LC_ALL=C sort; "
                          "$DWELL callers sums.square --format json | jq -c '[.rows[0] | .function, .calls]'");
    cr_expect(eq(str, text, "gnatmake go.adb\ngo,1\nsums.square,7\n[\"go\",7]\n"));
    free(text);
}
