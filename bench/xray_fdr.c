/* Linked into the XRay build: switches XRay's flight data recorder on before main() and writes its log at the end. In
 * LLVM 14 the environment variable xray_mode=xray-fdr only selects the mode: the hooks run, but nothing is recorded. */
#include <stdio.h>
#include <stdlib.h>

/* XRay's own headers require C++. */
enum { XRAY_LOG_INITIALIZED = 2 };
int __xray_log_select_mode(const char *mode);
int __xray_log_init_mode(const char *mode, const char *options);
int __xray_log_finalize(void);
int __xray_log_flushLog(void);
int __xray_patch(void);

/* Keeps every call, as the other profilers do. By default XRay drops calls shorter than 5 microseconds, and stops after
 * 1.6 MB. There is one thread, so the end need not wait. */
static const char options[] = "func_duration_threshold_us=0:buffer_size=1048576:buffer_max=400:"
                              "grace_period_ms=0";

__attribute__((constructor, xray_never_instrument)) static void start(void)
{
    __xray_log_select_mode("xray-fdr");
    if (__xray_log_init_mode("xray-fdr", options) != XRAY_LOG_INITIALIZED) {
        fprintf(stderr, "XRay's flight data recorder does not start\n");
        exit(1);
    }
    __xray_patch();
}

__attribute__((destructor, xray_never_instrument)) static void stop(void)
{
    __xray_log_finalize();
    __xray_log_flushLog();
}
