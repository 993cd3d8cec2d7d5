/*
 * An interpreter of seccomp filters: classic BPF with the instructions that the kernel lets seccomp use, each with the
 * kernel's result.
 */
#include "bpf.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct bpf_machine {
    uint32_t a, x;
    uint32_t memory[BPF_MEMWORDS];
};

/* The instructions that the kernel accepts (seccomp_check_filter in kernel/seccomp.c). */
static bool bpf_is_known(uint16_t code)
{
    switch (code) {
    case BPF_LD | BPF_W | BPF_ABS:
    case BPF_LD | BPF_W | BPF_LEN:
    case BPF_LD | BPF_IMM:
    case BPF_LD | BPF_MEM:
    case BPF_LDX | BPF_W | BPF_LEN:
    case BPF_LDX | BPF_IMM:
    case BPF_LDX | BPF_MEM:
    case BPF_ST:
    case BPF_STX:
    case BPF_MISC | BPF_TAX:
    case BPF_MISC | BPF_TXA:
    case BPF_RET | BPF_K:
    case BPF_RET | BPF_A:
    case BPF_JMP | BPF_JA:
    case BPF_ALU | BPF_NEG:
        return true;
    }
    if (BPF_CLASS(code) == BPF_ALU && !(code & ~(0xf0 | BPF_X | BPF_ALU)))
        return BPF_OP(code) <= BPF_RSH || BPF_OP(code) == BPF_XOR;
    if (BPF_CLASS(code) == BPF_JMP && !(code & ~(0xf0 | BPF_X | BPF_JMP)))
        return BPF_OP(code) >= BPF_JEQ && BPF_OP(code) <= BPF_JSET;
    return false;
}

/* Loads of a word that is not one of seccomp_data, and words of memory that do not exist. */
static bool bpf_is_out_of_range(const struct sock_filter *i)
{
    switch (i->code) {
    case BPF_LD | BPF_W | BPF_ABS:
        return i->k % sizeof(uint32_t) != 0 || i->k >= sizeof(struct seccomp_data);
    case BPF_LD | BPF_MEM:
    case BPF_LDX | BPF_MEM:
    case BPF_ST:
    case BPF_STX:
        return i->k >= BPF_MEMWORDS;
    default:
        return false;
    }
}

static uint32_t bpf_load(const struct bpf_machine *m, const struct sock_filter *i, const struct seccomp_data *data)
{
    uint32_t value = 0;
    switch (BPF_MODE(i->code)) {
    case BPF_ABS:
        memcpy(&value, (const char *)data + i->k, sizeof value);
        return value;
    case BPF_MEM:
        return m->memory[i->k];
    case BPF_LEN:
        return sizeof *data;
    default:
        return i->k; /* BPF_IMM */
    }
}

/* A shift takes the low five bits of its distance, as the kernel's does. The caller has excluded a division by zero. */
static uint32_t bpf_operate(uint16_t code, uint32_t a, uint32_t b)
{
    switch (BPF_OP(code)) {
    case BPF_ADD:
        return a + b;
    case BPF_SUB:
        return a - b;
    case BPF_MUL:
        return a * b;
    case BPF_DIV:
        return a / b;
    case BPF_AND:
        return a & b;
    case BPF_OR:
        return a | b;
    case BPF_XOR:
        return a ^ b;
    case BPF_LSH:
        return a << (b & 31);
    case BPF_RSH:
        return a >> (b & 31);
    default:
        return -a; /* BPF_NEG */
    }
}

static bool bpf_compare(uint16_t code, uint32_t a, uint32_t b)
{
    switch (BPF_OP(code)) {
    case BPF_JEQ:
        return a == b;
    case BPF_JGT:
        return a > b;
    case BPF_JGE:
        return a >= b;
    default:
        return (a & b) != 0; /* BPF_JSET */
    }
}

/* How many instructions a jump skips. */
static uint32_t bpf_distance(const struct sock_filter *i, uint32_t a, uint32_t operand)
{
    if (BPF_OP(i->code) == BPF_JA)
        return i->k;
    return bpf_compare(i->code, a, operand) ? i->jt : i->jf;
}

/* Every instruction but jumps and returns. */
static void bpf_step(struct bpf_machine *m, const struct sock_filter *i, const struct seccomp_data *data,
                     uint32_t operand)
{
    switch (BPF_CLASS(i->code)) {
    case BPF_LD:
        m->a = bpf_load(m, i, data);
        break;
    case BPF_LDX:
        m->x = bpf_load(m, i, data);
        break;
    case BPF_ST:
        m->memory[i->k] = m->a;
        break;
    case BPF_STX:
        m->memory[i->k] = m->x;
        break;
    case BPF_ALU:
        m->a = bpf_operate(i->code, m->a, operand);
        break;
    default: /* BPF_MISC */
        if (BPF_MISCOP(i->code) == BPF_TAX)
            m->x = m->a;
        else
            m->a = m->x;
        break;
    }
}

uint32_t bpf_run(const struct sock_filter *code, uint32_t length, const struct seccomp_data *data)
{
    struct bpf_machine m = { 0 };
    if (length > BPF_MAXINSNS)
        return SECCOMP_RET_KILL_PROCESS;
    for (uint32_t at = 0; at < length; at++) {
        const struct sock_filter *i = &code[at];
        const uint32_t operand = BPF_SRC(i->code) == BPF_X ? m.x : i->k;
        if (!bpf_is_known(i->code) || bpf_is_out_of_range(i))
            break;
        if (BPF_CLASS(i->code) == BPF_RET)
            return BPF_RVAL(i->code) == BPF_A ? m.a : i->k;
        if (BPF_CLASS(i->code) == BPF_ALU && BPF_OP(i->code) == BPF_DIV && operand == 0)
            return 0; /* the kernel ends the program so: SECCOMP_RET_KILL_THREAD */
        if (BPF_CLASS(i->code) != BPF_JMP) {
            bpf_step(&m, i, data, operand);
            continue;
        }
        const uint32_t distance = bpf_distance(i, m.a, operand);
        if (distance >= length - at)
            break;
        at += distance;
    }
    return SECCOMP_RET_KILL_PROCESS;
}
