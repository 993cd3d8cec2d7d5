/* denied PROGRAM [ARG...]: runs the program where memory cannot become code (PR_SET_MDWE). 77: the kernel cannot do
 * that. */
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    enum { SET_MDWE = 65, REFUSE_EXEC_GAIN = 1 };
    if (argc < 2 || prctl(SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0) != 0)
        return 77;
    execvp(argv[1], argv + 1);
    return 1;
}
