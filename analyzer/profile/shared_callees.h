/*
 * Which of the recursive calls that share their callees (call_sites.h) has the callees. While a session is read, it is
 * the call that was found first. So it depends on how the chunks were divided among the workers, and profiles of parts
 * can have different ones.
 */
#ifndef DWELL_PROFILE_SHARED_CALLEES_H
#define DWELL_PROFILE_SHARED_CALLEES_H

#include "profile/profile.h"

/* Gives the shared callees to the call whose site comes first by module and address. Nodes get new numbers: calls of
 * one function and parent follow each other in the order of their sites. */
void shared_callees_settle(struct profile *p);

#endif
