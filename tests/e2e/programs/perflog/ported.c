/* A program written for Windows CE: it never calls Perf_LibInit, and uses nothing of another system. */
#include <stdio.h>

#include "dwell/perflog.h"

#define PERF_APP_NAME TEXT("ported")
#define MARK_COPY 7

static DWORD ends;

static HRESULT on_event(LPPERFINFO info, LPVOID user)
{
    if (info->dwEvent == PLE_MARKEND && info->markerId == MARK_COPY && info->ulMilliseconds >= 0)
        ++*(DWORD *)user;
    return S_OK;
}

static BOOL measure(LPCTSTR source)
{
    TCHAR text[MAX_MARKERNAME_LEN] = _T("Test=Copy");
    DWORD i;
    if (!Perf_RegisterMark(MARK_COPY, TEXT("%s,From=%s,time=%%AVG%%"), text, source))
        return FALSE;
    for (i = 0; i < 3; i++) {
        Perf_MarkBegin(MARK_COPY);
        if (!Perf_MarkEnd(MARK_COPY))
            return FALSE;
    }
    return Perf_MarkAttribute(MARK_COPY, TEXT("Passes"), i);
}

int main(VOID)
{
    if (!Perf_SetTestTitle(PERF_APP_NAME) || FAILED(Perf_RegisterCallBack(on_event, &ends)))
        return 1;
    Perf_StartSysMonitor(PERF_APP_NAME, SYS_MON_CPU | SYS_MON_MEM, 100, 20);
    if (!measure(_T("here")) || !Perf_MarkMem(MARK_COPY))
        return 1;
    Perf_StopSysMonitor();
    printf("ends %u\n", (unsigned)ends);
    return ends == 3 ? 0 : 1;
}
