/* Functions whose probe calls lie across cache lines: in the program, or in a library. */
enum { ACROSS_COUNT = 100, ACROSS_CALL = 13 /* offset of the call of the enter probe */ };

typedef void across_function(void);

extern across_function *across_functions[ACROSS_COUNT];
