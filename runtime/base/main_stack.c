#include "main_stack.h"

#include "common.h"

#pragma weak __libc_stack_end
extern void *__libc_stack_end; /* the loader's */

uint64_t main_stack_end(uint64_t stack_pointer)
{
    const uint64_t end = &__libc_stack_end ? (uint64_t)__libc_stack_end : 0;
    return end - stack_pointer < LARGEST_STACK ? end : 0;
}

uint64_t stack_certain_end(uint64_t stack_pointer)
{
    const uint64_t main_end = main_stack_end(stack_pointer);
    return main_end ? main_end : page_begin(stack_pointer) + PAGE;
}
