/* Empty probes for programs that cannot be recorded, such as those of musl, whose libc has none. An instrumented object
 * links with them and runs. It needs no libc. */
__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *function, void *call_site);
__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *function, void *call_site);

void __cyg_profile_func_enter(void *function, void *call_site)
{
    (void)function;
    (void)call_site;
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
    (void)function;
    (void)call_site;
}
