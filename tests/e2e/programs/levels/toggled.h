/* What rewriting.c and the library that it loads share. */
#ifndef TOGGLED_H
#define TOGGLED_H

#define TOGGLED_FUNCTIONS(F) F(leaf) F(tail) F(inlined) F(outer) F(deep) F(chosen)

enum toggled {
#define TOGGLED_NUMBER(name) TOGGLED_##name,
    TOGGLED_FUNCTIONS(TOGGLED_NUMBER)
#undef TOGGLED_NUMBER
        TOGGLED_COUNT
};

/* The library's functions, and one that calls them all. It adds each call to `calls`, by its own count. */
struct toggled_library {
    void *functions[TOGGLED_COUNT];
    long (*run)(unsigned long calls[TOGGLED_COUNT], long n);
};

#endif
