/* Hashes of modules, functions and call paths. */
#include "fleet/ids.h"

#include <string.h>

#include "analysis/copies.h"

/* The last step of splitmix64: each bit of the number changes about half of the result's. */
static uint64_t ids_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t ids_usable(uint64_t id)
{
    return id == FLEET_NO_ID ? 1 : id;
}

/* FNV-1a of 64 bits, mixed. */
uint64_t fleet_id_of_bytes(const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return ids_usable(ids_mix(hash));
}

uint64_t fleet_id_of_two(uint64_t first, uint64_t second)
{
    return ids_usable(ids_mix(ids_mix(first + UINT64_C(0x9e3779b97f4a7c15)) ^ second));
}

uint64_t fleet_module_id(const struct profile_module *module)
{
    if (module->build_id_length)
        return fleet_id_of_bytes(module->build_id, module->build_id_length);
    return fleet_id_of_two(1, fleet_id_of_bytes(module->path, strlen(module->path)));
}

uint64_t fleet_function_id(uint64_t module, uint64_t address, const struct function_name *name)
{
    if (!copies_is_known(name))
        return fleet_id_of_two(module, address);
    const uint64_t place = fleet_id_of_two(fleet_id_of_bytes(name->file, strlen(name->file)), name->line);
    const uint64_t text = fleet_id_of_bytes(name->name, strlen(name->name));
    return fleet_id_of_two(module, fleet_id_of_two(fleet_id_of_two(text, place), copies_is_deleting(name)));
}

uint64_t fleet_path_id(uint64_t parent, uint64_t module, uint64_t address, bool sampled)
{
    return fleet_id_of_two(parent, fleet_id_of_two(module, fleet_id_of_two(address, sampled)));
}
